#include <ferry.h>

int main(void)
{
    fy_tensor *picture = fy_randn((512, 512));
    fy_tensor *there = fy_cuda(picture);
    fy_print(fy_sum(there));
}
