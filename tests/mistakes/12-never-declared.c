/* line 6 | 'a' is used but never declared | fy_tensor *a = fy_zeros */
#include <ferry.h>

int main(void)
{
    a = fy_zeros((2, 3));
    fy_print(a);
    return 0;
}
