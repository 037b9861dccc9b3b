/* byte_range.c: which bytes of its storage a view touches, and whether two views overlap. */
#include "byte_range.h"

#include "offset.h"
#include "run_work.h"

static int64_t modulo(int64_t a, int64_t n) { return (a % n + n) % n; }

typedef struct dimension {
    int64_t stride, size;
} dimension;

/* Dimensions with more than one distinct element, smallest stride first; returns how many. */
static int sort_dimensions(const fy_layout *x, dimension *out)
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

/* Inner dimensions without gaps form a run; runs lie at multiples of the gcd of the outer strides. */
fy_byte_range fy_byte_range_of(const fy_layout *x, int64_t offset, int64_t size)
{
    dimension dims[FY_MAX_DIMS];
    int64_t row = 1; /* fast path: elements of the innermost dimensions that are contiguous */
    int d = x->ndim - 1;
    for (; d >= 0 && (x->shape[d] == 1 || x->strides[d] == row); d--) row *= x->shape[d];
    if (d < 0) return (fy_byte_range){.first = offset * size, .end = (offset + row) * size, .exact = true};
    int n = sort_dimensions(x, dims), i = 0;
    int64_t run = 1, span = 1, step = 0;
    for (; i < n && dims[i].stride == run; i++) run *= dims[i].size;
    bool exact = n - i <= 1;
    for (d = 0; d < n; d++) span += (dims[d].size - 1) * dims[d].stride;
    for (; i < n; i++) step = fy_gcd(step, dims[i].stride);
    if (step && run >= step) {
        step = 0;
        exact = false;
    }
    return (fy_byte_range){
        .first = offset * size, .end = (offset + span) * size, .step = step * size, .run = run * size, .exact = exact};
}

/* Both patterns repeat modulo the gcd of their steps, so it is enough to compare runs within one period. A range
 * without gaps counts as a run of [low, high). */
bool fy_byte_ranges_meet(const fy_byte_range *a, const fy_byte_range *b, int64_t *first, int64_t *bytes)
{
    int64_t low = a->first > b->first ? a->first : b->first, high = a->end < b->end ? a->end : b->end;
    if (low >= high) return false;
    *first = low;
    *bytes = high - low;
    int64_t step = fy_gcd(a->step, b->step);
    if (!step) return true;
    int64_t run_a = a->step ? a->run : high - low, run_b = b->step ? b->run : high - low;
    int64_t distance = modulo((b->step ? b->first : low) - (a->step ? a->first : low), step);
    return distance < run_a || step - distance < run_b;
}

bool fy_byte_range_covers(const fy_byte_range *a, const fy_byte_range *b)
{
    if (!a->exact || a->first > b->first || a->end < b->end) return false;
    if (!a->step) return true;
    return b->step % a->step == 0 &&
           modulo(b->first - a->first, a->step) + (b->step ? b->run : b->end - b->first) <= a->run;
}
