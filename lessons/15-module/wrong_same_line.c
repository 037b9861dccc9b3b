// Lesson 15, your turn: the gradient of a module's factor, on the card.
//
// The module is moved once, before the work. So why does something cross the bus in every pass?
#include <ferry.h>

typedef struct centered {
    fy_module base;
    fy_tensor *factor, *mean;
} centered;

static fy_tensor *centered_forward(void *module, fy_tensor *x)
{
    centered *self = module;
    fy_tensor *mean = fy_to(self->mean, x); // to where x is; free, if it is there already
    return fy_mul(fy_sub(x, mean), self->factor);
}

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    centered *net = fy_module_new(centered, centered_forward);
    net->factor = fy_parameter(net, "factor", fy_given("factor"));

    // --- your code ---
    // Copied by hand, on the line that moves the module: still the module does not know it.
    net->mean = fy_cuda(fy_given("mean")), fy_module_to(net, "cuda");
    // --- end ---

    fy_module_to(net, "cuda");
    FY_TIMES (pass, 3) fy_backward(fy_mean(fy_relu(fy_call(net, x))));
    fy_answer("g", fy_grad(net->factor));
    fy_module_free(net);
}
