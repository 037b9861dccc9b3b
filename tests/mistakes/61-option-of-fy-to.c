/* line 7 | options are given by name | .copy = true */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2));
    fy_tensor *y = fy_to(x, "cuda", true);
    fy_print(y);
    return 0;
}
