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
    fy_to(mat1, "cuda");
    fy_to(mat2, "cuda");
    fy_tensor *c = fy_matmul(mat1, mat2);
    // --- end ---

    fy_tensor *y = fy_relu(fy_to(c, "cuda")); // is c there already? then this fy_to is free
    fy_answer("y", y);
}
