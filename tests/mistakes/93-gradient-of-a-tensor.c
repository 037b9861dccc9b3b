/* line 7 | fy_zero_grad takes an optimizer or a module | fy_set_grad(x, NULL) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2)), *b = fy_zeros((2));
    fy_zero_grad(a);
    fy_print(fy_add(a, b));
    return 0;
}
