/* line 7 | no operator '+' | write a = fy_add(a, 1) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    a += 1;
    fy_print(a);
    return 0;
}
