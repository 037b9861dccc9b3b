/* line 7 | no operator | no call for */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2, 2));
    x = x / x;
    fy_print(x);
    return 0;
}
