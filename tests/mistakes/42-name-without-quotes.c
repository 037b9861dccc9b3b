/* line 6 | stands in quotes: "mat1" | write "mat1" */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_given(mat1);
    fy_print(a);
    return 0;
}
