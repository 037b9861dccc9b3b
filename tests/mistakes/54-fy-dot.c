/* line 6 | one name, with an underscore | write fy_ones((2), .device = "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy.ones((2), .device = "cuda");
    fy_print(x);
    return 0;
}
