/* line 8 | comparison is written == | == */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    int n = fy_dim(a);
    if (n = 2) fy_print(a);
    return 0;
}
