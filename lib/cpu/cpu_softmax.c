/* cpu_softmax.c: softmax and log_softmax on the host. The maximum is subtracted first, so that exp cannot overflow.
 * Contiguous float rows are computed in place, and so are neighbouring rows with interleaved elements (softmax of
 * columns). All other rows go through a buffer. */
#include <stdio.h>
#include <stdlib.h>

#include "cpu.h"
#include "cpu_float.h"
#include "dtype.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "thread_pool.h"

enum { LANES = 32, ACROSS = 64 /* rows at a time */, GRAIN = 1 << 14 /* elements worth a thread */ };

typedef struct work {
    const fy_run_work *w;
    bool logarithm;
    int64_t n, in_step, out_step; /* of a row; steps in elements */
} work;

/* Offset of row i; the last dimension is the row. */
static int64_t row_offset(const fy_layout *l, int64_t i)
{
    int64_t offset = 0;
    for (int d = l->ndim - 2; d >= 0; d--) {
        offset += i % l->shape[d] * l->strides[d];
        i /= l->shape[d];
    }
    return offset;
}

/* ---- float, contiguous rows ------------------------------------------------------------------------ */

#define LARGER(a, b) ((b) > (a) || isnan(b) ? (b) : (a)) /* NaN if either is */

static inline float largest_of(int64_t n, const float *x)
{
    float lane[LANES], all = -INFINITY;
    int64_t i = 0;
    for (int l = 0; l < LANES; l++) lane[l] = -INFINITY;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] = LARGER(lane[l], x[i + l]);
    for (; i < n; i++) all = LARGER(all, x[i]);
    for (int l = 0; l < LANES; l++) all = LARGER(all, lane[l]);
    return all;
}

/* Stores exp(x - largest) in out; returns the sum. */
static inline float exponentials(int64_t n, float *out, const float *x, float largest)
{
    float lane[LANES] = {0}, all = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) {
            float e = fy_exp_float(x[i + l] - largest);
            out[i + l] = e;
            lane[l] += e;
        }
    for (; i < n; i++) all += out[i] = fy_exp_float(x[i] - largest);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return all + lane[0];
}

/* Sum of exp(x - largest); stores nothing, so x may be out. */
static inline float sum_of_exponentials(int64_t n, const float *x, float largest)
{
    float lane[LANES] = {0}, all = 0;
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++) lane[l] += fy_exp_float(x[i + l] - largest);
    for (; i < n; i++) all += fy_exp_float(x[i] - largest);
    for (int half = LANES / 2; half > 0; half /= 2)
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];
    return all + lane[0];
}

FY_CLONES static void float_row(int64_t n, float *out, const float *x, bool logarithm)
{
    float largest = largest_of(n, x);
    if (logarithm) {
        float log_sum = logf(sum_of_exponentials(n, x, largest));
        FY_IVDEP for (int64_t i = 0; i < n; i++) out[i] = x[i] - largest - log_sum;
    } else {
        float sum = exponentials(n, out, x, largest);
        FY_IVDEP for (int64_t i = 0; i < n; i++) out[i] /= sum;
    }
}

/* ---- float, neighbouring rows with interleaved elements ---------------------------------------------- */

FY_CLONES static void float_columns(int64_t rows, const work *k, float *out, const float *in)
{
    float largest[ACROSS], sum[ACROSS];
    for (int r = 0; r < rows; r++) largest[r] = -INFINITY, sum[r] = 0;
    for (int64_t i = 0; i < k->n; i++)
        for (int r = 0; r < rows; r++) largest[r] = LARGER(largest[r], in[i * k->in_step + r]);
    for (int64_t i = 0; i < k->n; i++)
        for (int r = 0; r < rows; r++) {
            float e = fy_exp_float(in[i * k->in_step + r] - largest[r]);
            out[i * k->out_step + r] = e;
            sum[r] += e;
        }
    for (int r = 0; r < rows && k->logarithm; r++) sum[r] = logf(sum[r]);
    for (int64_t i = 0; i < k->n; i++)
        for (int r = 0; r < rows; r++) {
            float *to = &out[i * k->out_step + r];
            *to = k->logarithm ? in[i * k->in_step + r] - largest[r] - sum[r] : *to / sum[r];
        }
}

/* ---- any other row, through a buffer -------------------------------------------------------------------- */

static void double_row(int64_t n, double *x, bool logarithm)
{
    double largest = -(double)INFINITY, sum = 0;
    for (int64_t i = 0; i < n; i++) largest = LARGER(largest, x[i]);
    for (int64_t i = 0; i < n; i++) {
        double e = exp(x[i] - largest);
        sum += e;
        x[i] = logarithm ? x[i] - largest : e;
    }
    double log_sum = log(sum);
    for (int64_t i = 0; i < n; i++) x[i] = logarithm ? x[i] - log_sum : x[i] / sum;
}

static void fetch(const work *k, void *buffer, const void *in)
{
    fy_dtype d = k->w->dtype;
    if (k->in_step == 1 && d == FY_FLOAT16) fy_half_widen(k->n, buffer, in);
    else if (k->in_step == 1 && d == FY_BFLOAT16) fy_bfloat_widen(k->n, buffer, in);
    else if (d == FY_FLOAT64)
        for (int64_t i = 0; i < k->n; i++) ((double *)buffer)[i] = ((const double *)in)[i * k->in_step];
    else
        for (int64_t i = 0; i < k->n; i++) ((float *)buffer)[i] = (float)fy_real_at(d, in, i * k->in_step);
}

static void store(const work *k, const void *buffer, void *out)
{
    fy_dtype d = k->w->dtype;
    if (k->out_step == 1 && d == FY_FLOAT16) fy_half_narrow(k->n, out, buffer);
    else if (k->out_step == 1 && d == FY_BFLOAT16) fy_bfloat_narrow(k->n, out, buffer);
    else if (d == FY_FLOAT64)
        for (int64_t i = 0; i < k->n; i++) ((double *)out)[i * k->out_step] = ((const double *)buffer)[i];
    else
        for (int64_t i = 0; i < k->n; i++)
            fy_number_put(d, out, i * k->out_step, fy_arg_real((double)((const float *)buffer)[i]));
}

static void rows_by_buffer(const work *k, int64_t from, int64_t to)
{
    double few[512];
    void *buffer = k->n > 512 ? malloc((size_t)k->n * sizeof *few) : few;
    if (!buffer) fy_out_of_memory("a row of softmax");
    int64_t size = (int64_t)fy_dtype_size(k->w->dtype);
    for (int64_t i = from; i < to; i++) {
        fetch(k, buffer, (const char *)k->w->in[0].data + row_offset(&k->w->in[0].layout, i) * size);
        if (k->w->dtype == FY_FLOAT64) double_row(k->n, buffer, k->logarithm);
        else float_row(k->n, buffer, buffer, k->logarithm);
        store(k, buffer, (char *)k->w->out.data + row_offset(&k->w->out.layout, i) * size);
    }
    if (buffer != few) free(buffer);
}

/* ---- dividing the rows among threads
 * ---------------------------------------------------------------------------------- */

static bool is_across(const fy_layout *l)
{
    int last = l->ndim - 1;
    return last > 0 && l->strides[last - 1] == 1 && l->strides[last] > 1;
}

static void columns(const work *k, int64_t from, int64_t to)
{
    const fy_layout *in = &k->w->in[0].layout, *out = &k->w->out.layout;
    int64_t inner = in->shape[in->ndim - 2];
    for (int64_t i = from, rows; i < to; i += rows) {
        rows = inner - i % inner < to - i ? inner - i % inner : to - i;
        if (rows > ACROSS) rows = ACROSS;
        float_columns(rows, k, (float *)k->w->out.data + row_offset(out, i),
                      (const float *)k->w->in[0].data + row_offset(in, i));
    }
}

static void some_rows(int64_t from, int64_t to, void *context)
{
    const work *k = context;
    const fy_layout *in = &k->w->in[0].layout, *out = &k->w->out.layout;
    if (k->w->dtype == FY_FLOAT32 && k->in_step == 1 && k->out_step == 1) {
        for (int64_t i = from; i < to; i++)
            float_row(k->n, (float *)k->w->out.data + row_offset(out, i),
                      (const float *)k->w->in[0].data + row_offset(in, i), k->logarithm);
    } else if (k->w->dtype == FY_FLOAT32 && is_across(in) && is_across(out)) {
        columns(k, from, to);
    } else {
        rows_by_buffer(k, from, to);
    }
}

static void softmax(fy_run_work *w, bool logarithm)
{
    const fy_layout *in = &w->in[0].layout;
    int last = in->ndim - 1;
    work k = {.w = w, .logarithm = logarithm, .n = in->shape[last], .in_step = in->strides[last]};
    k.out_step = w->out.layout.strides[last];
    if (k.n == 0) return;
    if (k.n == 1) k.in_step = k.out_step = 1;
    fy_thread_pool_run(in->numel / k.n, (GRAIN / k.n / ACROSS + 1) * ACROSS, some_rows, &k);
}

void fy_host_softmax(fy_run_work *w) { softmax(w, false); }
void fy_host_log_softmax(fy_run_work *w) { softmax(w, true); }
