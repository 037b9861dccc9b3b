/* line 6 | is Python | write FY_FLOAT16 */
#include <ferry.h>

int main(void)
{
    fy_tensor *a = fy_zeros((2, 3), .dtype = torch.float16);
    fy_print(a);
    return 0;
}
