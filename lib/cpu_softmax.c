/* cpu_softmax.c: softmax and log_softmax on the host, a row along the one dimension at a time. The largest
 * element is subtracted first, so that no exp overflows. */
#include <math.h>

#include "half.h"
#include "tensor.h"

/* A row of n elements: where it is read and written, steps in elements. */
typedef struct row {
    const void *in;
    void *out;
    int64_t n, in_step, out_step;
} row;

/* W is the type that T is computed in. */
#define SOFTMAX(name, T, W, READ, WRITE, EXP, LOG) \
    static void softmax_##name(const row *r, bool logarithm) \
    { \
        const T *in = r->in; \
        T *out = r->out; \
        W largest = (W)-INFINITY, sum = 0; \
        for (int64_t i = 0; i < r->n; i++) { \
            W x = READ(in[i * r->in_step]); \
            if (x > largest || isnan(x)) largest = x; \
        } \
        for (int64_t i = 0; i < r->n; i++) sum += EXP(READ(in[i * r->in_step]) - largest); \
        W log_sum = LOG(sum); \
        for (int64_t i = 0; i < r->n; i++) { \
            W x = READ(in[i * r->in_step]) - largest; \
            out[i * r->out_step] = WRITE(logarithm ? x - log_sum : EXP(x) / sum); \
        } \
    }

#define SAME(x) (x)
SOFTMAX(f16, fy_half, float, fy_half_float, fy_half_of, expf, logf)
SOFTMAX(bf16, fy_bfloat, float, fy_bfloat_float, fy_bfloat_of_float, expf, logf)
SOFTMAX(f32, float, float, SAME, SAME, expf, logf)
SOFTMAX(f64, double, double, SAME, SAME, exp, log)

static void one_row(fy_dtype d, const row *r, bool logarithm)
{
    switch (d) {
    case FY_FLOAT16: softmax_f16(r, logarithm); break;
    case FY_BFLOAT16: softmax_bf16(r, logarithm); break;
    case FY_FLOAT32: softmax_f32(r, logarithm); break;
    default: softmax_f64(r, logarithm); break;
    }
}

/* Where row i begins; the last dimension is the row itself. */
static int64_t row_offset(const fy_layout *l, int64_t i)
{
    int64_t offset = 0;
    for (int d = l->ndim - 2; d >= 0; d--) {
        offset += i % l->shape[d] * l->strides[d];
        i /= l->shape[d];
    }
    return offset;
}

static void softmax(fy_run_work *w, bool logarithm)
{
    const fy_layout *in = &w->in[0].layout, *out = &w->out.layout;
    int64_t size = (int64_t)fy_dtype_size(w->dtype), last = in->ndim - 1;
    row r = {.n = in->shape[last], .in_step = in->strides[last], .out_step = out->strides[last]};
    int64_t rows = r.n > 0 ? in->numel / r.n : 0;
    for (int64_t i = 0; i < rows; i++) {
        r.in = (const char *)w->in[0].data + row_offset(in, i) * size;
        r.out = (char *)w->out.data + row_offset(out, i) * size;
        one_row(w->dtype, &r, logarithm);
    }
}

void fy_host_softmax(fy_run_work *w) { softmax(w, false); }
void fy_host_log_softmax(fy_run_work *w) { softmax(w, true); }
