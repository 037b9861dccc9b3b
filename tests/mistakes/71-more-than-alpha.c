/* line 6 | fy_add gets too many arguments | fy_add(a, b, alpha) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_add(fy_zeros((2)), 1, 2, 3);
    fy_print(a);
    return 0;
}
