/* line 6 | fy_cross_entropy gets too few arguments | fy_cross_entropy(x, target) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_cross_entropy(fy_zeros((2, 3)));
    fy_print(a);
    return 0;
}
