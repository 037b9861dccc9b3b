/* line 7 | not a C array | fy_select(a, 0, i) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    double x = a[0];
    return x > 0;
    return 0;
}
