// Myth 10, on trial: "A page-locked tensor is on the card."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    fy_mark("false");
    fy_tensor *locked = fy_pin_memory(x);
    fy_tensor *y = fy_relu(locked);
    // --- end ---
}
