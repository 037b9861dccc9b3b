// Lesson 19, your turn: a network was trained on the card. Now it is needed on the CPU only.
//
// The file is on the disk, and the new network in CPU RAM. So what does the card do here?
#include <ferry.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    fy_tensor *x = fy_given("x"), *w = fy_given("w");
    int64_t in = fy_size(w, 1), out = fy_size(w, 0);

    // a network on the card, trained to be w
    fy_module *trained = fy_nn_linear(in, out, .bias = false, .device = "cuda");
    FY_NO_GRAD { fy_copy_(fy_get_parameter(trained, "weight"), w); }
    char path[] = "/tmp/ferry-XXXXXX"; // mkstemp makes an empty file, with a name of its own
    close(mkstemp(path));
    fy_save_state_dict(trained, path);
    // The file is written once more, from CPU RAM: then there is nothing to say about where it loads.
    fy_module *other = fy_nn_linear(in, out, .bias = false);
    FY_NO_GRAD { fy_copy_(fy_get_parameter(other, "weight"), w); }
    fy_save_state_dict(other, path);
    fy_module_free(other);
    fy_module_free(trained);

    fy_module *net = fy_nn_linear(in, out, .bias = false);
    // --- your code ---
    fy_load_state_dict(net, path);
    // --- end ---

    unlink(path);
    FY_NO_GRAD { fy_answer("y", fy_call(net, x)); }
    fy_module_free(net);
}
