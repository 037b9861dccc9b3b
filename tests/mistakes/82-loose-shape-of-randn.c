/* line 6 | the shape needs parentheses of its own | fy_randn((2, 3)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_randn(64, 64);
    fy_print(x);
    return 0;
}
