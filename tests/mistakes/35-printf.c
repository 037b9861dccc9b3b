/* line 7 | header is not included | #include <stdio.h> */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    printf("%f\n", fy_item(fy_sum(a)));
    return 0;
}
