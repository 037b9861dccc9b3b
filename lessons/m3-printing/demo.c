// Myth 3, to watch: one number comes home and is printed there.
#include <ferry.h>

int main(void)
{
    fy_tensor *rows = fy_ones((64, 32));
    fy_tensor *there = fy_cuda(rows);
    fy_tensor *sum = fy_sum(there);
    fy_tensor *home = fy_cpu(sum);
    fy_print(home);
}
