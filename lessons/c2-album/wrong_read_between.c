// Challenge, your turn: how much brighter than the whole album is each picture?
//
// pixels (a row for each picture, one byte for each pixel) is in CPU RAM. The card does the arithmetic.
// Submit brighter, one float32 for each picture, in CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *pixels = fy_given("pixels");

    // --- your code ---
    // The album's mean is read by the program, which waits for it, and is sent back as a number.
    fy_tensor *numbers = fy_to(fy_to(pixels, "cuda"), FY_FLOAT32);
    double album = fy_item(fy_mean(numbers));
    fy_tensor *brighter = fy_cpu(fy_sub(fy_mean(numbers, (1)), album));
    // --- end ---

    fy_answer("brighter", brighter);
}
