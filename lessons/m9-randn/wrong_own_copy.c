// Myth 9, on trial: "fy_randn with .device = "cuda" sends nothing over the bus, unlike fy_randn and
// then fy_to."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with x.
// The limit: 5 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    int64_t rows = fy_size(x, 0), columns = fy_size(x, 1);

    // --- your code ---
    // A copy of its own into what was made on the card.
    fy_mark("false");
    fy_tensor *born = fy_randn((rows, columns), .device = "cuda");
    fy_copy_(born, x);
    fy_tensor *carried = fy_to(fy_randn((rows, columns)), "cuda");
    // --- end ---
}
