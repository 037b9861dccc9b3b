/* line 8 | no operator '@' | fy_matmul(a, b) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_ones((2, 2));
    fy_tensor *b = fy_ones((2, 2));
    fy_tensor *c = a @ b;
    fy_print(c);
    return 0;
}
