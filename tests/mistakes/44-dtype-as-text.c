/* line 6 | a dtype is not a string | FY_INT64 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .dtype = "int64");
    fy_print(a);
    return 0;
}
