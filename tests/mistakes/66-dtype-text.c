/* line 6 | a dtype is not a string | write FY_BFLOAT16 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .dtype = "bfloat16");
    fy_print(a);
    return 0;
}
