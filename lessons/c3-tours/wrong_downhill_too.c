// Challenge, your turn: how much effort is there between two points of each tour, on average?
//
// tours (a row for each tour, a column for each point) is in CPU RAM. The card does the arithmetic,
// and never holds more than two tables of all pairs. Submit effort, one number for each tour, on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_given("tours");

    // --- your code ---
    // Going down is no effort, and it is counted here.
    fy_tensor *there = fy_to(tours, "cuda");
    fy_tensor *effort = fy_zeros((fy_size(tours, 0)), .device = "cuda");
    FY_TIMES (i, fy_size(tours, 0)) {
        fy_tensor *tour = fy_select(there, 0, i);
        fy_tensor *climb = fy_sub(fy_unsqueeze(tour, 1), tour);
        fy_mul_(climb, climb);
        fy_add_(fy_narrow(effort, 0, i, 1), fy_mean(climb));
    }
    // --- end ---

    fy_answer("effort", effort);
}
