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
    double sums = 0;
    FY_TIMES (step, 10) {
        fy_relu_(fy_add_(fy_mul_(x, 0.5), 0.25));
        sums += fy_item(fy_sum(x));
    }
    fy_tensor *total = fy_full((), sums);
    // --- end ---

    printf("total: %g\n", fy_item(total));
    fy_answer("total", total);
}
