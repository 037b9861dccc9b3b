/* line 6 | star is missing | write fy_tensor *weights */
#include <ferry.h>

int main(void)
{
    fy_tensor weights = fy_ones((2, 2));
    fy_print(weights);
    return 0;
}
