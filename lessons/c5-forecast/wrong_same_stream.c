// Challenge, your turn: four steps of a forecast, and the news of today, in time.
//
// start, weights (both n x n) and readings (n x more) are in CPU RAM. A step of the forecast is
// state = tanh(0.05 * (state x weights)), from start on. Submit forecast: for each row the mean of
// the state after four steps, plus the mean of its readings. In CPU RAM.
#include <ferry.h>

int main(void)
{
    fy_tensor *start = fy_given("start");
    fy_tensor *weights = fy_given("weights");
    fy_tensor *readings = fy_given("readings");

    // --- your code ---
    // The work is queued first, and the copy does not want to block. But it is queued behind the work.
    fy_tensor *state = fy_to(start, "cuda"), *w = fy_to(weights, "cuda");
    for (int step = 0; step < 4; step++) state = fy_tanh(fy_mul(fy_matmul(state, w), 0.05));
    fy_tensor *news = fy_to(readings, "cuda", .non_blocking = true);
    fy_tensor *today = fy_mean(news, (1));
    fy_tensor *forecast = fy_cpu(fy_add(fy_mean(state, (1)), today));
    // --- end ---

    fy_answer("forecast", forecast);
}
