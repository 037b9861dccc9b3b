/* training.c: one step of a network 784-256-10 with a batch of 64, by SGD with momentum, traced: forward, backward,
 * update. Usage: training cpu PEERS, beside PyTorch's untraced step (torch_peer.cc); training card, beside the same
 * step on the CPU. Both end in a wait for the card, and read the loss of the last step. */
#include <string.h>

#include "../../lib/ferry.h"
#include "bench.h"

typedef struct network {
    fy_module *net;
    fy_optimizer *optimizer;
    fy_tensor *x, *y;
} network;

static network cpu, card;

static network make(const char *device)
{
    network n = {.x = fy_to(fy_randn((64, 784)), device), .y = fy_to(fy_randint((0, 10), (64)), device)};
    n.net = fy_sequential((fy_nn_linear(784, 256), fy_nn_relu(), fy_nn_linear(256, 10)));
    fy_module_to(n.net, device);
    n.optimizer = fy_optim_sgd(n.net, .lr = 0.01, .momentum = 0.9);
    return n;
}

static void train(const network *n, int count)
{
    FY_TIMES (i, count) {
        fy_tensor *loss = fy_cross_entropy(fy_call(n->net, n->x), n->y);
        fy_zero_grad(n->optimizer);
        fy_backward(loss);
        fy_step(n->optimizer);
        if (i == count - 1) fy_item(loss);
    }
}

static void on_cpu(int count) { train(&cpu, count); }
static void on_card(int count) { train(&card, count); }

/* PyTorch's figure, in ns; 0 if it was not measured. */
static double peer(const char *path)
{
    char line[100], found[60];
    double ns, result = 0;
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "%59s %lf", found, &ns) == 2 && strcmp(found, "mlp_step") == 0) result = ns;
    if (in) fclose(in);
    return result;
}

int main(int argc, char **argv)
{
    const char *what = "a traced step of an MLP, cpu";
    if (!bench_open_log("training")) return 1;
    cpu = make("cpu");
    double step = bench_ns(on_cpu, 30) / 1e6;
    if (argc > 1 && !strcmp(argv[1], "card")) {
        card = make("cuda");
        bench_row("a traced step of an MLP, simulated", "ms", bench_ns(on_card, 30) / 1e6, "its step on the CPU", step,
                  5);
        return 0;
    }
    double torch = peer(argc > 2 ? argv[2] : "/dev/null") / 1e6;
    if (torch > 0) bench_row(what, "ms", step, "PyTorch, untraced", torch, 0.8);
    else printf("%s\t-\t-\t-\t-\tPyTorch: make bench-peers, where libtorch-dev is installed\n", what);
    return 0;
}
