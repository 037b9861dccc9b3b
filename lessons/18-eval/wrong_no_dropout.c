// Lesson 18, your turn: the scores of a network that nobody trains any more.
//
// The scores are right: fy_eval turned dropout off. But what is all that in VRAM?
#include <ferry.h>

typedef struct network {
    fy_module base;
    fy_tensor *first, *second;
} network;

static fy_tensor *network_forward(void *module, fy_tensor *x)
{
    network *self = module;
    fy_tensor *hidden = fy_tanh(fy_matmul(x, self->first));
    return fy_matmul(hidden, self->second);
}

int main(void)
{
    fy_tensor *x = fy_to(fy_given("x"), "cuda");
    network *net = fy_module_new(network, network_forward);
    net->first = fy_parameter(net, "first", fy_given("w1"));
    net->second = fy_parameter(net, "second", fy_given("w2"));
    fy_module_to(net, "cuda");
    fy_tensor *scores = NULL;

    // --- your code ---
    // Without dropout in forward there is nothing to turn off, here.
    FY_NO_GRAD { scores = fy_call(net, x); }
    // --- end ---

    fy_answer("scores", scores);
    fy_module_free(net);
}
