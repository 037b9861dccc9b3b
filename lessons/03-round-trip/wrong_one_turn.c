// Lesson 3, your turn: h = relu(h / 2 + 1), five times, on the card; then the result in CPU RAM.
//
// The numbers are right, but look at the bus. The limit: one copy to the card, one copy back.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // Within the limit, because the work of four turns is missing.
    fy_tensor *h = fy_to(x, "cuda");
    h = fy_relu(fy_add(fy_mul(h, 0.5), 1.0));
    h = fy_to(h, "cpu");
    // --- end ---

    fy_answer("h", h);
}
