// Lesson 2, your turn: let the card compute c = mat1 x mat2.
//
// Nothing here is an error, and the numbers are right. But look where fy_matmul runs, and what
// happens to the two copies. Each input may cross the bus once, and each copy must be used.
#include <ferry.h>

int main(void)
{
    fy_tensor *mat1 = fy_given("mat1");
    fy_tensor *mat2 = fy_given("mat2");

    // --- your code ---
    // The product in plain C, into the bytes of a tensor in CPU RAM; the card only copies it.
    int64_t rows = fy_size(mat1, 0), inner = fy_size(mat1, 1), columns = fy_size(mat2, 1);
    fy_tensor *flat = fy_view(fy_to(fy_to(mat1, "cuda"), "cpu"), (-1));
    fy_tensor *c = fy_view(fy_narrow(flat, 0, 0, rows * columns), (rows, columns));
    float *a = fy_data(mat1), *b = fy_data(mat2), *to = fy_data(c);
    for (int64_t at = 0; at < rows * columns; at++) {
        float sum = 0;
        for (int64_t k = 0; k < inner; k++) sum += a[at / columns * inner + k] * b[k * columns + at % columns];
        to[at] = sum;
    }
    // --- end ---

    fy_tensor *y = fy_relu(fy_to(c, "cuda")); // is c there already? then this fy_to is free
    fy_answer("y", y);
}
