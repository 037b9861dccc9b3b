// Myth 2, on trial: "All tensors must be moved to the card before an operation there can use them."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 5 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *total = fy_sum(x); // a 0-dim tensor

    // --- your code ---
    // The 0-dim tensor was brought to the card first.
    fy_mark("false");
    fy_tensor *g = fy_to(x, "cuda");
    fy_tensor *shares = fy_mul(g, fy_to(total, "cuda"));
    // --- end ---
}
