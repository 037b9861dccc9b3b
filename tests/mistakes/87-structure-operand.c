/* line 8 | expected a tensor or a number | a number such as 2 or 0.5 */
#include <ferry.h>

int main(void)
{
    fy_tensor *g = fy_ones((2, 3));
    fy_shape s = fy_shape_of(g);
    fy_print(fy_mul(g, s));
    return 0;
}
