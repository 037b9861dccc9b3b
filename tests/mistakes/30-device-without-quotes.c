/* line 6 | goes in quotes: "cuda" | write "cuda" */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .device = cuda);
    fy_print(a);
    return 0;
}
