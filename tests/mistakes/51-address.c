/* line 7 | x is a pointer already | drop the &: fy_matmul(x, x) */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2, 2));
    fy_tensor *y = fy_matmul(&x, x);
    fy_print(y);
    return 0;
}
