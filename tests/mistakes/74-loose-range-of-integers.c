/* line 6 | the values need parentheses of their own | fy_randint((0, 10), (2, 3)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_randint(0, 10, (2, 3));
    fy_print(a);
    return 0;
}
