// Lesson 5, your turn: the negative of a picture, half as bright, computed on the card.
//
// A pixel is one byte, from 0 to 16. The card computes with floats, and the result is bytes again.
// The picture is right. But look at what crosses the bus: a byte per pixel would do, each way.
#include <ferry.h>

int main(void)
{
    fy_tensor *pixels = fy_given("pixels");

    // --- your code ---
    fy_tensor *x = fy_to(fy_to(pixels, "cuda"), FY_FLOAT32);
    fy_tensor *dark = fy_add(fy_mul(x, -0.5), 8);
    fy_tensor *y = fy_to(fy_to(dark, FY_UINT8), "cpu");
    // --- end ---

    fy_answer("y", y);
}
