/* line 7 | the tensors need parentheses of their own | fy_cat((a, b), 0) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2)), *b = fy_zeros((2));
    fy_print(fy_cat(a, b, 0));
    fy_print(fy_add(a, b));
    return 0;
}
