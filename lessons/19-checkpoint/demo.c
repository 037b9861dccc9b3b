// Lesson 19, to watch: a network is saved on the card, and loaded for the CPU.
#include <ferry.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
    char path[] = "/tmp/ferry-XXXXXX"; // mkstemp makes an empty file, with a name of its own
    close(mkstemp(path));

    fy_mark("saved on the card");
    fy_module *trained = fy_nn_linear(256, 32, .device = "cuda");
    fy_save_state_dict(trained, path);
    fy_module_free(trained);

    fy_mark("loaded for the CPU");
    fy_module *net = fy_nn_linear(256, 32);
    fy_load_state_dict(net, path);
    unlink(path);
    fy_print(fy_sum(fy_get_parameter(net, "weight")));
    fy_module_free(net);
}
