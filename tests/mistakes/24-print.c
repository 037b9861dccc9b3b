/* line 7 | C has no print | fy_print(a) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    print(a);
    return 0;
}
