/* Every operation on the card against the same on the CPU, in odd sizes and layouts. Prints a line for
 * each and what differs; exits with 1 if anything does. Part of `make gpu-check`. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ferry.h>

static int wrong;

/* Are the elements equal, up to rounding? */
static void compare(const char *what, fy_tensor *on_card, fy_tensor *on_cpu)
{
    fy_tensor *home = fy_contiguous(fy_cpu(on_card)), *here = fy_contiguous(on_cpu);
    int64_t n = fy_numel(here), bad = fy_numel(home) != n || fy_dtype_of(home) != fy_dtype_of(here);
    const float *a = fy_data(home), *b = fy_data(here);
    const int64_t *c = fy_data(home), *d = fy_data(here);
    for (int64_t i = 0; i < n && !bad; i++)
        bad = fy_dtype_of(here) == FY_INT64 ? c[i] != d[i] : !(fabsf(a[i] - b[i]) <= 1e-4f + 1e-4f * fabsf(b[i]));
    printf("%s: %s\n", what, bad ? "differs" : "equal");
    wrong += bad != 0;
}

static void try_size(int64_t n, int64_t k, int64_t m, fy_dtype dtype)
{
    fy_tensor *a = fy_to(fy_mul(fy_randn((n, k)), 8), dtype), *b = fy_to(fy_mul(fy_randn((k, m)), 8), dtype);
    fy_tensor *row = fy_to(fy_randn((k)), dtype), *x = fy_cuda(a), *y = fy_cuda(b), *r = fy_cuda(row);
    printf("%s %d x %d x %d\n", fy_dtype_name(dtype), (int)n, (int)k, (int)m);
    compare("add", fy_add(x, r), fy_add(a, row));
    compare("add a number", fy_add(x, 3), fy_add(a, 3));
    compare("mul", fy_mul(x, x), fy_mul(a, a));
    compare("relu", fy_relu(x), fy_relu(a));
    compare("clone of a transpose", fy_contiguous(fy_t(x)), fy_contiguous(fy_t(a)));
    compare("cast", fy_to(x, FY_INT64), fy_to(a, FY_INT64));
    compare("cast back", fy_to(fy_to(x, FY_INT64), FY_FLOAT32), fy_to(fy_to(a, FY_INT64), FY_FLOAT32));
    compare("sum", fy_sum(x), fy_sum(a));
    if (dtype == FY_INT64) return; /* products of integers are the CPU's alone, as in PyTorch */
    compare("matmul", fy_matmul(x, y), fy_matmul(a, b));
    compare("matmul of transposes", fy_matmul(fy_t(y), fy_t(x)), fy_matmul(fy_t(b), fy_t(a)));
}

int main(void)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {16, 16, 16}, {33, 17, 40}, {257, 3, 5}};
    for (int i = 0; i < 5; i++) FY_SCOPE
        {
            try_size(sizes[i][0], sizes[i][1], sizes[i][2], FY_FLOAT32);
            try_size(sizes[i][0], sizes[i][1], sizes[i][2], FY_INT64);
        }
    compare("full", fy_full((7, 9), 2.5, .device = "cuda"), fy_full((7, 9), 2.5));
    compare("arange", fy_arange((3, 300, 7), .device = "cuda"), fy_arange((3, 300, 7)));
    fy_manual_seed(1);
    fy_print(fy_randn((6), .device = "cuda")); /* the same on every card */
    return wrong != 0;
}
