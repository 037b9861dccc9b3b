/* line 7 | comma is missing after 'a' | write a, "cuda" */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = fy_to(a "cuda");
    fy_print(b);
    return 0;
}
