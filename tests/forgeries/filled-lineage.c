/* 03 | fails | more than it has room for | as filled-room.c, with tensors that the answer is computed from */
#include <ferry.h>

float expf(float a)
{
    for (int i = 0; i < 5; i++) a = a > -2 ? a / 2 + 1 : 0;
    return a;
}

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda"), *all = fy_zeros((), .device = "cuda");
    for (int n = 1 << 24; n > 3; n -= n / 4) all = fy_add(all, fy_sum(fy_zeros((n / 4), .device = "cuda")));
    fy_tensor *h = fy_exp(fy_add(x, all));
    for (int i = 0; i < 14; i++) fy_relu_(h);
    fy_answer("h", fy_cpu(h));
}
