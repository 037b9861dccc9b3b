/* line 7 | no operator '*' | write fy_mul(a, a) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = a * a;
    fy_print(b);
    return 0;
}
