/* line 6 | the list needs parentheses of its own | fy_reshape(x, (2, 3)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_reshape(fy_zeros((2, 3)), 3, 2);
    fy_print(a);
    return 0;
}
