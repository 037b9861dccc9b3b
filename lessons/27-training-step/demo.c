// Lesson 27, to watch: steps of training, as they are often written at first.
#include <ferry.h>
#include <stdio.h>

int main(void)
{
    fy_tensor *rows = fy_randn((512, 128)); // in CPU RAM, as if a file had been read
    fy_tensor *wanted = fy_ones((512, 1), .device = "cuda");
    fy_module *net = fy_nn_linear(128, 1, .device = "cuda");
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.01);

    FY_TIMES (step, 3) {
        fy_tensor *there = fy_cuda(rows);
        fy_tensor *loss = fy_mse_loss(fy_call(net, there), wanted);
        fy_zero_grad(optimizer);
        fy_backward(loss);
        fy_step(optimizer);
        printf("loss: %g\n", fy_item(loss));
    }
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}
