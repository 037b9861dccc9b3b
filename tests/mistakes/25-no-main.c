/* line 4 | no main | int main(void) */
#include <ferry.h>

int mian(void)
{
    fy_print(fy_zeros((2)));
    return 0;
}
