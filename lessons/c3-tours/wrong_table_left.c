// Challenge, your turn: how much effort is there between two points of each tour, on average?
//
// tours (a row for each tour, a column for each point) is in CPU RAM. The card does the arithmetic,
// and never holds more than two tables of all pairs. Submit effort, one number for each tour, on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_given("tours");

    // --- your code ---
    // One table, used for all tours; nobody frees it when the answer is there.
    fy_tensor *there = fy_to(tours, "cuda");
    int64_t points = fy_size(tours, 1);
    fy_tensor *climb = fy_zeros((points, points), .device = "cuda");
    fy_tensor *effort = fy_zeros((fy_size(tours, 0)), .device = "cuda");
    FY_TIMES (i, fy_size(tours, 0)) {
        fy_tensor *tour = fy_select(there, 0, i);
        fy_add_(fy_mul_(climb, 0.0), fy_unsqueeze(tour, 1));
        fy_relu_(fy_sub_(climb, tour));
        fy_add_(fy_narrow(effort, 0, i, 1), fy_mean(fy_mul_(climb, climb)));
    }
    // --- end ---

    fy_answer("effort", effort);
}
