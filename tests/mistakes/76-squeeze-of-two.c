/* line 6 | fy_squeeze gets too many arguments | fy_squeeze(x, dim) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_squeeze(fy_zeros((1, 1)), 0, 1);
    fy_print(a);
    return 0;
}
