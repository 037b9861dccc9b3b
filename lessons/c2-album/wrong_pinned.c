// Challenge, your turn: how much brighter than the whole album is each picture?
//
// pixels (a row for each picture, one byte for each pixel) is in CPU RAM. The card does the arithmetic.
// Submit brighter, one float32 for each picture, in CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *pixels = fy_given("pixels");

    // --- your code ---
    // Page-locking, for a single copy: it takes longer than the copy.
    fy_tensor *numbers = fy_to(fy_to(fy_pin_memory(pixels), "cuda"), FY_FLOAT32);
    fy_tensor *brighter = fy_cpu(fy_sub(fy_mean(numbers, (1)), fy_mean(numbers)));
    // --- end ---

    fy_answer("brighter", brighter);
}
