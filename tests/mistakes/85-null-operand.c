/* line 7 | expected a tensor or a number, not NULL | pass a tensor, for example from fy_ones */
#include <ferry.h>

int main(void)
{
    fy_tensor *g = fy_ones((2, 3));
    fy_print(fy_add(NULL, g));
    return 0;
}
