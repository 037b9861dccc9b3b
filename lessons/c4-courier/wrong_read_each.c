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
    // Each loss is read by the program: twenty waits, one for each step.
    fy_tensor *x = fy_to(trips, "cuda"), *t = fy_to(minutes, "cuda");
    fy_tensor *w = fy_zeros((fy_size(trips, 1)), .device = "cuda", .requires_grad = true);
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.05);
    fy_tensor *loss = fy_zeros((), .device = "cuda");
    FY_TIMES (step, 20) {
        fy_tensor *now = fy_mse_loss(fy_matmul(x, w), t);
        fy_zero_grad(optimizer);
        fy_backward(now);
        fy_step(optimizer);
        fy_add_(loss, fy_item(now) / 20);
    }
    fy_optimizer_free(optimizer);
    // --- end ---

    fy_answer("w", w);
    fy_answer("loss", loss);
}
