/* line 7 | no function 'fy_matmull' | did you mean fy_matmul? */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_ones((2, 2));
    fy_tensor *b = fy_matmull(a, a);
    fy_print(b);
    return 0;
}
