/* line 7 | takes all arguments in order | fy_add(a, b, alpha) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2)), *b = fy_zeros((2));
    fy_print(fy_add(a, b, .alpha = 2));
    fy_print(fy_add(a, b));
    return 0;
}
