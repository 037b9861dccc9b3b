/* line 6 | is a C type | write FY_FLOAT32 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_to(fy_zeros((2, 3), .dtype = FY_INT64), float);
    fy_print(a);
    return 0;
}
