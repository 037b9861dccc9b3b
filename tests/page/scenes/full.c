#include <ferry.h>

int main(void)
{
    fy_tensor *part[12];
    for (int i = 0; i < 12; i++) part[i] = fy_zeros((10, 1024, 1024), .device = "cuda");
    for (int i = 0; i < 12; i += 2) fy_free(part[i]);
    fy_tensor *big = fy_zeros((75, 1024, 1024), .device = "cuda");
    fy_print(fy_sum(big));
}
