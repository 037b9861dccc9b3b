/* line 6 | star is missing | write fy_tensor *a */
#include <ferry.h>

int main(void)
{
    fy_tensor a = fy_zeros((2, 3));
    fy_print(a);
    return 0;
}
