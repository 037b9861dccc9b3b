/* line 7 | is Python | write fy_to(a, "cuda") */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = a->to("cuda");
    fy_print(b);
    return 0;
}
