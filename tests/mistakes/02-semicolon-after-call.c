/* line 7 | semicolon is missing | every statement */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_print(a)
    return 0;
}
