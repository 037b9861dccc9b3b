/* cpu_scan.c: cumsum and prefix_count on the host: prefix sums along each line. Floats accumulate in double, 16-bit
 * ones in float, as in PyTorch. */
#include "cpu.h"
#include "dtype.h"
#include "offset.h"
#include "run_work.h"
#include "thread_pool.h"

enum { GRAIN = 1 << 14 /* elements worth a thread */ };

/* Dimensions from..to of a layout. */
static fy_layout part_of(const fy_layout *l, int from, int to)
{
    fy_layout part = {.numel = 1};
    for (int d = from; d < to; d++) {
        part.shape[part.ndim] = l->shape[d];
        part.strides[part.ndim++] = l->strides[d];
        part.numel *= l->shape[d];
    }
    return part;
}

/* The lines of operand and result, and where an element of a line is. */
typedef struct lines {
    const fy_run_work *w;
    int ndim; /* dimensions that count the lines */
    fy_layout in, out;
    void (*scan)(const struct lines *l, const void *in, void *out);
} lines;

#define SCAN(name, T, W) \
    static void name(const lines *l, const void *in, void *to) \
    { \
        const T *a = in; \
        W sum = 0; \
        for (int64_t i = 0; i < l->in.numel; i++) { \
            T x = a[fy_offset_of(&l->in, l->in.ndim, i)]; \
            sum += (W)x; \
            ((T *)to)[fy_offset_of(&l->out, l->out.ndim, i)] = (T)sum; \
        } \
    }
SCAN(cumsum_f32, float, double)
SCAN(cumsum_f64, double, double)
SCAN(cumsum_i64, uint64_t, uint64_t)
SCAN(cumsum_i32, uint32_t, uint32_t)
SCAN(cumsum_u8, uint8_t, uint64_t)

static void cumsum_16(const lines *l, const void *in, void *to)
{
    float sum = 0;
    for (int64_t i = 0; i < l->in.numel; i++) {
        sum += (float)fy_real_at(l->w->dtype, in, fy_offset_of(&l->in, l->in.ndim, i));
        fy_number_put(l->w->dtype, to, fy_offset_of(&l->out, l->out.ndim, i), fy_arg_real(sum));
    }
}

/* Counts nonzero elements. */
static void count(const lines *l, const void *in, void *to)
{
    fy_dtype d = l->w->dtype == FY_BOOL ? FY_UINT8 : l->w->dtype;
    int64_t n = 0;
    for (int64_t i = 0; i < l->in.numel; i++) {
        int64_t place = fy_offset_of(&l->in, l->in.ndim, i);
        n += fy_dtype_is_real(d) ? fy_real_at(d, in, place) != 0 : fy_integer_at(d, in, place) != 0;
        ((int64_t *)to)[i] = n;
    }
}

static void run_lines(int64_t from, int64_t to, void *context)
{
    const lines *l = context;
    const fy_run_work *w = l->w;
    int64_t size = (int64_t)fy_dtype_size(w->in[0].dtype), out_size = (int64_t)fy_dtype_size(w->out.dtype);
    for (int64_t k = from; k < to; k++)
        l->scan(l, (const char *)w->in[0].data + fy_offset_of(&w->in[0].layout, l->ndim, k) * size,
                (char *)w->out.data + fy_offset_of(&w->out.layout, l->ndim, k) * out_size);
}

static void scan(fy_run_work *w, void (*one)(const lines *l, const void *in, void *out))
{
    int ndim = w->in[0].layout.ndim;
    lines l = {.w = w, .ndim = ndim - w->reduced, .scan = one};
    l.in = part_of(&w->in[0].layout, l.ndim, ndim);
    l.out = part_of(&w->out.layout, l.ndim, ndim);
    fy_thread_pool_run(w->out.layout.numel / l.in.numel, GRAIN / l.in.numel + 1, run_lines, &l);
}

void fy_host_cumsum(fy_run_work *w)
{
    switch (w->dtype) {
    case FY_FLOAT32: scan(w, cumsum_f32); break;
    case FY_FLOAT64: scan(w, cumsum_f64); break;
    case FY_INT64: scan(w, cumsum_i64); break;
    case FY_INT32: scan(w, cumsum_i32); break;
    case FY_UINT8: scan(w, cumsum_u8); break;
    default: scan(w, cumsum_16); break;
    }
}

void fy_host_prefix_count(fy_run_work *w) { scan(w, count); }
