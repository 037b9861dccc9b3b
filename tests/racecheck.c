/* racecheck.c: on the card, the kernels that the oracle's cases and tests/gpu/ops.c do not reach: long rows and their
 * gradients, reductions that several blocks share, random numbers. Linked with kernels that the race checker watches
 * (kernels/racecheck.cc); their values are other tests' concern. */
#include <ferry.h>

enum { RUN = 20000 }; /* more than two blocks' share of a reduction */

static void differentiate(fy_tensor *result) { fy_backward(fy_sum(fy_mul(result, result))); }

static void try_rows(int64_t rows, int64_t n, fy_dtype dtype)
{
    fy_tensor *x = fy_randn((rows, n), .device = "cuda", .dtype = dtype, .requires_grad = true);
    fy_tensor *classes = fy_randint((0, n), (rows), .device = "cuda");
    differentiate(fy_softmax(x, 1));
    differentiate(fy_log_softmax(x, 1));
    differentiate(fy_layer_norm(x, (n)));
    fy_backward(fy_cross_entropy(x, classes));
    fy_cumsum(x, 1);
    fy_sum(x, (1));
    fy_var(x, (1));
}

static void try_products(fy_dtype dtype)
{
    fy_tensor *a = fy_randn((33, 40), .device = "cuda", .dtype = dtype);
    fy_tensor *b = fy_randn((40, 19), .device = "cuda", .dtype = dtype);
    fy_tensor *c = fy_randn((33, 19), .device = "cuda", .dtype = dtype);
    fy_addmm(c, a, b);
    fy_matmul(a, b);
}

static void try_random(fy_dtype dtype)
{
    fy_tensor *x = fy_empty((RUN), .device = "cuda", .dtype = dtype);
    fy_uniform_(x, 0, 1);
    fy_normal_(x, 0, 1);
    fy_bernoulli_(x, 0.5);
    fy_dropout(x, 0.5);
}

/* Of a whole long tensor. */
static void try_run(fy_dtype dtype)
{
    fy_tensor *x = fy_ones((RUN), .device = "cuda", .dtype = dtype);
    fy_sum(x);
    fy_max(x);
    fy_argmin(x);
    fy_any(x);
    fy_prod(x);
    fy_nonzero(x);
}

int main(void)
{
    static const fy_dtype reals[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            try_rows(3, 600, reals[i]);
            try_rows(40, 20, reals[i]);
            try_products(reals[i]);
            try_random(reals[i]);
            try_run(reals[i]);
            fy_norm(fy_ones((RUN), .device = "cuda", .dtype = reals[i]));
        }
    try_run(FY_INT64);
    fy_arange((RUN), .device = "cuda");
    fy_linspace((0, 1, RUN), .device = "cuda");
    fy_randperm((100), .device = "cuda");
    fy_randperm((RUN), .device = "cuda");
    fy_cuda_synchronize();
    return 0;
}
