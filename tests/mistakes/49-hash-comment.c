/* line 6 | comment in C begins with // | write // bring it over */
#include <ferry.h>

int main(void)
{
    # bring it over
    fy_tensor *x = fy_ones((2));
    fy_print(x);
    return 0;
}
