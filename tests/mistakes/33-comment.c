/* line 6 | comment begins here | end it with */
#include <ferry.h>

int main(void)
{
    /* make a tensor
    fy_tensor *a = fy_zeros((2, 3));
    fy_print(a);
    return 0;
}
