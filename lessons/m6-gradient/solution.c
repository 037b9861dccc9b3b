// Myth 6, on trial: "The gradient of a leaf in CPU RAM that was used on the card by way of fy_to
// arrives in CPU RAM."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with w.
// The limit: 14 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *w = fy_given("w");
    fy_requires_grad_(w); // now w is a leaf: fy_backward stores a gradient for it

    // --- your code ---
    fy_mark("true");
    fy_tensor *g = fy_to(w, "cuda");
    fy_tensor *loss = fy_sum(fy_mul(g, g));
    fy_backward(loss);
    // --- end ---
}
