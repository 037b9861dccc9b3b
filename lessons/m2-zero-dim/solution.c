// Myth 2, on trial: "A 0-dim tensor in CPU RAM may be combined with a tensor on the card."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 5 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *total = fy_sum(x); // a 0-dim tensor

    // --- your code ---
    fy_mark("true");
    fy_tensor *g = fy_to(x, "cuda");
    fy_tensor *shares = fy_mul(g, total);
    // --- end ---
}
