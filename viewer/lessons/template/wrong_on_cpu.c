// Your turn: let the card compute y, twice x.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // The right numbers, and on the card: but the CPU computed them.
    fy_tensor *sum = fy_add(x, x);
    fy_tensor *y = fy_to(sum, "cuda");
    // --- end ---

    fy_answer("y", y);
}
