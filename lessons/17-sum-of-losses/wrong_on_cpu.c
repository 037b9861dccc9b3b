// Lesson 17, your turn: train for six steps, and add up how far off each step was.
//
// The sum is right. Look at VRAM: what is left of each step?
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    fy_tensor *y = fy_to(fy_given("y"), "cuda");
    fy_tensor *w = fy_to(fy_given("w"), "cuda");
    fy_requires_grad_(w);
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.01);
    fy_tensor *total = fy_zeros((), .device = "cuda");

    FY_TIMES (step, 6) {
        fy_tensor *error = fy_sub(fy_matmul(x, w), y);
        fy_zero_grad(optimizer);
        fy_backward(fy_mean(fy_mul(error, error))); // the loss that is made small
        fy_step(optimizer);
        // another loss, only to be watched
        fy_tensor *off = fy_mean(fy_abs(error));
        // --- your code ---
        // The number is copied to RAM, and the graph comes with it.
        fy_set(&total, fy_add(total, fy_cpu(off)));
        // --- end ---
    }
    fy_answer("total", total);
    fy_optimizer_free(optimizer);
}
