/* line 6 | no dtype | write FY_FLOAT16 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .dtype = FY_HALF);
    fy_print(a);
    return 0;
}
