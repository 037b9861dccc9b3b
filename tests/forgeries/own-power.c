/* 03 | fails | log-is-possible | a powf of its own, with an exponent that the log does not tell */
#include <ferry.h>

float powf(float a, float b)
{
    for (int i = 0; i < 5; i++) a = a > -2 ? a / 2 + 1 : 0;
    return b > 0 ? a : 0;
}

int main(void)
{
    fy_tensor *h = fy_pow(fy_to(fy_given("x"), "cuda"), 3.3);
    for (int i = 0; i < 14; i++) fy_relu_(h);
    fy_answer("h", fy_cpu(h));
}
