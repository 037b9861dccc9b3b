// Challenge, your turn: how much effort is there between two points of each tour, on average?
//
// tours (a row for each tour, a column for each point) is in CPU RAM. The card does the arithmetic,
// and never holds more than two tables of all pairs. Submit effort, one number for each tour, on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_given("tours");

    // --- your code ---
    fy_tensor *effort = tours;
    // --- end ---

    fy_answer("effort", effort);
}
