#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_given("x");
    fy_tensor *start = fy_given("start");
    int64_t rows = fy_size(start, 0); // a quarter of the rows of x
    fy_tensor *there = fy_zeros((rows, fy_size(x, 1)), .device = "cuda");

    // Nothing is page-locked, and no byte is sent twice.
    fy_tensor *total = fy_to(start, "cuda");
    for (int part = 0; part < 4; part++) {
        fy_copy_(there, fy_narrow(x, 0, part * rows, rows));
        for (int epoch = 0; epoch < 10; epoch++) fy_add_(total, there);
    }

    fy_answer("total", total);
}
