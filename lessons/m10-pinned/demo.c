// Myth 10, to watch: one tensor goes to the card, another is page-locked.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_ones((64, 32));
    fy_tensor *pages = fy_pin_memory(rows); // and rows itself?
    fy_tensor *there = fy_cuda(rows);
    fy_tensor *done = fy_relu(there);

    printf("%ld numbers are page-locked, and done is on %s\n", fy_numel(pages), fy_device(done));
}
