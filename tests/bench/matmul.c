/* matmul.c: matrix products by Ferry and by the BLAS routine that it calls. */
#if __has_include(<cblas.h>)
#include <cblas.h>
#else
#include <openblas/cblas.h> /* Fedora */
#endif

#include "../../lib/ferry.h"
#include "bench.h"

static int n;
static fy_tensor *a, *b;
static float *x, *y, *z;

static void multiply_by_ferry(int count)
{
    for (int i = 0; i < count; i++) {
        FY_SCOPE { fy_matmul(a, b); }
    }
}

static void multiply_by_blas(int count)
{
    for (int i = 0; i < count; i++)
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, n, n, 1, x, n, y, n, 0, z, n);
}

static float *filled_matrix(void)
{
    float *p = malloc(sizeof(float) * (size_t)n * (size_t)n);
    if (!p) exit(1);
    for (int i = 0; i < n * n; i++) p[i] = (float)(i % 17) / 16;
    return p;
}

static void compare(int size, int count)
{
    char what[40];
    n = size;
    a = fy_randn((n, n));
    b = fy_randn((n, n));
    x = filled_matrix(), y = filled_matrix(), z = filled_matrix();
    snprintf(what, sizeof what, "matmul %d, cpu", size);
    bench_row(what, "us", bench_ns(multiply_by_ferry, count) / 1e3, "cblas_sgemm",
              bench_ns(multiply_by_blas, count) / 1e3, 1 / 0.95);
    fy_free(a), fy_free(b);
    free(x), free(y), free(z);
}

int main(void)
{
    compare(256, 16);
    compare(512, 4);
    compare(1024, 1);
    compare(2048, 1);
    return 0;
}
