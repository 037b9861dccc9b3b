/* line 6 | the list needs parentheses of its own | fy_permute(x, (1, 0)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_permute(fy_zeros((2, 3)), 1, 0);
    fy_print(a);
    return 0;
}
