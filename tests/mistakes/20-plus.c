/* line 8 | no operator '+' | write fy_add(a, b) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = fy_ones((2, 3));
    fy_tensor *c = a + b;
    fy_print(c);
    return 0;
}
