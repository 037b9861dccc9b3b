/* tensors.c: operations by Ferry and by PyTorch's C++ library, which torch_peer.cc measures in the same run. Usage:
 * tensors small|large PEERS, PEERS being its output. `small` runs with a log: a traced call is compared with PyTorch's,
 * which records nothing. */
#include <string.h>

#include "event.h"
#include "../../lib/ferry.h"
#include "log.h"
#include "bench.h"

static fy_tensor *small, *large, *rows;

#define REPEAT(name, call) \
    static void name(int count) \
    { \
        for (int i = 0; i < count; i++) FY_SCOPE \
            { \
                call; \
            } \
    }
REPEAT(add_small, fy_add(small, small))
REPEAT(add_large, fy_add(large, large))
REPEAT(sum_large, fy_sum(large))
REPEAT(exp_large, fy_exp(large))
REPEAT(softmax_rows, fy_softmax(rows, 1))

static const struct row {
    const char *peer, *what, *unit;
    void (*work)(int count);
    int count;
    double scale, goal;
} table[] = {
    {"add_4", "add of 4 floats, traced", "ns", add_small, 2000, 1, 0.6},
    {"add_10M", "add of 10 M floats", "ms", add_large, 5, 1e6, 1.0},
    {"sum_10M", "sum of 10 M floats", "ms", sum_large, 5, 1e6, 1.0},
    {"exp_10M", "exp of 10 M floats", "ms", exp_large, 5, 1e6, 1 / 0.7},
    {"softmax_10M", "softmax of 10 M floats", "ms", softmax_rows, 2, 1e6, 1 / 0.7},
};

/* PyTorch's figure, in ns; 0 if it was not measured. */
static double peer(const char *path, const char *name)
{
    char line[100], found[60];
    double ns, result = 0;
    FILE *in = fopen(path, "r");
    while (in && fgets(line, sizeof line, in))
        if (sscanf(line, "%59s %lf", found, &ns) == 2 && strcmp(found, name) == 0) result = ns;
    if (in) fclose(in);
    return result;
}

static void measure(const struct row *r, const char *path)
{
    double figure = peer(path, r->peer);
    if (figure <= 0) {
        printf("%s\t-\t-\t-\t-\tPyTorch: make bench-peers, where libtorch-dev is installed\n", r->what);
        return;
    }
    bench_row(r->what, r->unit, bench_ns(r->work, r->count) / r->scale, "PyTorch", figure / r->scale, r->goal);
}

int main(int argc, char **argv)
{
    bool traced = argc > 1 && strcmp(argv[1], "small") == 0;
    const char *path = argc > 2 ? argv[2] : "/dev/null";
    if (traced && !bench_open_log("tensors")) return 1;
    if (traced) {
        small = fy_ones((4));
        measure(&table[0], path);
        return 0;
    }
    large = fy_randn((10000000));
    rows = fy_view(large, (10000, 1000));
    for (size_t i = 1; i < sizeof table / sizeof *table; i++) measure(&table[i], path);
    return 0;
}
