// Challenge, your turn: how much effort is there between two points of each tour, on average?
//
// tours (a row for each tour, a column for each point) is in CPU RAM. The card does the arithmetic,
// and never holds more than two tables of all pairs. Submit effort, one number for each tour, on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_given("tours");

    // --- your code ---
    // The tables of all tours in one call: short, and far too much memory at once.
    fy_tensor *there = fy_to(tours, "cuda");
    fy_tensor *climb = fy_relu(fy_sub(fy_unsqueeze(there, 2), fy_unsqueeze(there, 1)));
    fy_tensor *effort = fy_mean(fy_mul(climb, climb), (1, 2));
    // --- end ---

    fy_answer("effort", effort);
}
