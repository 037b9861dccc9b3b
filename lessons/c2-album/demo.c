// Challenge, to watch: three pictures, one at a time, by someone who wants to see each number at once.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *pixels = fy_full((3, 4096), 9, .dtype = FY_UINT8);

    FY_TIMES (i, 3) {
        fy_tensor *picture = fy_to(fy_narrow(pixels, 0, i, 1), FY_FLOAT32);
        fy_tensor *there = fy_to(picture, "cuda");
        printf("picture %d: %g\n", i, fy_item(fy_mean(there)));
    }
}
