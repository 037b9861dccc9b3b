// Lesson 16, your turn: four steps of training, on the card.
//
// The first step was added later, to see whether it works at all. It works. The second does not.
#include <ferry.h>

typedef struct line {
    fy_module base;
    fy_tensor *weight;
} line;

static fy_tensor *line_forward(void *module, fy_tensor *x)
{
    line *self = module;
    return fy_matmul(x, self->weight);
}

int main(void)
{
    fy_tensor *x = fy_given("x"), *y = fy_given("y");
    line *net = fy_module_new(line, line_forward);
    net->weight = fy_parameter(net, "weight", fy_given("w"));

    // --- your code ---
    fy_optimizer *optimizer = fy_optim_sgd(net, .lr = 0.01, .momentum = 0.9);
    fy_backward(fy_mse_loss(fy_call(net, x), y)); // the first step
    fy_step(optimizer);
    fy_module_to(net, "cuda");
    x = fy_to(x, "cuda");
    y = fy_to(y, "cuda");
    // --- end ---

    FY_TIMES (step, 3) { // the other three
        fy_zero_grad(optimizer);
        fy_backward(fy_mse_loss(fy_call(net, x), y));
        fy_step(optimizer);
    }
    fy_answer("w", net->weight);
    fy_optimizer_free(optimizer);
    fy_module_free(net);
}
