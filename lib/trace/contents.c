/* contents.c: the only emitter of values. */
#include "contents.h"

#include <math.h>
#include <stdlib.h>

#include "dtype.h"
#include "event.h"
#include "frame.h"
#include "lane.h"
#include "offset.h"
#include "out_of_memory.h"
#include "settings.h"

enum { MOST_BINS = 16, MOST_SUMMARIZED = 1 << 18, MOST_RESULTS = 1 << 14 };
enum {
    MOST_SHOWN = 1024 /* elements of a result ... */,
    ROOM = 4 << 20 /* ... while so many bytes of a log are not used */
};

typedef struct reader {
    const void *data;
    const fy_layout *layout;
    fy_dtype dtype;
    bool is_rows; /* row-major: an element's place is its number */
    int64_t step; /* elements 0, step, 2 * step ... are summarized */
} reader;

typedef struct summary {
    int64_t seen, nan, inf;
    double min, max, total; /* without NaN */
    double from, to;        /* of the finite ones */
} summary;

/* Steps that have a factor in common with a size would never see some of the columns. */
static bool shares_factor(const fy_layout *l, int64_t step)
{
    for (int d = 0; step > 1 && d < l->ndim; d++)
        if (fy_gcd(l->shape[d], step) > 1) return true;
    return false;
}

static reader reader_of(const fy_contents *of, int64_t most)
{
    reader c = {.data = of->data, .layout = &of->layout, .dtype = of->dtype, .is_rows = true, .step = 1};
    int64_t rows = 1;
    for (int d = of->layout.ndim - 1; d >= 0; d--) {
        if (of->layout.shape[d] != 1 && of->layout.strides[d] != rows) c.is_rows = false;
        rows *= of->layout.shape[d];
    }
    if (of->layout.numel > most) c.step = (of->layout.numel - 1) / most + 1;
    while (shares_factor(&of->layout, c.step)) c.step++;
    return c;
}

static double element(const reader *c, int64_t i)
{
    return fy_real_at(c->dtype, c->data, c->is_rows ? i : fy_offset_of(c->layout, c->layout->ndim, i));
}

enum { BLOCK = 512 /* elements that are read at a time */ };

/* Elements i, i + step ... as numbers, at most BLOCK of them; returns how many. */
static int read_block(const reader *c, int64_t i, double to[BLOCK])
{
    int64_t left = (c->layout->numel - i - 1) / c->step + 1;
    int n = left < BLOCK ? (int)left : BLOCK;
    const float *floats = c->data;
    if (c->is_rows && c->step == 1 && c->dtype == FY_FLOAT32)
        for (int k = 0; k < n; k++) to[k] = (double)floats[i + k];
    else
        for (int k = 0; k < n; k++) to[k] = element(c, i + k * c->step);
    return n;
}

static void add_to_summary(summary *s, double v)
{
    if (isnan(v)) {
        s->nan++;
        return;
    }
    s->total += v;
    if (isinf(v)) {
        s->inf++;
        if (v < s->min) s->min = v;
        if (v > s->max) s->max = v;
        return;
    }
    if (v < s->from) s->from = v;
    if (v > s->to) s->to = v;
}

static summary summarize(const reader *c)
{
    summary s = {.min = INFINITY, .max = -INFINITY, .from = INFINITY, .to = -INFINITY};
    double block[BLOCK];
    int n;
    for (int64_t i = 0; i < c->layout->numel; i += n * c->step, s.seen += n) {
        n = read_block(c, i, block);
        for (int k = 0; k < n; k++) add_to_summary(&s, block[k]);
    }
    if (s.from < s.min) s.min = s.from;
    if (s.to > s.max) s.max = s.to;
    return s;
}

/* How many finite values lie in each of equal parts of [from, to]. */
static fy_ref histogram(const reader *c, const summary *s)
{
    int64_t finite = s->seen - s->nan - s->inf;
    double counts[MOST_BINS] = {0}, range = s->to / 2 - s->from / 2; /* halves, as the range itself may be infinite */
    double block[BLOCK], from = s->from / 2;
    int parts = finite < 16 ? 4 : finite < MOST_BINS * MOST_BINS ? (int)ceil(sqrt((double)finite)) : MOST_BINS, n;
    if (s->from >= s->to) parts = 1;
    for (int64_t i = 0; i < c->layout->numel; i += n * c->step) {
        n = read_block(c, i, block);
        for (int k = 0; k < n; k++) {
            if (!isfinite(block[k])) continue;
            int part = range > 0 ? (int)((block[k] / 2 - from) / range * parts) : 0;
            counts[part < parts ? part : parts - 1]++;
        }
    }
    return fy_ref_bytes(counts, (size_t)parts * sizeof *counts);
}

/* The first n of them. */
static fy_ref elements(const reader *c, int64_t n)
{
    double few[FY_SAMPLE], *list = n <= FY_SAMPLE ? few : malloc((size_t)n * sizeof *list);
    if (!list) fy_out_of_memory("the values of a tensor");
    for (int64_t i = 0; i < n; i++) list[i] = element(c, i);
    fy_ref ref = fy_ref_bytes(list, (size_t)n * sizeof *list);
    if (list != few) free(list);
    return ref;
}

void fy_contents_emit(const fy_contents *of, uint32_t work, int64_t shown, int64_t most)
{
    bool kept = fy_lane_keep(true); /* late work of a card calls this with the card's lock held */
    if (!fy_log_is_on()) return (void)fy_lane_keep(kept);
    FY_BELONGS(&of->belongs);
    reader c = reader_of(of, most);
    if (of->layout.numel < shown) shown = of->layout.numel;
    fy_ref first = elements(&c, shown);
    summary s = summarize(&c);
    bool none = s.seen == s.nan; /* all NaN, or empty: no minimum */
    bool spread = s.seen - s.nan - s.inf >= 2;
    FY_EMIT(of->belongs.at, values, .tensor = of->tensor, .version = of->version, .work = work, .first = 0,
            .data = first, .count = of->layout.numel, .seen = s.seen, .min = none ? NAN : s.min,
            .max = none ? NAN : s.max, .mean = none ? NAN : s.total / (double)(s.seen - s.nan), .nan = s.nan,
            .inf = s.inf, .range = spread ? fy_ref_bytes((double[]){s.from, s.to}, 2 * sizeof(double)) : 0,
            .bins = spread ? histogram(&c, &s) : 0);
    fy_lane_keep(kept);
}

_Atomic bool fy_results_are_logged;

void fy_results_configure(void)
{
    const char *own = getenv("FERRY_VALUES");
    fy_results_are_logged = fy_setting_is_on(own && *own ? "FERRY_VALUES" : "FERRY_VIEW");
}

/* How many elements of a result are shown: all, up to MOST_SHOWN, as long as there is room; then a sample. */
static int64_t shown_of(int64_t numel)
{
    static _Atomic int64_t used;
    int64_t bytes = (numel < MOST_SHOWN ? numel : MOST_SHOWN) * (int64_t)sizeof(double);
    if (numel <= FY_SAMPLE) return FY_SAMPLE;
    return atomic_fetch_add_explicit(&used, bytes, memory_order_relaxed) + bytes <= ROOM ? MOST_SHOWN : FY_SAMPLE;
}

void fy_result_emit(const fy_contents *of, uint32_t work)
{
    static _Atomic int64_t emitted;
    if (atomic_fetch_add_explicit(&emitted, 1, memory_order_relaxed) < MOST_RESULTS)
        fy_contents_emit(of, work, shown_of(of->layout.numel), MOST_SUMMARIZED);
}
