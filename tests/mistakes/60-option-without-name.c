/* line 6 | options are given by name | fy_ones((2), .device = "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2), "cuda");
    fy_print(x);
    return 0;
}
