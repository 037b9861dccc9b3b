// Lesson 6, your turn: total = start + ten times the four parts of x, added up on the card.
//
// The card has room for one part of x, so every part is sent again in every epoch; start is sent once.
// The numbers are right, and everything that is sent is page-locked. Does that pay?
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *start = fy_given("start");
    int64_t rows = fy_size(start, 0); // a quarter of the rows of x
    fy_tensor *there = fy_zeros((rows, fy_size(x, 1)), .device = "cuda");

    // --- your code ---
    // The loops are swapped, so each part is sent once. Then nothing is left for page-locked memory to save.
    fy_tensor *total = fy_to(start, "cuda");
    fy_tensor *locked = fy_pin_memory(x);
    for (int part = 0; part < 4; part++) {
        fy_copy_(there, fy_narrow(locked, 0, part * rows, rows));
        for (int epoch = 0; epoch < 10; epoch++) fy_add_(total, there);
    }
    // --- end ---

    fy_answer("total", total);
}
