// Myth 1, to watch: in place in CPU RAM, and not in place on the card.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_ones((64, 32));
    fy_add_(rows, 1.0); // in place: the sum replaces what was there
    fy_tensor *there = fy_cuda(rows);
    fy_tensor *more = fy_add(there, 1.0); // the sum is a tensor of its own

    printf("rows is on %s, more is on %s\n", fy_device(rows), fy_device(more));
}
