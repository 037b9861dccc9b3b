// Challenge, to watch: three steps, by someone who reads every loss and keeps everything.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *x = fy_randn((64, 2), .device = "cuda");
    fy_tensor *t = fy_sum(x, (1)); // so both weights should become 1
    fy_tensor *w = fy_zeros((2), .device = "cuda", .requires_grad = true);
    fy_tensor *total = fy_zeros((), .device = "cuda");
    fy_optimizer *sgd = fy_optim_sgd((w), .lr = 0.1);

    for (int step = 0; step < 3; step++) {
        fy_tensor *cost = fy_mse_loss(fy_matmul(x, w), t);
        fy_zero_grad(sgd);
        fy_backward(cost);
        fy_step(sgd);
        printf("step %d: %g\n", step, fy_item(cost));
        total = fy_add(total, cost); // is this a number?
    }
    fy_optimizer_free(sgd);
    fy_print(w);
}
