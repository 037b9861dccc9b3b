// Lesson 21, your turn: two batches go to the card through one box, which is filled again for the second.
//
// The box is page-locked, so both copies can be queued. But the first batch never arrives: the box is filled
// again too soon. Let the CPU wait where it has to, once. There is only this one box.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x"); // two batches, one below the other
    int64_t rows = fy_size(x, 0) / 2;

    // --- your code ---
    // No wait, and no box that is used again: this one has room for both batches.
    fy_tensor *large = fy_pin_memory(x);
    fy_tensor *first = fy_to(fy_narrow(large, 0, 0, rows), "cuda", .non_blocking = true);
    fy_tensor *second = fy_to(fy_narrow(large, 0, rows, rows), "cuda", .non_blocking = true);
    // --- end ---

    fy_tensor *y = fy_add(fy_relu(first), second);
    fy_answer("y", y);
}
