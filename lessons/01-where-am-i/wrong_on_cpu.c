// Lesson 1, your turn: let the card compute y = mat1 x w + b.
//
// The lesson provides mat1, in CPU RAM. You create w (all 0.5) and b (all 1).
// Only mat1 may cross the bus, once. Submit y where it was computed.
#include <ferry.h>

int main(void)
{
    fy_tensor *mat1 = fy_given("mat1");
    int64_t columns = fy_size(mat1, 1);

    // --- your code ---
    // The error goes away when everything stays on the CPU, and the numbers are right.
    fy_tensor *x = mat1;
    fy_tensor *w = fy_full((columns, 2), 0.5);
    fy_tensor *b = fy_ones((2));
    // --- end ---

    fy_tensor *xw = fy_matmul(x, w);
    fy_tensor *y = fy_add(xw, b);
    fy_answer("y", fy_to(y, "cuda"));
}
