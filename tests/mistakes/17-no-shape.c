/* line 6 | fy_zeros needs a shape | fy_zeros((2, 3)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros();
    fy_print(a);
    return 0;
}
