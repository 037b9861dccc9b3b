/* line 7 | fy_print gets too many arguments | fy_print(x) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_print(a, a);
    return 0;
}
