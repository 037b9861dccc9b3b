/* value_reduction.c: see value_reduction.h. */
#include "value_reduction.h"

#include <float.h>

#include "op.h"

bool value_reduces_to(const array *in, unsigned dims, const array *out)
{
    bool keeps = out->ndim == in->ndim && in->ndim > 0, same = true;
    int n = 0;
    for (int d = 0; d < in->ndim; d++) {
        if (dims >> d & 1) {
            if (keeps && out->shape[d] != 1) same = false;
            n += keeps;
        } else {
            if (n >= out->ndim || out->shape[n] != in->shape[d]) same = false;
            n++;
        }
    }
    return same && n == out->ndim;
}

unsigned value_larger_dims(const array *in)
{
    unsigned dims = 0;
    for (int d = 0; d < in->ndim; d++) dims |= (unsigned)(in->shape[d] != 1) << d;
    return dims;
}

/* Which element of the result takes element i of the input. */
static int64_t target_of(const array *in, unsigned dims, int64_t i)
{
    int64_t at = 0, step = 1;
    for (int d = in->ndim - 1; d >= 0; d--) {
        int64_t place = i % in->shape[d];
        i /= in->shape[d];
        if (dims >> d & 1) continue;
        at += place * step;
        step *= in->shape[d];
    }
    return at;
}

/* An unknown element makes the result unknown: its bound is infinite, and stays so. */
static inline __attribute__((always_inline)) element joined(int op, double e, element r, element x)
{
    if (op == FY_OP_max) return (element){larger(r.is, x.is), larger(r.within, x.within)};
    if (op == FY_OP_min) return (element){smaller(r.is, x.is), larger(r.within, x.within)};
    return (element){r.is + x.is, r.within + x.within + e * fabs(x.is)};
}

static inline __attribute__((always_inline)) element joined_all(int op, double e, element r, const element *x,
                                                                int64_t n)
{
    for (int64_t i = 0; i < n; i++) r = joined(op, e, r, x[i]);
    return r;
}

/* A sum may have overflowed on the way, or an integer been rounded here: the bound tells the sum of all sizes. */
static element summed(element r, double e, const rounding *to)
{
    if (r.within / e > largest_partial_sum(to->dtype)) return unknown_element;
    if (to->epsilon <= 0) r.within = 0;
    return r;
}

void value_reduce(int op, const array *in, unsigned dims, array *out)
{
    int64_t n = out->count ? in->count / out->count : 0;
    const rounding to = rounding_to(out->dtype);
    double e = to.epsilon > 0 ? to.epsilon * (double)n : 1;
    bool largest = op == FY_OP_max, least = op == FY_OP_min;
    for (int64_t i = 0; i < out->count; i++)
        out->at[i] = largest || least ? (element){largest ? -DBL_MAX : DBL_MAX, 0} : (element){0, 0};
    int64_t together = 1; /* neighbours that go into the same element: the last dimensions, if they are reduced */
    for (int d = in->ndim - 1; d >= 0 && dims >> d & 1; d--) together *= in->shape[d];
    for (int64_t i = 0; i < in->count; i += together) {
        element *r = &out->at[target_of(in, dims, i)];
        if (largest) *r = joined_all(FY_OP_max, e, *r, in->at + i, together);
        else if (least) *r = joined_all(FY_OP_min, e, *r, in->at + i, together);
        else *r = joined_all(FY_OP_sum, e, *r, in->at + i, together);
    }
    for (int64_t i = 0; i < out->count; i++) {
        element *r = &out->at[i];
        if (!largest && !least) *r = summed(*r, e, &to);
        if (op == FY_OP_mean) r->is /= (double)n, r->within /= (double)n;
        *r = n ? rounded(*r, &to) : unknown_element;
    }
}
