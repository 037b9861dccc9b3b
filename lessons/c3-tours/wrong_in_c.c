// Challenge, your turn: how much effort is there between two points of each tour, on average?
//
// tours (a row for each tour, a column for each point) is in CPU RAM. The card does the arithmetic,
// and never holds more than two tables of all pairs. Submit effort, one number for each tour, on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *tours = fy_given("tours");

    // --- your code ---
    // Computed in C, through a pointer; the card gets the results.
    float *p = fy_data(tours);
    int64_t points = fy_size(tours, 1);
    for (int64_t i = 0; i < fy_size(tours, 0); i++) {
        float sum = 0, *row = p + i * points;
        for (int64_t a = 0; a < points; a++)
            for (int64_t b = 0; b < points; b++)
                if (row[a] > row[b]) sum += (row[a] - row[b]) * (row[a] - row[b]);
        row[0] = sum / (float)(points * points);
    }
    fy_tensor *effort = fy_select(fy_to(tours, "cuda"), 1, 0);
    // --- end ---

    fy_answer("effort", effort);
}
