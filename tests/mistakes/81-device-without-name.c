/* line 6 | options are given by name | fy_randn((2), .device = "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_randn((2, 3), "cuda");
    fy_print(x);
    return 0;
}
