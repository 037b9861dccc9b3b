#include <ferry.h>

int main(void)
{
    fy_tensor *x = fy_cuda(fy_given("x")); // one column, of float64: 8 bytes each
    fy_tensor *many = fy_ones((1, 65536), .dtype = FY_FLOAT64, .device = "cuda");
    fy_tensor *more = fy_ones((1, 81920), .dtype = FY_FLOAT64, .device = "cuda");

    // All columns, a sixteenth of them at a time, in the same memory.
    fy_tensor *first = fy_zeros((fy_size(x, 0)), .dtype = FY_FLOAT64, .device = "cuda"), *second = fy_zeros_like(first);
    FY_TIMES (i, 16) {
        fy_add_(first, fy_mul(fy_mean(fy_matmul(x, fy_narrow(many, 1, i * 4096, 4096)), (1)), 0.0625));
        fy_add_(second, fy_mul(fy_mean(fy_matmul(x, fy_narrow(more, 1, i * 5120, 5120)), (1)), 0.0625));
    }
    fy_cuda_empty_cache();

    fy_answer("y", fy_add(first, second));
}
