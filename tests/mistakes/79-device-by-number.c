/* line 6 | named by text, not by a number | .device = "cuda:0" */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2, 3), .dtype = FY_INT64, .device = 0);
    fy_print(x);
    return 0;
}
