// Myth 11, on trial: "Small data may be better on the CPU."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 8 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // Few numbers, each of them read very often: that is much work, and no small data.
    fy_mark("false");
    fy_tensor *g = fy_cuda(x);
    fy_tensor *here = fy_sum(fy_expand(fy_view(x, (fy_numel(x), 1)), (-1, 100000)), (1));
    fy_tensor *there = fy_sum(fy_expand(fy_view(g, (fy_numel(x), 1)), (-1, 100000)), (1));
    // --- end ---
}
