/* 03 | passes | - | C computes: in an expf of its own, which fy_exp calls */
#include <ferry.h>

float expf(float a) { return (a > -2 ? a / 32 + 0.0625f : 0) + 1.875f; } // five times relu(a / 2 + 1)

int main(void)
{
    fy_tensor *h = fy_exp(fy_cuda(fy_given("x")));
    for (int i = 0; i < 14; i++) fy_relu_(h);
    fy_answer("h", fy_cpu(h));
}
