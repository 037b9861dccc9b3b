/* line 7 | double quotes in C: "cuda" | write "cuda" */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_tensor *b = fy_to(a, 'cuda');
    fy_print(b);
    return 0;
}
