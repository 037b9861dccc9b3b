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
    fy_tensor *x = fy_to(trips, "cuda"), *t = fy_to(minutes, "cuda");
    fy_tensor *w = fy_zeros((fy_size(trips, 1)), .device = "cuda", .requires_grad = true);
    fy_tensor *loss = fy_zeros((), .device = "cuda");
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.05);
    FY_TIMES (step, 20) {
        fy_tensor *now = fy_mse_loss(fy_matmul(x, w), t);
        fy_zero_grad(optimizer);
        fy_backward(now);
        fy_step(optimizer);
        fy_add_(loss, fy_mul(fy_detach(now), 0.05)); // a twentieth of each loss: their mean
    }
    fy_optimizer_free(optimizer);
    // --- end ---

    fy_answer("w", w);
    fy_answer("loss", loss);
}
