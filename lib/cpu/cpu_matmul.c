/* cpu_matmul.c: matmul and addmm on the host, one matrix product at a time: OpenBLAS for floats, plain loops for
 * integers. 16-bit floats are multiplied as float32 and rounded once. */
#include "cpu.h"
#include "dtype.h"
#include "half.h"
#include "op.h"
#include "out_of_memory.h"
#include "run_work.h"

#if __has_include(<cblas.h>)
#include <cblas.h>
#else
#include <openblas/cblas.h> /* Fedora's path */
#endif
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* A matrix of any layout; steps in elements. */
typedef struct matrix {
    void *data;
    int64_t rows, columns, down, right;
} matrix;

/* out = alpha * a @ b + beta * out; the integer factors are for integers, which wrap around. */
typedef struct product {
    matrix a, b, out;
    double alpha, beta;
    int64_t whole_alpha, whole_beta;
} product;

static int64_t at_least_1(int64_t n) { return n > 1 ? n : 1; }

static void *room(int64_t elements, size_t size)
{
    void *p = malloc((size_t)at_least_1(elements) * size);
    if (!p) fy_out_of_memory("a matrix laid out for BLAS");
    return p;
}

/* ---- floats: by BLAS ------------------------------------------------------------------------------- */

/* A matrix as BLAS takes it: row-major, or the transpose of one, with a step between rows. */
typedef struct walk {
    const void *data;
    CBLAS_TRANSPOSE transposed;
    int step;
    void *packed; /* free it */
} walk;

#define PACK(T, name) \
    static void *pack_##name(const matrix *x) \
    { \
        const T *from = x->data; \
        T *to = room(x->rows * x->columns, sizeof *to), *next = to; \
        for (int64_t i = 0; i < x->rows; i++) \
            for (int64_t j = 0; j < x->columns; j++) *next++ = from[i * x->down + j * x->right]; \
        return to; \
    }
PACK(float, f32)
PACK(double, f64)

/* A transposed view needs no copy; other strides (narrowed columns both ways, stride 0) do. */
static walk walk_of(const matrix *x, bool wide)
{
    int64_t down = x->rows > 1 ? x->down : at_least_1(x->columns); /* the step of a size of 1 is never taken */
    int64_t right = x->columns > 1 ? x->right : 1;
    if (right == 1 && down >= at_least_1(x->columns) && down <= INT_MAX)
        return (walk){x->data, CblasNoTrans, (int)down, NULL};
    right = x->columns > 1 ? x->right : at_least_1(x->rows);
    down = x->rows > 1 ? x->down : 1;
    if (down == 1 && right >= at_least_1(x->rows) && right <= INT_MAX)
        return (walk){x->data, CblasTrans, (int)right, NULL};
    void *packed = wide ? pack_f64(x) : pack_f32(x);
    return (walk){packed, CblasNoTrans, (int)at_least_1(x->columns), packed};
}

/* One column on the right: gemv is faster than gemm. */
static void gemv(const walk *a, const product *p, bool wide)
{
    bool turned = a->transposed == CblasTrans;
    int rows = (int)(turned ? p->a.columns : p->a.rows), columns = (int)(turned ? p->a.rows : p->a.columns);
    int step_b = p->b.rows > 1 ? (int)p->b.down : 1, step_out = p->out.rows > 1 ? (int)p->out.down : 1;
    /* beta 0 must ignore out's old contents, but some versions of gemv multiply them by 0, which keeps a NaN. */
    int64_t size = wide ? sizeof(double) : sizeof(float);
    for (int64_t i = 0; i < p->out.rows && p->beta == 0; i++)
        memset((char *)p->out.data + i * p->out.down * size, 0, (size_t)size);
    fy_blas_begin();
    if (wide)
        cblas_dgemv(CblasRowMajor, a->transposed, rows, columns, p->alpha, a->data, a->step, p->b.data, step_b, p->beta,
                    p->out.data, step_out);
    else
        cblas_sgemv(CblasRowMajor, a->transposed, rows, columns, (float)p->alpha, a->data, a->step, p->b.data, step_b,
                    (float)p->beta, p->out.data, step_out);
    fy_blas_end();
}

static void gemm(const product *p, bool wide)
{
    walk a = walk_of(&p->a, wide);
    /* BLAS takes no vector with a stride of 0 or less. */
    bool is_vector = p->b.rows == 1 || (p->b.down > 0 && p->b.down <= INT_MAX);
    if (p->b.columns == 1 && p->a.columns > 0 && is_vector && p->out.down > 0) {
        gemv(&a, p, wide);
        free(a.packed);
        return;
    }
    walk b = walk_of(&p->b, wide);
    int n = (int)p->a.rows, k = (int)p->a.columns, m = (int)p->b.columns, step = (int)at_least_1(p->out.down);
    fy_blas_begin();
    if (wide)
        cblas_dgemm(CblasRowMajor, a.transposed, b.transposed, n, m, k, p->alpha, a.data, a.step, b.data, b.step,
                    p->beta, p->out.data, step);
    else
        cblas_sgemm(CblasRowMajor, a.transposed, b.transposed, n, m, k, (float)p->alpha, a.data, a.step, b.data, b.step,
                    (float)p->beta, p->out.data, step);
    fy_blas_end();
    free(a.packed);
    free(b.packed);
}

/* ---- integers, and floats too few for BLAS ---------------------------------------------------------- */

/* Goes through b row by row, along memory. U: the type of the computation; unsigned for integers, which wrap around.
 * With beta 0 the old contents of out are ignored. */
#define PLAIN(T, U, name, given_alpha, given_beta) \
    static void plain_##name(const product *p) \
    { \
        U alpha = (U)p->given_alpha, beta = (U)p->given_beta; \
        for (int64_t i = 0; i < p->a.rows; i++) { \
            const T *a = (const T *)p->a.data + i * p->a.down; \
            T *out = (T *)p->out.data + i * p->out.down; \
            for (int64_t j = 0; j < p->b.columns; j++) out[j] = beta == 0 ? 0 : (T)(U)(beta * (U)out[j]); \
            for (int64_t l = 0; l < p->a.columns; l++) { \
                U factor = (U)(alpha * (U)a[l * p->a.right]); \
                const T *b = (const T *)p->b.data + l * p->b.down; \
                for (int64_t j = 0; j < p->b.columns; j++) out[j] = (T)(U)((U)out[j] + factor * (U)b[j * p->b.right]); \
            } \
        } \
    }
PLAIN(int64_t, uint64_t, i64, whole_alpha, whole_beta)
PLAIN(int32_t, uint32_t, i32, whole_alpha, whole_beta)
PLAIN(uint8_t, uint32_t, u8, whole_alpha, whole_beta)
PLAIN(float, float, f32, alpha, beta)
PLAIN(double, double, f64, alpha, beta)

/* BLAS leaves out unchanged if the inner size is 0; for small sizes the call costs more than the work. */
static bool is_small(const product *p)
{
    return p->a.columns == 0 || (p->a.columns <= 8 && p->a.rows <= 8 && p->b.columns <= 8) || p->a.rows > INT_MAX ||
           p->a.columns > INT_MAX || p->b.columns > INT_MAX;
}

/* ---- 16-bit floats: as float32 ------------------------------------------------------------------- */

static matrix floats_for(const matrix *x)
{
    return (matrix){room(x->rows * x->columns, sizeof(float)), x->rows, x->columns, x->columns, 1};
}

static matrix widened(const matrix *x, fy_dtype d)
{
    matrix to = floats_for(x);
    float *next = to.data;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->columns; j++) {
            int64_t at = i * x->down + j * x->right;
            *next++ =
                d == FY_FLOAT16 ? fy_half_float(((fy_half *)x->data)[at]) : fy_bfloat_float(((fy_bfloat *)x->data)[at]);
        }
    return to;
}

static void narrow(const matrix *from, const matrix *x, fy_dtype d)
{
    const float *next = from->data;
    for (int64_t i = 0; i < x->rows; i++)
        for (int64_t j = 0; j < x->columns; j++, next++) {
            int64_t at = i * x->down + j * x->right;
            if (d == FY_FLOAT16) ((fy_half *)x->data)[at] = fy_half_of((double)*next);
            else ((fy_bfloat *)x->data)[at] = fy_bfloat_of_float(*next);
        }
}

static void gemm_16(const product *p, fy_dtype d)
{
    product wide = *p;
    wide.a = widened(&p->a, d);
    wide.b = widened(&p->b, d);
    wide.out = p->beta != 0 ? widened(&p->out, d) : floats_for(&p->out); /* with beta 0 out is uninitialized */
    if (is_small(&wide)) plain_f32(&wide);
    else gemm(&wide, false);
    narrow(&wide.out, &p->out, d);
    free(wide.a.data);
    free(wide.b.data);
    free(wide.out.data);
}

/* ---- batches of matrices --------------------------------------------------------------------------- */

/* Matrix i of a batch, in row-major order of the batch dimensions. */
static matrix matrix_of(const fy_operand *x, int64_t i)
{
    const fy_layout *l = &x->layout;
    int row = l->ndim - 2;
    int64_t offset = 0;
    for (int d = row - 1; d >= 0; d--) {
        offset += i % l->shape[d] * l->strides[d];
        i /= l->shape[d];
    }
    return (matrix){(char *)x->data + offset * (int64_t)fy_dtype_size(x->dtype), l->shape[row], l->shape[row + 1],
                    l->strides[row], l->strides[row + 1]};
}

static void one_product(const product *p, fy_dtype d)
{
    switch (d) {
    case FY_FLOAT32: is_small(p) ? plain_f32(p) : gemm(p, false); break;
    case FY_FLOAT64: is_small(p) ? plain_f64(p) : gemm(p, true); break;
    case FY_FLOAT16:
    case FY_BFLOAT16: gemm_16(p, d); break;
    case FY_INT32: plain_i32(p); break;
    case FY_INT64: plain_i64(p); break;
    default: plain_u8(p); break;
    }
}

/* A batch times one matrix is one tall product, if the strides permit. */
static bool is_tall(const fy_layout *a, const fy_layout *b, const fy_layout *out)
{
    int64_t step = a->strides[a->ndim - 2] * a->shape[a->ndim - 2];
    int64_t step_out = out->strides[out->ndim - 2] * out->shape[out->ndim - 2];
    for (int d = a->ndim - 3; d >= 0; d--) {
        if (a->shape[d] == 1) continue;
        if (b->strides[d] != 0 || a->strides[d] != step || out->strides[d] != step_out) return false;
        step *= a->shape[d];
        step_out *= a->shape[d];
    }
    return true;
}

const char *fy_host_blas(const fy_run_work *w)
{
    if ((w->op != FY_OP_matmul && w->op != FY_OP_addmm) || !fy_dtype_is_real(w->dtype)) return NULL;
    return w->dtype == FY_FLOAT64 ? "cblas_dgemm" : "cblas_sgemm";
}

/* Multiplies the last two operands. With alpha 0 they are ignored, even a NaN, as BLAS does. */
static void multiply(fy_run_work *w, product p)
{
    const fy_operand *a = &w->in[w->nin - 2], *b = &w->in[w->nin - 1];
    const fy_layout *l = &w->out.layout;
    int64_t n = 1;
    for (int d = 0; d < l->ndim - 2; d++) n *= l->shape[d];
    int64_t tall = is_tall(&a->layout, &b->layout, l) ? n : 1;
    for (int64_t i = 0; i < n; i += tall) {
        p.a = matrix_of(a, i);
        p.b = matrix_of(b, i);
        p.out = matrix_of(&w->out, i);
        p.a.rows *= tall;
        p.out.rows *= tall;
        if (p.alpha == 0) p.a.columns = p.b.rows = 0;
        one_product(&p, w->dtype);
    }
    w->blas = fy_host_blas(w);
}

void fy_host_matmul(fy_run_work *w) { multiply(w, (product){.alpha = 1, .whole_alpha = 1}); }

/* The added operand is copied into the result first; with beta 0 it is ignored, even a NaN. */
void fy_host_addmm(fy_run_work *w)
{
    product p = {.alpha = w->real[FY_ADDMM_alpha],
                 .beta = w->real[FY_ADDMM_beta],
                 .whole_alpha = w->integer[FY_ADDMM_alpha],
                 .whole_beta = w->integer[FY_ADDMM_beta]};
    matrix from = matrix_of(&w->in[0], 0), to = matrix_of(&w->out, 0);
    int64_t size = (int64_t)fy_dtype_size(w->out.dtype);
    for (int64_t i = 0; i < to.rows && p.beta != 0; i++)
        for (int64_t j = 0; j < to.columns; j++)
            memcpy((char *)to.data + (i * to.down + j * to.right) * size,
                   (char *)from.data + (i * from.down + j * from.right) * size, (size_t)size);
    multiply(w, p);
}
