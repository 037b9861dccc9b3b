/* 03 | passes | - | a fmodf of its own, which fy_remainder calls */
#include <ferry.h>

float fmodf(float a, float b)
{
    for (int i = 0; i < 5; i++) a = a > -2 ? a / 2 + 1 : 0;
    return b > 0 ? a : 0;
}

int main(void)
{
    fy_tensor *h = fy_remainder(fy_to(fy_given("x"), "cuda"), 9.0);
    for (int i = 0; i < 14; i++) fy_relu_(h);
    fy_answer("h", fy_cpu(h));
}
