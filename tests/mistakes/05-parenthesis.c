/* line 7 | closing parenthesis is missing | every ( needs */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_print(fy_add(a, a);
    return 0;
}
