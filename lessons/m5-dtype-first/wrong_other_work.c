// Myth 5, on trial: "The dtype must be converted before the copy, or the values differ."
//
// True or false? Say it with fy_mark. Below it, write the few lines whose events prove it, with d.
// The limit: 6 copies and operations.
#include <ferry.h>

int main(void)
{
    fy_tensor *d = fy_given("d"); // of dtype float64

    // --- your code ---
    // The values differ, but not by the order.
    fy_mark("true");
    fy_tensor *early = fy_to(fy_to(d, FY_FLOAT32), "cuda");
    fy_tensor *late = fy_to(fy_to(d, "cuda"), FY_FLOAT32);
    fy_answer("early", early);
    fy_answer("late", fy_mul(late, 2.0));
    // --- end ---
}
