// Myth 11, to watch: the same work on the CPU and on the card, on a table of a million numbers.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *table = fy_ones((1024, 1024));
    fy_tensor *here = fy_relu(table);
    fy_tensor *there = fy_cuda(table);
    fy_tensor *done = fy_relu(there);

    printf("here is on %s, done is on %s\n", fy_device(here), fy_device(done));
}
