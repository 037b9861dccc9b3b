// Myth 3, on trial: "Printing a tensor that is on the card copies bytes over the bus."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // Nothing shows whether something is copied: an empty tensor has no bytes.
    fy_mark("false");
    fy_tensor *g = fy_to(x, "cuda");
    fy_print(fy_narrow(g, 0, 0, 0));
    // --- end ---
}
