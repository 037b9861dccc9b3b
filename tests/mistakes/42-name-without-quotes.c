/* line 6 | goes in quotes: "mat1" | write "mat1" */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_given(mat1);
    fy_print(a);
    return 0;
}
