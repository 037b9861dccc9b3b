// Myth 5, on trial: "The dtype must be converted before the copy, or the values differ."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with d.
// The limit: 6 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *d = fy_given("d"); // of dtype float64

    // --- your code ---
    fy_mark("true or false"); // one of the two words: what do you say?
    // --- end ---
}
