// Challenge, your turn: what is left of each day's takings?
//
// sold (a row for each day, a column for each article) and prices (one for each article) are in CPU RAM.
// The card does all of the arithmetic. Submit left, one number for each day, in CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *sold = fy_given("sold");
    fy_tensor *prices = fy_given("prices");

    // --- your code ---
    // The rent is made in CPU RAM and sent over the bus: a third copy.
    fy_tensor *taken = fy_matmul(fy_to(sold, "cuda"), fy_to(prices, "cuda"));
    fy_tensor *rent = fy_to(fy_full((fy_size(sold, 0)), 2.0), "cuda");
    fy_tensor *kept = fy_add(fy_mul(taken, 0.75), fy_mul(rent, -1.0));
    fy_tensor *left = fy_cpu(fy_relu(kept));
    // --- end ---

    fy_answer("left", left);
}
