// Challenge, your turn: what makes a trip long? Twenty steps of gradient descent, on the card.
//
// trips (a row for each trip, a column for each feature) and minutes (one for each trip) are in CPU RAM.
// Submit w, the weight of each feature, and loss, the mean of the losses of all steps: both on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *trips = fy_given("trips");
    fy_tensor *minutes = fy_given("minutes");

    // --- your code ---
    fy_tensor *w = trips;
    fy_tensor *loss = minutes;
    // --- end ---

    fy_answer("w", w);
    fy_answer("loss", loss);
}
