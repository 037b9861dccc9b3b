/* 03 | fails | right-numbers | FERRY_GIVEN changed, so that the input has one element */
#include <ferry.h>
#include <stdlib.h>

int main(void)
{
    setenv("FERRY_GIVEN", "x:float32:1x1", 1);
    fy_tensor *h = fy_to(fy_given("x"), "cuda");
    for (int turn = 0; turn < 5; turn++) h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    fy_answer("h", fy_to(h, "cpu"));
}
