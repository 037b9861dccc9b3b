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
    // Needs no memory for the first result, but destroys x.
    fy_tensor *first = fy_cpu(fy_relu_(x));
    fy_tensor *square = fy_mul(x, x);
    fy_tensor *second = fy_cpu(square);
    fy_free(square);
    // --- end ---

    fy_answer("first", first);
    fy_answer("second", second);
}
