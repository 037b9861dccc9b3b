// Myth 7, to watch: there, some work, and back. Count the boxes.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_ones((64, 32));
    fy_tensor *there = fy_cuda(rows);
    fy_tensor *done = fy_relu(there);
    fy_tensor *home = fy_cpu(done);

    printf("done is on %s, home is on %s\n", fy_device(done), fy_device(home));
}
