// Lesson 16, to watch: an optimizer with momentum, and a module that moves twice.
#include <ferry.h>

int main(void)
{
    fy_module *net = fy_nn_linear(64, 8, .bias = false); // x times a weight
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.1, .momentum = 0.9);

    fy_mark("to the card");
    fy_module_to(net, "cuda");
    fy_backward(fy_sum(fy_call(net, fy_ones((16, 64), .device = "cuda"))));
    fy_step(optimizer);
    fy_zero_grad(optimizer);

    fy_mark("back to the CPU");
    fy_module_to(net, "cpu");
    fy_backward(fy_sum(fy_call(net, fy_ones((16, 64)))));
    fy_step(optimizer);

    fy_optimizer_free(optimizer);
    fy_module_free(net);
}
