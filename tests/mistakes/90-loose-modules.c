/* line 7 | the modules need parentheses of their own | fy_sequential((a, b)) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2)), *b = fy_zeros((2));
    fy_module *net = fy_sequential(fy_nn_linear(2, 2), fy_nn_relu());
    fy_print(fy_call(net, a));
    fy_print(fy_add(a, b));
    return 0;
}
