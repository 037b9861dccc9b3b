/* line 6 | there is no option | .keepdim */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_sum(fy_zeros((2, 3)), (0), .axis = 1);
    fy_print(a);
    return 0;
}
