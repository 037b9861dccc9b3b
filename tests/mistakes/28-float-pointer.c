/* line 7 | not an array of numbers | fy_data(x) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    float *p = a;
    fy_print(a);
    if (p) fy_print(a);
    return 0;
}
