/* line 7 | a tensor or a number is wanted here, and not NULL | a tensor is what fy_ones */
#include <ferry.h>

int main(void)
{
    fy_tensor *g = fy_ones((2, 3));
    fy_print(fy_add(NULL, g));
    return 0;
}
