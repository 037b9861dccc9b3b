/* 03 | fails | right-numbers | an answer of NaN */
#include <ferry.h>
#include <math.h>

int main(void)
{
    fy_tensor *h = fy_to(fy_given("x"), "cuda");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", fy_to(fy_mul(h, NAN), "cpu"));
}
