// Lesson 8, your turn: ten steps on the card, and the sum of x after each of them, added up.
//
// The total is right. But the program reads a number in every step, and the card stands still meanwhile.
// The total may be read once, at the end: the line after your part does that.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda");

    // --- your code ---
    // Added up on the card; but the if needs a number to decide.
    fy_tensor *total = fy_zeros((), .device = "cuda");
    FY_TIMES (step, 10) {
        fy_relu_(fy_add_(fy_mul_(x, 0.5), 0.25));
        fy_tensor *sum = fy_sum(x);
        if (fy_item(sum) > 0) fy_add_(total, sum);
    }
    // --- end ---

    printf("total: %g\n", fy_item(total));
    fy_answer("total", total);
}
