// Myth 1, on trial: "An in-place operation brings a tensor on the card back to the CPU."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // The right experiment, and the verdict that it contradicts.
    fy_mark("true");
    fy_tensor *g = fy_to(x, "cuda");
    fy_add_(g, 1.0);
    // --- end ---
}
