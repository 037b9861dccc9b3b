/* line 7 | the dimensions need parentheses | fy_max(x, (0)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2, 3));
    fy_print(fy_max(x, 1));
    return 0;
}
