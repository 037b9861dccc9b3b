/* line 6 | one star too many | write fy_tensor *x */
#include <ferry.h>

int main(void)
{
    fy_tensor **x = fy_ones((2, 2));
    fy_print(x);
    return 0;
}
