/* line 7 | not a number | fy_item(x) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    double s = fy_sum(a);
    return s > 0;
    return 0;
}
