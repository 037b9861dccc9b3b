/* line 6 | no option '.devcie' | did you mean .device? */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .devcie = "cuda");
    fy_print(a);
    return 0;
}
