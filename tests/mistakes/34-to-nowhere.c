/* line 7 | needs a target device | fy_to(a, "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = fy_to(a);
    fy_print(b);
    return 0;
}
