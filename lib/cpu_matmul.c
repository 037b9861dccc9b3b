/* cpu_matmul.c: matrix products on the host: OpenBLAS for floats, plain loops for integers. */
#if __has_include(<cblas.h>)
#include <cblas.h>
#else
#include <openblas/cblas.h> /* Fedora's place */
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"

/* A matrix as BLAS wants it: row-major, or the transpose of one, with a step between rows. */
typedef struct matrix {
    const float *data;
    CBLAS_TRANSPOSE transposed;
    int step;
    float *packed; /* free it */
} matrix;

static int64_t at_least_1(int64_t n) { return n > 1 ? n : 1; }

static void *copy_rows(const fy_operand *x)
{
    int64_t rows = x->layout.shape[0], columns = x->layout.shape[1];
    const float *from = x->data;
    float *to = malloc((size_t)at_least_1(rows * columns) * sizeof *to);
    if (!to) {
        fputs("ferry: no memory to lay out a matrix for BLAS\n", stderr);
        exit(1);
    }
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++)
            to[i * columns + j] = from[i * x->layout.strides[0] + j * x->layout.strides[1]];
    return to;
}

/* A transposed view needs no copy; other strides (narrowed columns both ways, stride 0) do. */
static matrix matrix_of(const fy_operand *x)
{
    int64_t rows = x->layout.shape[0], columns = x->layout.shape[1];
    int64_t down = x->layout.strides[0], right = x->layout.strides[1];
    if (rows <= 1) down = at_least_1(columns); /* the step of a size of 1 is never taken */
    if (columns <= 1) right = right == 1 || rows <= 1 ? 1 : right;
    if (right == 1 && down >= at_least_1(columns) && down <= INT_MAX)
        return (matrix){x->data, CblasNoTrans, (int)down, NULL};
    if (columns <= 1) right = at_least_1(rows);
    if (down == 1 && right >= at_least_1(rows) && right <= INT_MAX)
        return (matrix){x->data, CblasTrans, (int)right, NULL};
    float *packed = copy_rows(x);
    return (matrix){packed, CblasNoTrans, (int)at_least_1(columns), packed};
}

static bool fits_blas(const fy_operand *x) { return x->layout.shape[0] <= INT_MAX && x->layout.shape[1] <= INT_MAX; }

/* out[i][j] = sum over l of a[i][l] b[l][j], in the order of l. */
#define PRODUCT(name, T, Sum) \
    static void name(const fy_run_work *w) \
    { \
        const fy_layout *a = &w->in[0].layout, *b = &w->in[1].layout; \
        const T *pa = w->in[0].data, *pb = w->in[1].data; \
        T *out = w->out.data; \
        for (int64_t i = 0; i < a->shape[0]; i++) \
            for (int64_t j = 0; j < b->shape[1]; j++) { \
                Sum dot = 0; \
                for (int64_t l = 0; l < a->shape[1]; l++) \
                    dot += (Sum)pa[i * a->strides[0] + l * a->strides[1]] * \
                           (Sum)pb[l * b->strides[0] + j * b->strides[1]]; \
                *out++ = (T)dot; \
            } \
    }

PRODUCT(product_f32, float, double)
PRODUCT(product_i64, int64_t, uint64_t) /* wraps */

void fy_host_matmul_f32(fy_run_work *w)
{
    int64_t n = w->in[0].layout.shape[0], k = w->in[0].layout.shape[1], m = w->in[1].layout.shape[1];
    if (k == 0 || !fits_blas(&w->in[0]) || !fits_blas(&w->in[1])) {
        product_f32(w);
        return;
    }
    matrix a = matrix_of(&w->in[0]), b = matrix_of(&w->in[1]);
    cblas_sgemm(CblasRowMajor, a.transposed, b.transposed, (int)n, (int)m, (int)k, 1, a.data, a.step, b.data, b.step, 0,
                w->out.data, (int)m);
    w->blas = "cblas_sgemm";
    free(a.packed);
    free(b.packed);
}

void fy_host_matmul_i64(fy_run_work *w) { product_i64(w); }
