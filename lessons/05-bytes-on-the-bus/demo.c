// Lesson 5, to watch: a picture with one byte per pixel, and the card wants floats.
#include <ferry.h>

int main(void)
{
    fy_tensor *pixels = fy_full((200, 500), 3, .dtype = FY_UINT8);
    fy_free(fy_ones((1), .device = "cuda")); // the first use of the card reserves memory, once

    // one call: another device, and another dtype
    fy_tensor *at_once = fy_to(pixels, "cuda", .dtype = FY_FLOAT32);
    // two calls: first the device, then the dtype
    fy_tensor *bytes_there = fy_to(pixels, "cuda");
    fy_tensor *floats_there = fy_to(bytes_there, FY_FLOAT32);

    // and back, in one call
    fy_tensor *back = fy_to(floats_there, "cpu", .dtype = FY_UINT8);

    fy_tensor *same = fy_sub(at_once, floats_there);
    fy_print(fy_sum(same));
    fy_print(back);
}
