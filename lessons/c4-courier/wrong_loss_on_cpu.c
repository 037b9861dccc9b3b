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
    // w is trained on the card, and once more on the CPU, which adds up the losses.
    fy_tensor *x = fy_to(trips, "cuda"), *t = fy_to(minutes, "cuda");
    fy_tensor *w = fy_zeros((fy_size(trips, 1)), .device = "cuda", .requires_grad = true);
    fy_tensor *v = fy_zeros((fy_size(trips, 1)), .requires_grad = true);
    fy_optimizer *there = fy_optim_sgd((w), .lr = 0.05), *here = fy_optim_sgd((v), .lr = 0.05);
    double sum = 0;
    FY_TIMES (step, 20) {
        fy_tensor *now = fy_mse_loss(fy_matmul(trips, v), minutes);
        sum += fy_item(now);
        fy_zero_grad(here), fy_backward(now), fy_step(here);
        fy_zero_grad(there), fy_backward(fy_mse_loss(fy_matmul(x, w), t)), fy_step(there);
    }
    fy_optimizer_free(there);
    fy_optimizer_free(here);
    fy_tensor *loss = fy_full((), sum / 20, .device = "cuda");
    // --- end ---

    fy_answer("w", w);
    fy_answer("loss", loss);
}
