/* line 6 | never closed | missing } */
#include <ferry.h>

int main(void)
{
    FY_SCOPE {
        fy_tensor *a = fy_zeros((2, 3));
        fy_print(a);
    return 0;
}
