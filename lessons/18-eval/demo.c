// Lesson 18, to watch: a network in training, and the same network in evaluation.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_randn((64, 128), .device = "cuda");
    // three modules, one after the other; the one in the middle sets half of its results to 0, at random
    fy_module *first = fy_nn_linear(128, 32, .device = "cuda", .bias = false);
    fy_module *last = fy_nn_linear(32, 8, .device = "cuda", .bias = false);
    fy_module *net = fy_sequential((first, fy_nn_dropout(0.5), last));

    fy_mark("training");
    fy_tensor *trained = fy_call(net, x);
    fy_log_scalar("bytes kept in training", fy_saved_bytes(trained));

    fy_mark("evaluation");
    fy_eval(net);
    fy_tensor *evaluated = fy_call(net, x);
    fy_log_scalar("bytes kept in evaluation", fy_saved_bytes(evaluated));
    fy_module_free(net);
}
