/* line 6 | comment in C begins with // | write // bring it over */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_ones((2)); # bring it over
    fy_print(x);
    return 0;
}
