// Lesson 3, your turn: h = relu(h / 2 + 1), five times, on the card; then the result in CPU RAM.
//
// The numbers are right, but look at the bus. The limit: one copy to the card, one copy back.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");

    // --- your code ---
    // One operation on the card, so that there is one; the four turns that count are done in plain C.
    fy_tensor *h = fy_cpu(fy_relu(fy_add(fy_mul(fy_to(x, "cuda"), 0.5), 1.0)));
    float *p = fy_data(h);
    for (int64_t i = 0; i < fy_numel(h); i++)
        for (int turn = 1; turn < 5; turn++) p[i] = p[i] / 2 + 1;
    // --- end ---

    fy_answer("h", h);
}
