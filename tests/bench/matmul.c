/* matmul.c: a matrix product through Ferry beside the BLAS routine that does the work, and the cost of
 * a call on a tiny tensor. */
#if __has_include(<cblas.h>)
#include <cblas.h>
#else
#include <openblas/cblas.h> /* Fedora's place */
#endif

#include "../../lib/ferry.h"
#include "bench.h"

enum { N = 512 };

static fy_tensor *a, *b, *small;
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
        cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, N, N, N, 1, x, N, y, N, 0, z, N);
}

static void add_small(int count)
{
    for (int i = 0; i < count; i++) {
        FY_SCOPE { fy_add(small, small); }
    }
}

static float *room(void)
{
    float *p = malloc(sizeof(float) * N * N);
    if (!p) exit(1);
    for (int i = 0; i < N * N; i++) p[i] = (float)(i % 17) / 16;
    return p;
}

int main(int argc, char **argv)
{
    a = fy_randn((N, N));
    b = fy_randn((N, N));
    small = fy_ones((8));
    x = room(), y = room(), z = room();
    bench_row("matmul 512, cpu", "us", bench_ns(multiply_by_ferry, 4) / 1e3, "cblas_sgemm",
              bench_ns(multiply_by_blas, 4) / 1e3, 1.15);
    double torch = argc > 1 ? strtod(argv[1], NULL) : 0;
    if (torch > 0) bench_row("add of 8 floats, cpu", "ns", bench_ns(add_small, 20000), "PyTorch", torch, 1);
    return 0;
}
