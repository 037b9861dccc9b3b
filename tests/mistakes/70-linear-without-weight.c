/* line 6 | fy_linear gets too few arguments | fy_linear(x, weight) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_linear(fy_zeros((2, 3)));
    fy_print(a);
    return 0;
}
