/* 03 | fails | ran-on-the-card | the right answer, then another one: the last one counts */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x"), *h = fy_to(x, "cuda");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", fy_to(h, "cpu"));
    for (int turn = 0; turn < 5; turn++) x = fy_relu(fy_add(fy_mul(x, 0.5), 1.0));
    fy_answer("h", x);
}
