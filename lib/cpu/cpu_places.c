/* cpu_places.c: ops that depend on an element's position, on the host: tril, triu and one_hot. Results are contiguous
 * and row-major. */
#include "cpu.h"
#include "dtype.h"
#include "op.h"
#include "run_work.h"

static int64_t between(int64_t x, int64_t low, int64_t high) { return x < low ? low : x > high ? high : x; }

/* Copies all, then zeroes columns from..to of each row: those above (tril) or below (triu) the diagonal. */
static void clear_triangle(fy_run_work *w, bool lower, int64_t diagonal)
{
    const fy_layout *l = &w->out.layout;
    int64_t rows = l->shape[l->ndim - 2], columns = l->shape[l->ndim - 1], k = between(diagonal, -rows, columns);
    size_t size = fy_dtype_size(w->out.dtype);
    fy_host_op_find(FY_OP_clone)(w);
    for (int64_t i = 0; i < l->numel / columns; i++) {
        int64_t edge = between(i % rows + k + lower, 0, columns), from = lower ? edge : 0, to = lower ? columns : edge;
        memset((char *)w->out.data + (size_t)(i * columns + from) * size, 0, (size_t)(to - from) * size);
    }
}

void fy_host_tril(fy_run_work *w) { clear_triangle(w, true, w->integer[FY_TRIL_diagonal]); }
void fy_host_triu(fy_run_work *w) { clear_triangle(w, false, w->integer[FY_TRIU_diagonal]); }

/* Classes were checked before (one_hot.c). */
void fy_host_one_hot(fy_run_work *w)
{
    const fy_layout *l = &w->out.layout;
    const fy_operand *x = &w->in[0];
    int64_t classes = l->shape[l->ndim - 1], *out = w->out.data;
    memset(out, 0, (size_t)l->numel * sizeof *out);
    for (int64_t row = 0; row < l->numel / classes; row++) {
        int64_t at = 0, i = row;
        for (int d = l->ndim - 2; d >= 0; d--) {
            at += i % l->shape[d] * x->layout.strides[d];
            i /= l->shape[d];
        }
        out[row * classes + ((const int64_t *)x->data)[at]] = 1;
    }
}
