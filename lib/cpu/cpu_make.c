/* cpu_make.c: fill, arange, linspace and eye on the host. */
#include <math.h>

#include "cpu.h"
#include "dtype.h"
#include "op.h"
#include "run_work.h"
#include "thread_pool.h"

/* ---- fill ----------------------------------------------------------------------------------------- */

static void copy(int64_t n, void *out, const void *const *in, const fy_run_work *w)
{
    memcpy(out, in[0], (size_t)n * fy_dtype_size(w->out.dtype));
}

void fy_host_fill(fy_run_work *w)
{
    fy_run_work k = *w;
    k.nin = 1;
    k.in[0] = (fy_operand){.dtype = w->out.dtype, .layout = w->out.layout};
    k.real[0] = w->real[FY_FILL_value];
    k.integer[0] = w->integer[FY_FILL_value];
    if (w->out.dtype == FY_BOOL) k.integer[0] = k.real[0] != 0 || k.integer[0] != 0;
    fy_map_raw(&k, copy);
}

/* ---- series: results are contiguous and row-major ------------------------------------------------ */

enum { PIECE = 512, GRAIN = 64 * PIECE };

typedef struct series {
    fy_run_work *w;
    fy_loop convert; /* from what `make` writes to the result's type */
    void (*make)(const struct series *s, int64_t from, int64_t n, void *to);
    double start, end, step;
    uint64_t first, gap;
} series;

static void run_part(int64_t from, int64_t to, void *context)
{
    const series *s = context;
    uint64_t piece[PIECE];
    char *out = s->w->out.data;
    int64_t size = (int64_t)fy_dtype_size(s->w->out.dtype);
    for (int64_t n; from < to; from += n) {
        n = to - from < PIECE ? to - from : PIECE;
        s->make(s, from, n, piece);
        s->convert(n, out + from * size, (const void *[]){piece}, s->w);
    }
}

static void run(series *s, fy_run_work *w, fy_dtype made)
{
    s->w = w;
    s->convert = fy_cast_loop(made, w->out.dtype);
    fy_thread_pool_run(w->out.layout.numel, GRAIN, run_part, s);
}

static void reals(const series *s, int64_t from, int64_t n, void *to)
{
    double *out = to;
    for (int64_t i = 0; i < n; i++) out[i] = s->start + (double)(from + i) * s->step;
}

/* i * gap may wrap around; the sum is in range. */
static void integers(const series *s, int64_t from, int64_t n, void *to)
{
    uint64_t *out = to;
    for (int64_t i = 0; i < n; i++) out[i] = s->first + (uint64_t)(from + i) * s->gap;
}

/* A float's is computed in double and rounded once. */
void fy_host_arange(fy_run_work *w)
{
    bool real = fy_dtype_is_real(w->out.dtype);
    series s = {.make = real ? reals : integers, .start = w->real[FY_ARANGE_start], .step = w->real[FY_ARANGE_step]};
    s.first = (uint64_t)w->integer[FY_ARANGE_start], s.gap = (uint64_t)w->integer[FY_ARANGE_step];
    run(&s, w, real ? FY_FLOAT64 : FY_INT64);
}

/* A number rounded to the dtype. */
static double as_element(fy_dtype d, double real, int64_t integer)
{
    union {
        double align;
        char bytes[8];
    } x;
    fy_number_put(d, &x, 0, fy_dtype_is_real(d) ? fy_arg_real(real) : fy_arg_int(integer));
    return fy_real_at(d, &x, 0);
}

/* The first half is computed from the start, the second from the end, so that both ends are exact. Floats are rounded
 * as in PyTorch, which computes a vector of 8 floats or 4 doubles from its first element. */
#define SPACED(name, T, fused, lanes) \
    static void name(const series *s, int64_t from, int64_t n, void *to) \
    { \
        T *out = to, start = (T)s->start, end = (T)s->end, step = (T)s->step; \
        int64_t all = s->w->out.layout.numel, in_vectors = all / (2 * lanes) * (2 * lanes); \
        for (int64_t i = from; i < from + n; i++) { \
            int64_t first = i < in_vectors ? i / lanes * lanes : i; \
            T base = first < all / 2 ? fused(step, (T)first, start) : fused(-step, (T)(all - 1 - first), end); \
            out[i - from] = base + step * (T)(i - first); \
        } \
    }
SPACED(spaced_floats, float, fmaf, 8)
SPACED(spaced_doubles, double, fma, 4)
SPACED(spaced_one_by_one, float, fmaf, 1)
SPACED(spaced_integers, double, fma, 1)

static void (*spaced(fy_dtype d))(const series *s, int64_t from, int64_t n, void *to)
{
    if (d == FY_FLOAT32) return spaced_floats;
    if (d == FY_FLOAT64) return spaced_doubles;
    return fy_dtype_is_real(d) ? spaced_one_by_one : spaced_integers;
}

/* Computed in the dtype, to which the step is rounded; 16-bit floats in float, integers in double. */
void fy_host_linspace(fy_run_work *w)
{
    fy_dtype d = w->out.dtype;
    int64_t n = w->out.layout.numel;
    bool floats = fy_dtype_is_real(d) && d != FY_FLOAT64;
    series s = {.make = spaced(d)};
    s.start = as_element(d, w->real[FY_LINSPACE_start], w->integer[FY_LINSPACE_start]);
    s.end = as_element(d, w->real[FY_LINSPACE_end], w->integer[FY_LINSPACE_end]);
    double way = floats ? (double)((float)s.end - (float)s.start) : s.end - s.start;
    s.step = n < 2 ? 0 : floats ? (double)((float)way / (float)(n - 1)) : way / (double)(n - 1);
    if (fy_dtype_is_real(d)) s.step = as_element(d, s.step, 0);
    if (n == 1) s.end = s.start;
    run(&s, w, floats ? FY_FLOAT32 : FY_FLOAT64);
}

/* ---- eye: 1 on the diagonal ---------------------------------------------------------------------- */

void fy_host_eye(fy_run_work *w)
{
    const fy_layout *l = &w->out.layout;
    memset(w->out.data, 0, (size_t)l->numel * fy_dtype_size(w->out.dtype));
    for (int64_t i = 0; i < l->shape[0] && i < l->shape[1]; i++)
        fy_number_put(w->out.dtype, w->out.data, i * l->shape[1] + i, fy_arg_int(1));
}
