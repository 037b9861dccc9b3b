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

/* Parts, elements by their index, and order. */
static void try_index(int64_t n, int64_t k, fy_dtype dtype)
{
    fy_tensor *a = fy_to(fy_mul(fy_randn((n, k)), 8), dtype), *x = fy_cuda(a), *i = fy_randint((0, n), (n + 3)),
              *g = NULL;
    fy_tensor *at = fy_randint((0, k), (n, k)), *j = fy_cuda(i), *there = fy_cuda(at), *h = NULL;
    compare("repeat", fy_repeat(x, (2, 3)), fy_repeat(a, (2, 3)));
    compare("index_select", fy_index_select(x, 0, j), fy_index_select(a, 0, i));
    compare("embedding", fy_embedding(x, j), fy_embedding(a, i));
    compare("gather", fy_gather(x, 1, there), fy_gather(a, 1, at));
    compare("scatter_add", fy_scatter_add_(fy_clone(x), 1, there, x), fy_scatter_add_(fy_clone(a), 1, at, a));
    compare("cumsum", fy_cumsum(x, 0), fy_cumsum(a, 0));
    compare("sort", fy_sort(x, 1, .indices = &h), fy_sort(a, 1, .indices = &g));
    compare("its indices", h, g);
    compare("sort of columns", fy_sort(x, 0, .descending = true), fy_sort(a, 0, .descending = true));
    compare("topk", fy_topk(x, 1), fy_topk(a, 1));
    compare("nonzero", fy_nonzero(fy_to(x, FY_INT64)), fy_nonzero(fy_to(a, FY_INT64)));
    compare("masked_select", fy_masked_select(x, fy_gt(x, 0)), fy_masked_select(a, fy_gt(a, 0)));
    compare("index", fy_index(x, fy_gt(fy_select(x, 1, 0), 0)), fy_index(a, fy_gt(fy_select(a, 1, 0), 0)));
}

int main(void)
{
    static const int64_t sizes[][3] = {{1, 1, 1}, {3, 5, 2}, {16, 16, 16}, {33, 17, 40}, {257, 3, 5}};
    for (int i = 0; i < 5; i++) FY_SCOPE
        {
            try_size(sizes[i][0], sizes[i][1], sizes[i][2], FY_FLOAT32);
            try_size(sizes[i][0], sizes[i][1], sizes[i][2], FY_INT64);
            try_index(sizes[i][0], sizes[i][1], FY_FLOAT32);
            try_index(sizes[i][0], sizes[i][1], FY_INT64);
        }
    compare("full", fy_full((7, 9), 2.5, .device = "cuda"), fy_full((7, 9), 2.5));
    compare("arange", fy_arange((3, 300, 7), .device = "cuda"), fy_arange((3, 300, 7)));
    fy_manual_seed(1);
    fy_print(fy_randn((6), .device = "cuda")); /* the same on every card */
    return wrong != 0;
}
