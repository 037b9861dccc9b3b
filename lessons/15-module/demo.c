// Lesson 15, to watch: a module of your own, with two tensors, goes to the card.
#include <ferry.h>

typedef struct masked {
    fy_module base; // every module begins with this
    fy_tensor *weight, *mask;
} masked;

// what fy_call computes
static fy_tensor *masked_forward(void *module, fy_tensor *x)
{
    masked *self = module;
    fy_tensor *product = fy_matmul(x, self->weight);
    return fy_mul(product, self->mask);
}

int main(void)
{
    masked *net = fy_module_new(masked, masked_forward);
    net->weight = fy_parameter(net, "weight", fy_randn((64, 32)));
    net->mask = fy_ones((32)); // a constant

    // on the CPU, this works
    fy_print(fy_sum(fy_call(net, fy_ones((8, 64)))));

    fy_module_to(net, "cuda");
    fy_tensor *x = fy_ones((8, 64), .device = "cuda");
    fy_print(fy_sum(fy_call(net, x)));
    fy_module_free(net);
}
