/* line 6 | without .device | fy_to(a, "cuda") */
#include <ferry.h>
int main(void)
{
    fy_tensor *a = fy_ones((2, 3));
    fy_tensor *b = fy_to(a, .device = "cuda");
    fy_print(b);
    return 0;
}
