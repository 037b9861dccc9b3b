/* line 7 | expected a tensor or a number | a number such as 2 or 0.5 */
#include <ferry.h>

int main(void)
{
    fy_tensor *g = fy_ones((2, 3));
    fy_print(fy_mul(g, "2"));
    return 0;
}
