// Lesson 11, your turn: the first four rows of a large tensor, minus the mean of all rows.
//
// The values are right. But from the mean on, only four rows are needed, and the comment says that the large
// tensor is gone. Look at VRAM: it is still there. At the end, at most 4 KiB may be in use.
#include <ferry.h>

int main(void)
{
    fy_tensor *all = fy_cuda(fy_given("all"));
    fy_tensor *mean = fy_mean(all, (0)); // of each column

    // --- your code ---
    // All of it is copied, to be freed again: the numbers are right, and the card has worked for nothing.
    fy_tensor *copy = fy_clone(all);
    fy_free(all);
    fy_tensor *part = fy_narrow(copy, 0, 0, 4);
    fy_tensor *rows = fy_clone(part);
    fy_free(part);
    fy_free(copy);
    // --- end ---

    fy_tensor *y = fy_sub(rows, mean);
    fy_answer("y", y);
}
