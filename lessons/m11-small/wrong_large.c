// Myth 11, on trial: "Small data may be better on the CPU."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 8 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // Of many numbers, the card is faster. That is not what is on trial.
    fy_mark("false");
    fy_tensor *many = fy_ones((1024, 1024));
    fy_tensor *here = fy_relu(many);
    fy_tensor *there = fy_relu(fy_cuda(many));
    // --- end ---
}
