/* line 7 | arguments go in parentheses | write fy_cuda(mat1) */
#include <ferry.h>

int main(void)
{
    fy_tensor *mat1 = fy_ones((2, 2));
    fy_tensor *x = fy_cuda mat1;
    fy_print(x);
    return 0;
}
