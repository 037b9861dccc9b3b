// Myth 11, on trial: "Small data may be better on the CPU."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 8 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    fy_mark("true");
    // --- end ---
}
