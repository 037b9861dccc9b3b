/* Lesson 1: the first row goes to the card as the last one, and y is put right there. */
#include <ferry.h>

int main(void)
{
    fy_tensor *mat1 = fy_given("mat1");
    int64_t rows = fy_size(mat1, 0), columns = fy_size(mat1, 1);
    fy_tensor *x = fy_to(fy_cat((fy_narrow(mat1, 0, 1, rows - 1), fy_narrow(mat1, 0, 0, 1)), 0), "cuda");
    fy_tensor *w = fy_full((columns, 2), 0.5, .device = "cuda"), *b = fy_ones((2), .device = "cuda");
    fy_tensor *y = fy_add(fy_matmul(x, w), b);
    fy_answer("y", fy_cat((fy_narrow(y, 0, rows - 1, 1), fy_narrow(y, 0, 0, rows - 1)), 0));
}
