/* line 6 | is Python | write FY_FLOAT64 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_ones((2, 3), .dtype = float64);
    fy_print(a);
    return 0;
}
