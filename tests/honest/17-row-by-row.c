/* Lesson 17: what is watched is put together row by row before its mean is taken; then it is detached. */
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda"), *y = fy_to(fy_given("y"), "cuda"), *w = fy_to(fy_given("w"), "cuda");
    fy_requires_grad_(w);
    fy_optimizer *optimizer = fy_optim_sgd((w), .lr = 0.01);
    fy_tensor *total = fy_zeros((), .device = "cuda");
    FY_TIMES (step, 6) {
        fy_tensor *error = fy_sub(fy_matmul(x, w), y);
        fy_zero_grad(optimizer);
        fy_backward(fy_mean(fy_mul(error, error)));
        fy_step(optimizer);
        fy_tensor *off = fy_abs(error), *all = fy_narrow(off, 0, 0, 1);
        for (int64_t row = 1; row < fy_size(off, 0); row++) all = fy_cat((all, fy_narrow(off, 0, row, 1)), 0);
        fy_set(&total, fy_add(total, fy_detach(fy_mean(all))));
    }
    fy_answer("total", total);
    fy_optimizer_free(optimizer);
}
