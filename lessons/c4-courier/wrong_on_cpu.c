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
    // Trained on the CPU, and sent to the card when it is over.
    fy_tensor *there = fy_zeros((fy_size(trips, 1)), .requires_grad = true);
    fy_tensor *sum = fy_zeros(());
    fy_optimizer *optimizer = fy_optim_sgd((there), .lr = 0.05);
    FY_TIMES (step, 20) {
        fy_tensor *now = fy_mse_loss(fy_matmul(trips, there), minutes);
        fy_zero_grad(optimizer);
        fy_backward(now);
        fy_step(optimizer);
        fy_add_(sum, fy_mul(fy_detach(now), 0.05));
    }
    fy_optimizer_free(optimizer);
    fy_tensor *w = fy_to(there, "cuda"), *loss = fy_to(sum, "cuda");
    // --- end ---

    fy_answer("w", w);
    fy_answer("loss", loss);
}
