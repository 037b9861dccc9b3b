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
    // The parts are added up on the CPU, and one sum is sent.
    fy_tensor *total = fy_to(start, "cuda");
    fy_tensor *sum = fy_mul(fy_sum(fy_view(x, (4, rows, -1)), (0)), 10);
    fy_copy_(there, sum);
    fy_add_(total, there);
    // --- end ---

    fy_answer("total", total);
}
