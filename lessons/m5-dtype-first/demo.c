// Myth 5, to watch: the same numbers in two dtypes, on the way to the card.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *wide = fy_ones((64, 32), .dtype = FY_FLOAT64);
    fy_tensor *narrow = fy_ones((64, 32));
    fy_tensor *wide_there = fy_cuda(wide);
    fy_tensor *narrow_there = fy_cuda(narrow);
    fy_tensor *wide_sum = fy_sum(wide_there);
    fy_tensor *narrow_sum = fy_sum(narrow_there);

    printf("the sums are on %s and %s\n", fy_device(wide_sum), fy_device(narrow_sum));
}
