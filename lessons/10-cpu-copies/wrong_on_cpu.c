// Lesson 10, your turn: relu(x) and x * x, computed on the card, both wanted in CPU RAM.
//
// The values are right. But three tensors of the size of x are in VRAM at once: x and both results.
// Two must be enough: the first result has to make room before the second one is computed.
// When you submit, nothing but x may be left on the card.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x"));

    // --- your code ---
    // No VRAM is needed when the CPU computes; but the card did nothing.
    fy_tensor *home = fy_cpu(x);
    fy_tensor *first = fy_relu(home);
    fy_tensor *second = fy_mul(home, home);
    // --- end ---

    fy_answer("first", first);
    fy_answer("second", second);
}
