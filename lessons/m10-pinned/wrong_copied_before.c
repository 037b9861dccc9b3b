// Myth 10, on trial: "A page-locked tensor is on the card."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // The wrong verdict, about a tensor that was copied to the card.
    fy_mark("true");
    fy_tensor *y = fy_relu(fy_to(x, "cuda"));
    // --- end ---
}
