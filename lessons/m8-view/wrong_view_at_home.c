// Myth 8, on trial: "A view of a tensor on the card must be moved to the card again."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // A view in CPU RAM, which is then copied.
    fy_mark("true");
    fy_tensor *top = fy_narrow(x, 0, 0, 2);
    fy_tensor *y = fy_relu(fy_to(top, "cuda"));
    // --- end ---
}
