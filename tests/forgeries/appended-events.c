/* 01 | fails | log-is-possible | work on the CPU, then events of work on the card, written by calling the library's own
 * writer */
#include <ferry.h>

unsigned long fy_emit(void *at, int kind, const void *record, unsigned long bytes);
unsigned fy_ref_str(const char *text), fy_ref_bytes(const void *p, unsigned long bytes);

struct __attribute__((packed)) op {
    unsigned char empty;
    unsigned id, name;
    unsigned char device;
    long stream;
    unsigned in, out;
    unsigned char dtype;
    long flops, bytes;
    unsigned kernel, grid[3], block[3], blas;
    long held;
    unsigned char inplace;
};

int main(void)
{
    fy_tensor *mat1 = fy_given("mat1"), *w = fy_full((fy_size(mat1, 1), 2), 0.5);
    fy_tensor *xw = fy_matmul(mat1, w), *y = fy_to(fy_add(xw, fy_ones((2))), "cuda");
    unsigned use[3] = {9, 9, 1};
    struct op op = {
        .id = 90, .name = fy_ref_str("matmul"), .device = 1, .in = fy_ref_bytes(use, 12), .out = fy_ref_bytes(use, 12)};
    fy_emit(0, 12, &op, sizeof op);
    fy_answer("y", y);
}
