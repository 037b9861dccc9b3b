/* line 7 | main returns its exit status | return 0; */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    return a;
}
