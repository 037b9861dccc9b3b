// Myth 7, on trial: "When a tensor goes to the card, its bytes leave CPU RAM."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 4 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // The program itself gave the memory back.
    fy_mark("true");
    fy_tensor *g = fy_to(x, "cuda");
    fy_free(x);
    // --- end ---
}
