/* line 7 | two arguments of fy_to are swapped | write fy_to(mat1, "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *mat1 = fy_ones((2, 2));
    fy_tensor *y = fy_to("cuda", mat1);
    fy_print(y);
    return 0;
}
