/* training-loop.c: four steps of a small network with Adam; the loss is logged, and one batch a step crosses the bus. */
#include <ferry.h>

int main(void)
{
    FY_SCOPE
    {
        fy_tensor *images = fy_randn((256, 64)), *labels = fy_randint((0, 10), (256));
        fy_module *net = fy_sequential((fy_nn_linear(64, 128), fy_nn_relu(), fy_nn_linear(128, 10)));
        fy_module_to(net, "cuda");
        fy_optimizer *optimizer = fy_optim_adam(net, .lr = 0.02);
        FY_TIMES(step, 4)
        {
            fy_tensor *x = fy_to(images, "cuda"), *y = fy_to(labels, "cuda");
            fy_tensor *scores = fy_call(net, x);
            fy_tensor *loss = fy_cross_entropy(scores, y);
            fy_zero_grad(optimizer);
            fy_backward(loss);
            fy_step(optimizer);
            fy_log_scalar("loss", loss);
        }
        fy_optimizer_free(optimizer);
        fy_module_free(net);
    }
    return 0;
}
