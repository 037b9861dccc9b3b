/* cpu_layer_norm.c: layer_norm and its gradient on the host. The last dimension of the operands is the row; its sums
 * are doubles. */
#include <math.h>

#include "cpu.h"
#include "cpu_row.h"
#include "op.h"
#include "run_work.h"
#include "thread_pool.h"

enum { GRAIN = 1 << 14 }; /* elements worth a thread */

typedef struct moments {
    double mean, scale; /* scale: 1 / sqrt(variance + eps) */
} moments;

static moments moments_of(const row *a, int64_t n, double eps)
{
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) sum += get(a, i);
    double mean = sum / (double)n;
    for (int64_t i = 0; i < n; i++) squares += (get(a, i) - mean) * (get(a, i) - mean);
    return (moments){mean, 1 / sqrt(squares / (double)n + eps)};
}

static void normalize(int64_t from, int64_t to, void *context)
{
    const fy_run_work *w = context;
    int64_t n = w->out.layout.shape[w->out.layout.ndim - 1];
    for (int64_t r = from; r < to; r++) {
        row a = row_of(&w->in[0], r), out = row_of(&w->out, r);
        moments m = moments_of(&a, n, w->real[FY_LAYER_NORM_eps]);
        for (int64_t i = 0; i < n; i++) put(&out, i, (get(&a, i) - m.mean) * m.scale);
    }
}

/* As derived in layer_norm.cu. */
static void differentiate(int64_t from, int64_t to, void *context)
{
    const fy_run_work *w = context;
    int64_t n = w->out.layout.shape[w->out.layout.ndim - 1];
    for (int64_t r = from; r < to; r++) {
        row g = row_of(&w->in[0], r), a = row_of(&w->in[1], r), out = row_of(&w->out, r);
        moments m = moments_of(&a, n, w->real[FY_LAYER_NORM_BACKWARD_eps]);
        double plain = 0, weighted = 0;
        for (int64_t i = 0; i < n; i++) {
            plain += get(&g, i);
            weighted += get(&g, i) * (get(&a, i) - m.mean) * m.scale;
        }
        for (int64_t i = 0; i < n; i++) {
            double y = (get(&a, i) - m.mean) * m.scale;
            put(&out, i, (get(&g, i) - plain / (double)n - y * weighted / (double)n) * m.scale);
        }
    }
}

static void over_rows(fy_run_work *w, void (*some)(int64_t from, int64_t to, void *context))
{
    int64_t n = w->out.layout.shape[w->out.layout.ndim - 1];
    if (n > 0) fy_thread_pool_run(w->out.layout.numel / n, GRAIN / n + 1, some, w);
}

void fy_host_layer_norm(fy_run_work *w) { over_rows(w, normalize); }
void fy_host_layer_norm_backward(fy_run_work *w) { over_rows(w, differentiate); }
