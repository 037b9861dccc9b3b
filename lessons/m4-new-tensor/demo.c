// Myth 4, to watch: three calls of fy_to, and each has something to do.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_ones((64, 32));
    fy_tensor *there = fy_to(rows, "cuda");
    fy_tensor *halves = fy_to(there, FY_FLOAT16); // another dtype, on the card
    fy_tensor *home = fy_to(halves, "cpu");

    printf("there is on %s, home is on %s\n", fy_device(there), fy_device(home));
}
