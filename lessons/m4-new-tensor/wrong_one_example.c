// Myth 4, on trial: "fy_to always makes a new tensor."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 3 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // One call that makes a new tensor does not prove "always".
    fy_mark("true");
    fy_tensor *g = fy_to(x, "cuda");
    fy_answer("x", x);
    fy_answer("g", g);
    // --- end ---
}
