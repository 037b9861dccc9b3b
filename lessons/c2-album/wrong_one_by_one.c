// Challenge, your turn: how much brighter than the whole album is each picture?
//
// pixels (a row for each picture, one byte for each pixel) is in CPU RAM. The card does the arithmetic.
// Submit brighter, one float32 for each picture, in CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *pixels = fy_given("pixels");

    // --- your code ---
    // Each picture by itself: every call is a launch, and a launch costs more than the work in it.
    fy_tensor *numbers = fy_to(fy_to(pixels, "cuda"), FY_FLOAT32);
    fy_tensor *brighter = fy_zeros((fy_size(pixels, 0)), .device = "cuda");
    for (int64_t i = 0; i < fy_size(pixels, 0); i++) {
        fy_tensor *picture = fy_mean(fy_narrow(numbers, 0, i, 1));
        fy_add_(fy_narrow(brighter, 0, i, 1), fy_sub(picture, fy_mean(numbers)));
    }
    brighter = fy_cpu(brighter);
    // --- end ---

    fy_answer("brighter", brighter);
}
