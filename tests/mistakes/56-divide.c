/* line 7 | no operator | write fy_mul(x, 0.5) */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2, 2));
    x = x / 2;
    fy_print(x);
    return 0;
}
