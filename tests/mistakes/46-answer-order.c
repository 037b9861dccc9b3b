/* line 7 | takes the name first | fy_answer("y", y) */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    fy_answer(a, "y");
    return 0;
}
