/* line 7 | fy_add gets too few arguments | fy_add(a, b) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = fy_add(a);
    fy_print(b);
    return 0;
}
