// Myth 4, on trial: "fy_to always makes a new tensor."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 3 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // One tensor under two names, and no fy_to.
    fy_mark("false");
    fy_answer("one", x);
    fy_answer("other", x);
    // --- end ---
}
