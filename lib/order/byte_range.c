/* byte_range.c: which bytes of its storage a view touches, and whether two views' bytes meet. */
#include "race_detector.h"

static int64_t gcd(int64_t a, int64_t b)
{
    while (b) {
        int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

typedef struct dimension {
    int64_t stride, size;
} dimension;

/* Dimensions that move at all, the nearest first. */
static int moving(const fy_tensor *x, dimension *out)
{
    int n = 0;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (x->shape[d] == 1 || x->strides[d] == 0) continue;
        int i = n++;
        for (; i > 0 && out[i - 1].stride > x->strides[d]; i--) out[i] = out[i - 1];
        out[i] = (dimension){x->strides[d], x->shape[d]};
    }
    return n;
}

static fy_reach whole(const fy_tensor *x, int64_t n)
{
    int64_t size = (int64_t)fy_dtype_size(x->dtype);
    return (fy_reach){.first = x->offset * size, .end = (x->offset + n) * size, .exact = true};
}

/* Row-major without holes, as most are: how many elements; 0 if it lies otherwise. */
static int64_t in_a_row(const fy_tensor *x)
{
    int64_t run = 1;
    for (int d = x->ndim - 1; d >= 0; d--) {
        if (x->shape[d] != 1 && x->strides[d] != run) return 0;
        run *= x->shape[d];
    }
    return run;
}

/* Elements that lie without holes are a run; the distances of the runs are multiples of what divides all the
 * other strides. */
fy_reach fy_reach_of(const fy_tensor *x)
{
    dimension dims[FY_MAX_DIMS];
    int64_t row = in_a_row(x);
    if (row) return whole(x, row);
    int n = moving(x, dims), i = 0;
    int64_t size = (int64_t)fy_dtype_size(x->dtype), run = 1, span = 1, step = 0;
    for (; i < n && dims[i].stride == run; i++) run *= dims[i].size;
    bool exact = n - i <= 1;
    for (int d = 0; d < n; d++) span += (dims[d].size - 1) * dims[d].stride;
    for (; i < n; i++) step = gcd(step, dims[i].stride);
    if (step && run >= step) {
        step = 0;
        exact = false;
    }
    return (fy_reach){.first = x->offset * size,
                      .end = (x->offset + span) * size,
                      .step = step * size,
                      .run = run * size,
                      .exact = exact};
}

/* Both are seen within the distance that divides the steps of both; without holes, only what lies in [low, high). */
bool fy_reach_meet(const fy_reach *a, const fy_reach *b, int64_t *first, int64_t *bytes)
{
    int64_t low = a->first > b->first ? a->first : b->first, high = a->end < b->end ? a->end : b->end;
    if (low >= high) return false;
    *first = low;
    *bytes = high - low;
    int64_t step = gcd(a->step, b->step);
    if (!step) return true;
    int64_t run_a = a->step ? a->run : high - low, run_b = b->step ? b->run : high - low;
    int64_t apart = modulo((b->step ? b->first : low) - (a->step ? a->first : low), step);
    return apart < run_a || step - apart < run_b;
}

bool fy_reach_covers(const fy_reach *a, const fy_reach *b)
{
    if (!a->exact || a->first > b->first || a->end < b->end) return false;
    if (!a->step) return true;
    return b->step % a->step == 0 &&
           modulo(b->first - a->first, a->step) + (b->step ? b->run : b->end - b->first) <= a->run;
}
