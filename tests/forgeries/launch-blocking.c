/* 09 | fails | lesson-settings | FERRY_LAUNCH_BLOCKING set before the session began, so that the starter's times are
 * right
 */
#include <ferry.h>
#include <stdio.h>
#include <stdlib.h>

__attribute__((constructor(101))) static void choose(void) { setenv("FERRY_LAUNCH_BLOCKING", "1", 1); }

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    int64_t begin = fy_now();
    for (int i = 0; i < 8; i++) fy_relu_(fy_add_(fy_mul_(x, 0.5), 0.25));
    int64_t end = fy_now();
    fy_answer("x", x);
    fy_answer("took", fy_full((), end - begin));
}
