/* line 6 | the tensors need parentheses of their own | fy_stack((a, b), 0) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_stack(fy_zeros((2)), fy_zeros((2)));
    fy_print(a);
    return 0;
}
