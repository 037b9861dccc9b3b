// Myth 1, on trial: "An in-place operation brings a tensor on the card back to the CPU."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // In place, but in CPU RAM: the tensor never went anywhere.
    fy_mark("false");
    fy_add_(x, 1.0);
    fy_tensor *g = fy_to(x, "cuda");
    // --- end ---
}
