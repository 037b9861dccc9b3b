/* cpu_backward.c: ops that compute gradients, on the host. The first operand is the gradient of the result; the second
 * is the result, or the classes. */
#include <math.h>

#include "cpu.h"
#include "cpu_float.h"
#include "cpu_row.h"
#include "dtype.h"
#include "offset.h"
#include "op.h"
#include "run_work.h"
#include "thread_pool.h"

enum { GRAIN = 1 << 14 }; /* elements worth a thread */

#define MAP(op, ...) \
    void fy_host_##op(fy_run_work *w) { fy_map_any(w, &(fy_loops){__VA_ARGS__}); }

FY_LOOP2(threshold_f32, float, float, y <= 0 ? 0 : x)
FY_LOOP2(threshold_f64, double, double, y <= 0 ? 0 : x)
FY_LOOP2(threshold_i64, int64_t, int64_t, y <= 0 ? 0 : x)
FY_LOOP2(threshold_i32, int32_t, int32_t, y <= 0 ? 0 : x)
FY_LOOP2(threshold_u8, uint8_t, uint8_t, y == 0 ? 0 : x)
MAP(threshold_backward, .f32 = threshold_f32, .f64 = threshold_f64, .i64 = threshold_i64, .i32 = threshold_i32,
    .u8 = threshold_u8)

FY_LOOP2(tanh_backward_f32, float, float, x *(1 - y * y))
FY_LOOP2(tanh_backward_f64, double, double, x *(1 - y * y))
MAP(tanh_backward, .f32 = tanh_backward_f32, .f64 = tanh_backward_f64)

FY_LOOP2(sigmoid_backward_f32, float, float, x *y *(1 - y))
FY_LOOP2(sigmoid_backward_f64, double, double, x *y *(1 - y))
MAP(sigmoid_backward, .f32 = sigmoid_backward_f32, .f64 = sigmoid_backward_f64)

/* ---- rows: the last dimension is the row ---------------------------------------------------------------- */

static void softmax_row(const row *g, const row *r, const row *out, int64_t n, bool logarithm)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += logarithm ? get(g, i) : get(g, i) * get(r, i);
    for (int64_t i = 0; i < n; i++)
        put(out, i, logarithm ? get(g, i) - exp(get(r, i)) * sum : get(r, i) * (get(g, i) - sum));
}

/* Contiguous floats. */
FY_CLONES static void float_row(int64_t n, const float *g, const float *r, float *out, bool logarithm)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += (double)(logarithm ? g[i] : g[i] * r[i]);
    float all = (float)sum;
    if (logarithm) FY_IVDEP for (int64_t i = 0; i < n; i++) out[i] = g[i] - fy_exp_float(r[i]) * all;
    else FY_IVDEP for (int64_t i = 0; i < n; i++) out[i] = r[i] * (g[i] - all);
}

typedef struct rows {
    fy_run_work *w;
    int64_t n; /* of each */
    bool logarithm;
} rows;

static void some_rows(int64_t from, int64_t to, void *context)
{
    const rows *k = context;
    fy_run_work *w = k->w;
    for (int64_t i = from; i < to; i++) {
        row g = row_of(&w->in[0], i), r = row_of(&w->in[1], i), out = row_of(&w->out, i);
        if (w->dtype == FY_FLOAT32 && g.step == 1 && r.step == 1 && out.step == 1)
            float_row(k->n, (float *)g.data + g.at, (float *)r.data + r.at, (float *)out.data + out.at, k->logarithm);
        else softmax_row(&g, &r, &out, k->n, k->logarithm);
    }
}

static void softmax_backward(fy_run_work *w, bool logarithm)
{
    const fy_layout *l = &w->out.layout;
    rows k = {w, l->shape[l->ndim - 1], logarithm};
    if (l->numel > 0) fy_thread_pool_run(l->numel / k.n, GRAIN / k.n + 1, some_rows, &k);
}

void fy_host_softmax_backward(fy_run_work *w) { softmax_backward(w, false); }
void fy_host_log_softmax_backward(fy_run_work *w) { softmax_backward(w, true); }

/* Classes were checked by nll_loss. */
void fy_host_nll_loss_backward(fy_run_work *w)
{
    const fy_layout *l = &w->out.layout;
    const fy_operand *targets = &w->in[1];
    int64_t classes = l->shape[l->ndim - 1];
    double smoothing = w->real[FY_NLL_LOSS_BACKWARD_smoothing];
    for (int64_t i = 0; classes > 0 && i < l->numel / classes; i++) {
        row g = {w->in[0].dtype, w->in[0].data, fy_offset_of(&w->in[0].layout, l->ndim - 1, i), 0},
            out = row_of(&w->out, i);
        int64_t class = ((const int64_t *)targets->data)[fy_offset_of(&targets->layout, l->ndim - 1, i)];
        double loss = class == FY_IGNORE_INDEX ? 0 : get(&g, 0), share = -smoothing * loss / (double)classes;
        for (int64_t c = 0; c < classes; c++) put(&out, c, share - (c == class ? (1 - smoothing) * loss : 0));
    }
}
