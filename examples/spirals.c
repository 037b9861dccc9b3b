/* Two spirals: a network of two layers learns which arm a point lies on. spirals.py is the same in PyTorch, and prints
 * the same losses: the loss of each step, then the share of points told right. */
#include <ferry.h>
#include <stdio.h>

/* (100, 2): the points of one arm, from the center out. */
static fy_tensor *arm(double turn)
{
    fy_tensor *radius = fy_linspace((0.1, 1, 100));
    fy_tensor *angle = fy_add(fy_mul(radius, 9), turn);
    fy_tensor *points = fy_stack((fy_mul(radius, fy_cos(angle)), fy_mul(radius, fy_sin(angle))), 1);
    return fy_add(points, fy_randn((100, 2)), 0.01);
}

static void train(const char *device)
{
    fy_tensor *first = arm(0), *second = arm(3.14159265358979);
    fy_tensor *x = fy_to(fy_cat((first, second), 0), device);
    fy_tensor *zeros = fy_zeros((100), .dtype = FY_INT64), *ones = fy_ones((100), .dtype = FY_INT64);
    fy_tensor *y = fy_to(fy_cat((zeros, ones), 0), device);

    fy_module *net = fy_sequential((fy_nn_linear(2, 64), fy_nn_tanh(), fy_nn_linear(64, 2)));
    fy_module_to(net, device);
    fy_optimizer *optimizer = fy_optim_adam(net, .lr = 0.05);

    FY_TIMES (step, 400) {
        fy_tensor *loss = fy_cross_entropy(fy_call(net, x), y);
        fy_zero_grad(optimizer);
        fy_backward(loss);
        fy_step(optimizer);
        printf("%.9g\n", fy_item(loss));
    }

    fy_eval(net);
    FY_NO_GRAD
    {
        fy_tensor *right = fy_eq(fy_argmax(fy_call(net, x), (1)), y);
        printf("%.1f %% right\n", 100 * fy_item(fy_mean(fy_to(right, FY_FLOAT32))));
    }
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}

int main(int argc, char **argv)
{
    fy_manual_seed(0);
    FY_SCOPE { train(argc > 1 ? argv[1] : "cuda"); }
    return 0;
}
