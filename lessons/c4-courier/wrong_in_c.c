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
    // Computed in C, through pointers, into the tensors that then go to the card.
    float *p = fy_data(trips), *m = fy_data(minutes), v[64] = {0}, g[64], sum = 0;
    int64_t n = fy_size(trips, 0), k = fy_size(trips, 1);
    for (int step = 0; step < 20; step++) {
        for (int64_t j = 0; j < k; j++) g[j] = 0;
        for (int64_t i = 0; i < n; i++) {
            float off = -m[i];
            for (int64_t j = 0; j < k; j++) off += p[i * k + j] * v[j];
            sum += off * off / (float)n / 20;
            for (int64_t j = 0; j < k; j++) g[j] += 2 * off * p[i * k + j] / (float)n;
        }
        for (int64_t j = 0; j < k; j++) v[j] -= 0.05f * g[j];
    }
    for (int64_t j = 0; j < k; j++) p[j] = v[j];
    p[k] = sum;
    fy_tensor *x = fy_to(trips, "cuda");
    fy_tensor *w = fy_select(x, 0, 0), *loss = fy_select(fy_select(x, 0, 1), 0, 0);
    // --- end ---

    fy_answer("w", w);
    fy_answer("loss", loss);
}
