// Myth 7, on trial: "When a tensor goes to the card, its bytes leave CPU RAM."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // Before the copy the bytes are there in any case.
    fy_mark("false");
    fy_print(x);
    fy_tensor *g = fy_to(x, "cuda");
    // --- end ---
}
