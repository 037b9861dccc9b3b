// Myth 5, on trial: "The dtype must be converted before the copy, or the values differ."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with d.
// The limit: 6 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *d = fy_given("d"); // of dtype float64

    // --- your code ---
    // One order alone compares nothing.
    fy_mark("false");
    fy_tensor *late = fy_to(fy_to(d, "cuda"), FY_FLOAT32);
    fy_answer("late", late);
    // --- end ---
}
