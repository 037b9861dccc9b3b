/* line 7 | C has no 'for ... in' | for (int i = 0 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3));
    for i in range(3):
        fy_print(a);
    return 0;
}
