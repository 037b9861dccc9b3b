// Myth 11, to watch: the same work on the CPU and on the card, on a table of a million numbers.
#include <ferry.h>

int main(void)
{
    fy_tensor *table = fy_ones((1024, 1024));
    fy_tensor *here = fy_relu(table);
    fy_tensor *there = fy_cuda(table);
    fy_tensor *done = fy_relu(there);
    fy_print(fy_narrow(here, 1, 0, 4));
    fy_print(fy_narrow(done, 1, 0, 4));
}
