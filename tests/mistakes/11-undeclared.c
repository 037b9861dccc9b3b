/* line 7 | 'totl' was never declared | did you mean total? */
#include <ferry.h>

int main(void)
{
    fy_tensor *total = fy_zeros((2, 3));
    fy_print(fy_add(totl, total));
    return 0;
}
