/* cpu_make.c: fill, arange, linspace and eye on the host. */
#include "cpu.h"
#include "tensor.h"

/* ---- fill: a copy of a number ---------------------------------------------------------------------- */

static void copy(int64_t n, void *out, const void *a, const void *b, const fy_run_work *w)
{
    (void)b;
    memcpy(out, a, (size_t)n * fy_dtype_size(w->out.dtype));
}

void fy_host_fill(fy_run_work *w)
{
    fy_run_work k = *w;
    k.nin = 1;
    k.in[0] = (fy_operand){.dtype = w->out.dtype, .layout = w->out.layout};
    if (w->out.dtype == FY_BOOL) k.integer[0] = w->real[0] != 0 || w->integer[0] != 0;
    fy_map_raw(&k, copy);
}

/* ---- one number after another: their results lie row by row without gaps ---------------------------- */

static void put_real(const fy_run_work *w, int64_t i, double x)
{
    fy_number_put(w->out.dtype, w->out.data, i, fy_arg_real(x));
}

/* i * step may wrap around; the sum does not. A float's is computed in double and rounded once. */
void fy_host_arange(fy_run_work *w)
{
    uint64_t start = (uint64_t)w->integer[0], step = (uint64_t)w->integer[1];
    for (int64_t i = 0; i < w->out.layout.numel; i++) {
        if (fy_dtype_is_real(w->out.dtype)) put_real(w, i, w->real[0] + (double)i * w->real[1]);
        else fy_number_put(w->out.dtype, w->out.data, i, fy_arg_int((int64_t)(start + (uint64_t)i * step)));
    }
}

/* A number as an element of that type, which is then computed with. */
static double as_element(fy_dtype d, double real, int64_t integer)
{
    union {
        double align;
        char bytes[8];
    } x;
    fy_number_put(d, &x, 0, fy_dtype_is_real(d) ? fy_arg_real(real) : fy_arg_int(integer));
    return fy_real_at(d, &x, 0);
}

/* The first half is counted from the start, the second from the end, so that both are met exactly. Computed
 * in the type itself: the step is rounded to it. Of integers in double. */
void fy_host_linspace(fy_run_work *w)
{
    fy_dtype d = w->out.dtype;
    int64_t n = w->out.layout.numel;
    double start = as_element(d, w->real[0], w->integer[0]), end = as_element(d, w->real[1], w->integer[1]);
    bool small = fy_dtype_is_real(d) && d != FY_FLOAT64;
    double step = small ? (double)(((float)end - (float)start) / (float)(n - 1)) : (end - start) / (double)(n - 1);
    if (fy_dtype_is_real(d)) step = as_element(d, step, 0);
    for (int64_t i = 0; i < n; i++) {
        double base = i < n / 2 ? start : end, way = (double)(i < n / 2 ? i : i - n + 1);
        put_real(w, i, small ? (double)((float)base + (float)((float)step * (float)way)) : base + step * way);
    }
}

/* ---- eye: 1 on the diagonal ---------------------------------------------------------------------- */

void fy_host_eye(fy_run_work *w)
{
    const fy_layout *l = &w->out.layout;
    memset(w->out.data, 0, (size_t)l->numel * fy_dtype_size(w->out.dtype));
    for (int64_t i = 0; i < l->shape[0] && i < l->shape[1]; i++)
        fy_number_put(w->out.dtype, w->out.data, i * l->shape[1] + i, fy_arg_int(1));
}
