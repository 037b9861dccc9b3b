/* line 7 | options are given by name | fy_sum(x, (0), .keepdim = true) */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2, 3));
    fy_print(fy_sum(x, (1), true));
    return 0;
}
