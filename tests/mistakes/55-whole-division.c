/* line 6 | 1/2 is 0 in C: dividing two integers | write 0.5 */
#include <ferry.h>

int main(void)
{
    fy_tensor *w = fy_full((3, 2), 1/2, .device = "cuda");
    fy_print(w);
    return 0;
}
