/* line 6 | options are given by name | fy_full((2, 3), 7.5, .device = "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_full((2, 3), 1.0, .dtype = FY_FLOAT64, "weights");
    fy_print(x);
    return 0;
}
