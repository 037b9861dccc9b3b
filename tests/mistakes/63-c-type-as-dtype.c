/* line 6 | is a C type | write FY_FLOAT64 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .dtype = double);
    fy_print(a);
    return 0;
}
