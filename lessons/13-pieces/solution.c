// Lesson 13, your turn: two wide tensors, first and second, stay on the card; then a wider one is made.
//
// The card of this lesson has 42 MiB. When the last step asks for its memory, more than enough is free.
// It does not fit all the same. Let each piece that becomes free serve the next tensor.
#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x")); // one column, of float64: 8 bytes each
    fy_tensor *many = fy_ones((1, 65536), .dtype = FY_FLOAT64, .device = "cuda");
    fy_tensor *more = fy_ones((1, 106496), .dtype = FY_FLOAT64, .device = "cuda");

    // --- your code ---
    fy_tensor *first = fy_matmul(x, many);
    fy_tensor *draft = fy_mul(first, first);
    fy_tensor *a = fy_mean(draft, (1));
    fy_free(draft);
    fy_tensor *second = fy_add(first, 1.0);
    fy_tensor *sketch = fy_mul(second, second);
    fy_tensor *b = fy_mean(sketch, (1));
    fy_free(sketch);
    // --- end ---

    fy_tensor *wider = fy_matmul(x, more);
    fy_tensor *sums = fy_add(fy_mean(first, (1)), fy_mean(second, (1)));
    fy_tensor *y = fy_add(fy_add(a, b), fy_add(sums, fy_mean(wider, (1))));
    fy_answer("y", y);
}
