// Challenge, your turn: how much brighter than the whole album is each picture?
//
// pixels (a row for each picture, one byte for each pixel) is in CPU RAM. The card does the arithmetic.
// Submit brighter, one float32 for each picture, in CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *pixels = fy_given("pixels");

    // --- your code ---
    // The card takes the mean of each picture; the CPU does the rest.
    fy_tensor *numbers = fy_to(fy_to(pixels, "cuda"), FY_FLOAT32);
    fy_tensor *each = fy_cpu(fy_mul(fy_mean(numbers, (1)), 1));
    fy_tensor *brighter = fy_sub(each, fy_mean(each));
    // --- end ---

    fy_answer("brighter", brighter);
}
