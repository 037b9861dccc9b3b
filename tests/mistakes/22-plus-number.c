/* line 7 | no operator '+' | write fy_add(a, 1) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = a + 1;
    fy_print(b);
    return 0;
}
