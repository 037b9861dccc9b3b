// Myth 8, to watch: a view of a tensor in CPU RAM, and its way to the card.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_ones((64, 32));
    fy_tensor *first = fy_narrow(rows, 0, 0, 16); // the first rows: a view
    fy_tensor *there = fy_cuda(first);
    fy_tensor *done = fy_relu(there);

    printf("first is on %s, done is on %s\n", fy_device(first), fy_device(done));
}
