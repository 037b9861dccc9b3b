/* value_ops.c: see value_ops.h. Bounds are generous: an honest run must never contradict itself, and who forges a
 * result by less than rounding gains nothing. */
#include "value_ops.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "op.h"
#include "value_product.h"
#include "value_reduction.h"

static bool is_real(fy_word dtype) { return rounding_to(dtype).epsilon > 0; }

/* ---- elementwise ---- */

/* An input, to be read element by element of the result, in order: sizes of 1 are repeated. period: the input's
 * elements are those of the result, or its last dimensions', again and again; 0: they are repeated otherwise. */
typedef struct operand {
    const array *in, *out;
    int64_t period, next; /* next: of the period, or of the result's elements */
} operand;

static operand operand_of(const array *in, const array *out)
{
    int same = 0; /* last dimensions that are equal */
    while (same < in->ndim && same < out->ndim && in->shape[in->ndim - 1 - same] == out->shape[out->ndim - 1 - same])
        same++;
    bool repeats = in->count > 0 && (in->count == 1 || same == in->ndim);
    return (operand){in, out, repeats ? in->count : 0, 0};
}

/* For element i of the result. Unknown if the shapes do not fit. */
static element broadcast(const array *in, const array *out, int64_t i)
{
    int64_t index = 0, step = 1;
    for (int k = 0; k < in->ndim; k++) {
        int64_t size = in->shape[in->ndim - 1 - k], of = k < out->ndim ? out->shape[out->ndim - 1 - k] : 1;
        if (size != 1 && size != of) return unknown_element;
        if (size != 1) index += i % of * step;
        step *= size;
        i /= of ? of : 1;
    }
    return index < in->count ? in->at[index] : unknown_element;
}

static inline element next_of(operand *from)
{
    if (!from->period) return broadcast(from->in, from->out, from->next++);
    element e = from->in->at[from->next];
    if (++from->next == from->period) from->next = 0;
    return e;
}

static element unary(int op, element a, double e)
{
    double up;
    switch (op) {
    case FY_OP_cast:
    case FY_OP_clone: return a;
    case FY_OP_neg: return (element){-a.is, a.within};
    case FY_OP_abs: return (element){fabs(a.is), a.within};
    case FY_OP_relu: return (element){a.is > 0 ? a.is : 0, a.within};
    case FY_OP_exp: up = exp(a.is); return (element){up, up * (expm1(a.within) + 8 * e)};
    case FY_OP_log:
        if (a.is <= 2 * a.within || a.is <= 0) return unknown_element;
        return (element){log(a.is), a.within / (a.is - a.within) + 8 * e * fabs(log(a.is)) + 8 * e};
    case FY_OP_sqrt:
        if (a.is <= 2 * a.within) return unknown_element;
        return (element){sqrt(a.is), a.within / sqrt(a.is - a.within) + 4 * e * sqrt(a.is)};
    case FY_OP_tanh: return (element){tanh(a.is), a.within + 8 * e};
    case FY_OP_sigmoid: return (element){1 / (1 + exp(-a.is)), a.within + 8 * e};
    case FY_OP_sin: return (element){sin(a.is), a.within + 8 * e * (1 + fabs(a.is))};
    case FY_OP_cos: return (element){cos(a.is), a.within + 8 * e * (1 + fabs(a.is))};
    default: return unknown_element;
    }
}

/* The base's size to the power. odd: is the exponent, so that a negative base keeps its sign? -1: it may be no whole
 * number. Libraries' powf differ by more than rounding. */
enum { POWER_BITS = 20 };

static element power(element a, element b, int odd)
{
    double size = fabs(a.is);
    if (a.is == 0 && a.within == 0 && b.is > b.within) return (element){0, 0};
    if (size <= 2 * a.within || size == 0 || (a.is < 0 && odd < 0)) return unknown_element;
    double is = pow(size, b.is), more = fabs(b.is) * a.within / (size - a.within) + fabs(log(size)) * b.within;
    return (element){a.is < 0 && odd ? -is : is, is * (expm1(2 * more) + ldexp(1, -POWER_BITS))};
}

static int is_odd(element e)
{
    return e.within > 0 || e.is != nearbyint(e.is) ? -1 : fmod(fabs(e.is), 2) != 0; /* -1: it is no whole number */
}

static element binary(int op, element a, element b)
{
    bool sure;
    switch (op) {
    case FY_OP_mul: return (element){a.is * b.is, fabs(a.is) * b.within + fabs(b.is) * a.within + a.within * b.within};
    case FY_OP_div:
        if (fabs(b.is) <= 2 * b.within) return unknown_element;
        return (element){a.is / b.is, (a.within + fabs(a.is / b.is) * b.within) / (fabs(b.is) - b.within)};
    case FY_OP_pow: return power(a, b, is_odd(b));
    case FY_OP_maximum: return (element){larger(a.is, b.is), larger(a.within, b.within)};
    case FY_OP_minimum: return (element){smaller(a.is, b.is), larger(a.within, b.within)};
    case FY_OP_threshold_backward:
        return fabs(b.is) > b.within ? (element){b.is > 0 ? a.is : 0, a.within} : unknown_element;
    default: break;
    }
    sure = fabs(a.is - b.is) > a.within + b.within || (a.within == 0 && b.within == 0);
    if (!sure) return unknown_element;
    switch (op) {
    case FY_OP_eq: return (element){a.is == b.is, 0};
    case FY_OP_ne: return (element){a.is != b.is, 0};
    case FY_OP_lt: return (element){a.is < b.is, 0};
    case FY_OP_le: return (element){a.is <= b.is, 0};
    case FY_OP_gt: return (element){a.is > b.is, 0};
    case FY_OP_ge: return (element){a.is >= b.is, 0};
    default: return unknown_element;
    }
}

/* ---- what is claimed ---- */

/* out holds what the op gives. */
static outcome_of_op compare(const claims *said, const array *out, int64_t *where)
{
    const rounding to = rounding_to(out->dtype);
    for (int64_t i = 0; i < said->count && i < out->count; i++) {
        *where = i;
        if (!element_allows(out->at[i], said->at[i], &to)) return OP_CONTRADICTS;
    }
    return OP_FITS;
}

static bool has_known(const array *out)
{
    for (int64_t i = 0; i < out->count; i++)
        if (element_is_known(out->at[i])) return true;
    return false;
}

/* Without rounding. */
static bool is_picked(int op) { return op == FY_OP_clone || op == FY_OP_neg || op == FY_OP_abs || op == FY_OP_relu; }

static inline __attribute__((always_inline)) void elementwise_as(int op, const array *in, int inputs, array *out)
{
    operand first = operand_of(&in[0], out), second = operand_of(&in[inputs > 1], out);
    const rounding to = rounding_to(out->dtype);
    const bool exact = to.epsilon > 0 && is_picked(op);
    for (int64_t i = 0; i < out->count; i++) {
        element a = next_of(&first), b = inputs > 1 ? next_of(&second) : a;
        bool known = element_is_known(a) && element_is_known(b);
        element r = !known ? unknown_element : inputs > 1 ? binary(op, a, b) : unary(op, a, to.epsilon);
        out->at[i] = exact ? r : rounded(r, &to);
    }
}

/* One copy of the loop for what large tensors go through. */
static outcome_of_op elementwise(int op, const array *in, int inputs, const claims *said, array *out, int64_t *where)
{
    if (op == FY_OP_mul && inputs == 2) elementwise_as(FY_OP_mul, in, 2, out);
    else elementwise_as(op, in, inputs, out);
    return has_known(out) ? compare(said, out, where) : OP_UNDECIDED;
}

/* ---- operations with a number that the log does not tell: a + s * b, where s is any ---- */

typedef enum form { ADD_S_TIMES_B, SUB_S_TIMES_B, S_TIMES_A, S_OVER_A, ALL_S } form;

/* a and b of the result's next element. */
static inline void form_next(form f, operand in[2], element *a, element *b)
{
    static const element zero = {0, 0}, one = {1, 0};
    element x = f == ALL_S ? zero : next_of(&in[0]);
    *a = f == ADD_S_TIMES_B || f == SUB_S_TIMES_B ? x : zero;
    *b = f == S_TIMES_A ? x : one;
    if (f == ADD_S_TIMES_B || f == SUB_S_TIMES_B) *b = next_of(&in[1]);
    if (f == SUB_S_TIMES_B) b->is = -b->is;
    if (f == S_OVER_A) *b = x.is != 0 && x.within == 0 ? (element){1 / x.is, 1e-15 / fabs(x.is)} : unknown_element;
}

/* The numbers s for which every claimed element follows, narrowed to [low, high]; false: there is none, and a and b are
 * those of the element that shows it. */
static inline bool find_number(form f, operand in[2], const claims *said, const array *out, double *low, double *high,
                               int64_t *where, element *a, element *b)
{
    const rounding to = rounding_to(out->dtype);
    *low = -INFINITY, *high = INFINITY;
    for (int64_t i = 0; i < said->count && i < out->count; i++) {
        form_next(f, in, a, b);
        double r = said->at[i], rest = r - a->is;
        if (!element_is_known(*a) || !element_is_known(*b) || !isfinite(r) || fabs(r) > to.largest) continue;
        double size = fabs(a->is) + fabs(r), slack = 2 * a->within + (4 * to.epsilon + 1e-14) * size + to.smallest;
        *where = i;
        if (b->is == 0 && b->within == 0 && fabs(rest) > slack) return false;
        if (fabs(b->is) <= 4 * b->within || b->is == 0) continue;
        slack += 2 * b->within * (fabs(rest) + slack) / (fabs(b->is) - 2 * b->within);
        double s = rest / b->is, more = slack / fabs(b->is);
        *low = larger(*low, s - more);
        *high = smaller(*high, s + more);
        if (*low > *high) return false;
    }
    return true;
}

static inline __attribute__((always_inline)) outcome_of_op linear_as(form f, const array *inputs, const claims *said,
                                                                     array *out, int64_t *where)
{
    double low, high;
    bool tensors = f == ADD_S_TIMES_B || f == SUB_S_TIMES_B;
    element a = unknown_element, b = unknown_element;
    operand in[2] = {{0}};
    for (int k = 0; f != ALL_S && k <= tensors; k++) in[k] = operand_of(&inputs[k], out);
    if (!find_number(f, in, said, out, &low, &high, where, &a, &b)) {
        out->at[*where] = tensors ? (element){a.is + b.is, 0} : unknown_element; /* s = 1, for the message */
        return OP_CONTRADICTS;
    }
    if (!isfinite(low) || !isfinite(high)) return OP_UNDECIDED;
    const double s = low + (high - low) / 2, s_within = (high - low) / 2;
    const rounding to = rounding_to(out->dtype);
    in[0].next = in[1].next = 0;
    for (int64_t i = 0; i < out->count; i++) {
        form_next(f, in, &a, &b);
        if (!element_is_known(a) || !element_is_known(b)) continue;
        double within = a.within + fabs(s) * b.within + s_within * (fabs(b.is) + b.within);
        out->at[i] = rounded((element){a.is + s * b.is, within + to.epsilon * fabs(a.is)}, &to);
    }
    return compare(said, out, where); /* what is claimed to be infinite or NaN, too */
}

/* One copy of the loops for each form. */
static outcome_of_op linear(form f, const array *in, const claims *said, array *out, int64_t *where)
{
    switch (f) {
    case ADD_S_TIMES_B: return linear_as(ADD_S_TIMES_B, in, said, out, where);
    case SUB_S_TIMES_B: return linear_as(SUB_S_TIMES_B, in, said, out, where);
    case S_TIMES_A: return linear_as(S_TIMES_A, in, said, out, where);
    case S_OVER_A: return linear_as(S_OVER_A, in, said, out, where);
    case ALL_S: return linear_as(ALL_S, in, said, out, where);
    }
    return OP_UNDECIDED;
}

/* ---- s + t * a, where both numbers are any: a number may come first, and be told how often to add the tensor ---- */

/* The claim from which the others are counted, and the one whose a differs most from it; equal: no other a is known. */
static bool find_ends(operand from, const claims *said, const array *out, int64_t ends[2], element a[2])
{
    const rounding to = rounding_to(out->dtype);
    bool found = false;
    for (int64_t i = 0; i < said->count && i < out->count; i++) {
        element x = next_of(&from);
        if (!element_is_known(x) || !(fabs(said->at[i]) <= to.largest)) continue;
        if (!found) ends[0] = ends[1] = i, a[0] = a[1] = x, found = true;
        if (fabs(x.is - a[0].is) > fabs(a[1].is - a[0].is)) ends[1] = i, a[1] = x;
    }
    return found;
}

/* Each element from the first one: r + t * (a - a0). Where nothing shows t, those with the same a. */
static outcome_of_op affine(const array *in, const claims *said, array *out, int64_t *where)
{
    const rounding to = rounding_to(out->dtype);
    operand from = operand_of(in, out);
    int64_t ends[2];
    element a[2];
    if (!find_ends(from, said, out, ends, a)) return OP_UNDECIDED;
    const double first = said->at[ends[0]], last = said->at[ends[1]], apart = a[1].is - a[0].is;
    const double loose = a[0].within + a[1].within, e = 4 * to.epsilon + 1e-14;
    double t = 0, t_within = 0;
    const bool is_shown = fabs(apart) > 2 * loose;
    if (is_shown) {
        t = (last - first) / apart;
        const double size = fabs(first) + fabs(last) + fabs(t) * (fabs(a[0].is) + fabs(a[1].is));
        t_within = (e * size + 2 * to.smallest + 2 * fabs(t) * loose) / (fabs(apart) - loose);
    }
    for (int64_t i = 0; i < out->count; i++) {
        element x = next_of(&from);
        const double step = x.is - a[0].is, size = fabs(first) + fabs(t) * (fabs(a[0].is) + fabs(x.is));
        if (!element_is_known(x) || (!is_shown && (step != 0 || x.within + loose > 0))) continue;
        const double within = t_within * fabs(step) + (fabs(t) + t_within) * (x.within + a[0].within) + 2 * e * size;
        const element r = {first + t * step, within + to.smallest};
        out->at[i] = rounded(r, &to);
        if (i >= said->count || !(fabs(said->at[i] - r.is) > 2 * r.within) || fabs(r.is) > to.largest) continue;
        out->at[i] = r; /* not rounded: what an integer could be is not sure */
        *where = i;
        return OP_CONTRADICTS;
    }
    return has_known(out) ? compare(said, out, where) : OP_UNDECIDED;
}

/* ---- when two forms fit ---- */

static element either(element a, element b)
{
    const double low = smaller(a.is - a.within, b.is - b.within), high = larger(a.is + a.within, b.is + b.within);
    return element_is_known(a) && element_is_known(b) ? (element){low + (high - low) / 2, (high - low) / 2}
                                                      : unknown_element;
}

static array like(const array *out)
{
    array a = *out;
    a.at = memory_realloc(NULL, (size_t)a.count + 1, sizeof *a.at, "grading");
    for (int64_t i = 0; i < a.count; i++) a.at[i] = unknown_element;
    return a;
}

/* Do the claimed elements come from numbers of different sizes? */
static bool is_telling(const array *in, const claims *said, const array *out)
{
    operand from = operand_of(in, out);
    element first = unknown_element;
    for (int64_t i = 0; i < said->count && i < out->count; i++) {
        element x = next_of(&from);
        if (!element_is_known(first)) first = x;
        if (element_is_known(x) && fabs(fabs(x.is) - fabs(first.is)) > 2 * (x.within + first.within)) return true;
    }
    return false;
}

/* The claims are of the first elements, and those may not show which of two forms it is. out, of `one`, becomes what
 * is so in both, or the one that fits. */
static outcome_of_op join_forms(outcome_of_op one, array *out, outcome_of_op other, const array *of_other, bool telling)
{
    if (other == OP_CONTRADICTS || (one == OP_FITS && other == OP_UNDECIDED && telling)) return one;
    if (one == OP_UNDECIDED || other == OP_UNDECIDED) return OP_UNDECIDED;
    for (int64_t i = 0; i < out->count; i++)
        out->at[i] = one == OP_FITS ? either(out->at[i], of_other->at[i]) : of_other->at[i];
    return OP_FITS;
}

/* ---- powers with a number that the log does not tell ---- */

/* log |r| = factor * number. A_TO_S: the number is the exponent; S_TO_A: the logarithm of the base. */
typedef struct power_search {
    enum { A_TO_S, S_TO_A } form;
    double low, high;        /* the numbers for which every claimed element follows */
    int odd;                 /* A_TO_S: is the exponent? -1: nothing shows it */
    bool negative, positive; /* S_TO_A: a result shows that the base is */
} power_search;

static element factor_of(const power_search *p, element a)
{
    if (p->form == S_TO_A) return a;
    double size = fabs(a.is);
    return size <= 2 * a.within || size == 0 ? unknown_element : (element){log(size), a.within / (size - a.within)};
}

/* Can the result have this sign? */
static bool sign_fits(power_search *p, element a, double r)
{
    if (p->form == S_TO_A) {
        p->negative |= r < 0 || isnan(r);
        p->positive |= r > 0 && is_odd(a) != 0;
        return !(r < 0) || a.within > 0 || is_odd(a) == 1;
    }
    if (!isfinite(r)) return true;
    if (a.is == 0 && a.within == 0) return r == 0 || r == 1;
    if (a.is > -a.within || r == 0) return r >= 0 || a.is <= a.within;
    int odd = r < 0;
    if (p->odd >= 0 && p->odd != odd) return false;
    p->odd = odd;
    return true;
}

static bool narrow(power_search *p, element a, double r, const rounding *to)
{
    element f = factor_of(p, a);
    double e = 8 * to->epsilon + ldexp(1, 1 - POWER_BITS), size = log(fabs(r)), slack = 2 * f.within + 1e-15;
    if (!(fabs(r) >= 2 * to->smallest && fabs(r) <= to->largest / 2) || !element_is_known(f)) return true;
    if (fabs(f.is) <= slack) return fabs(size) <= 1000 * (e + slack); /* to no power that a lesson needs */
    double number = size / f.is, more = (e + fabs(number) * slack) / (fabs(f.is) - slack);
    p->low = larger(p->low, number - more);
    p->high = smaller(p->high, number + more);
    return p->low <= p->high;
}

static outcome_of_op power_as(power_search p, const array *in, const claims *said, array *out, int64_t *where)
{
    operand from = operand_of(in, out);
    const rounding to = rounding_to(out->dtype);
    for (int64_t i = 0; i < said->count && i < out->count; i++) {
        element a = next_of(&from);
        *where = i;
        if (!element_is_known(a)) continue;
        if (!sign_fits(&p, a, said->at[i]) || !narrow(&p, a, said->at[i], &to)) return OP_CONTRADICTS;
    }
    bool sure = p.form == A_TO_S || (p.positive && !p.negative);
    if (!isfinite(p.low) || !isfinite(p.high) || !sure) return OP_UNDECIDED;
    const element number = {p.low + (p.high - p.low) / 2, (p.high - p.low) / 2};
    from.next = 0;
    for (int64_t i = 0; i < out->count; i++) {
        element a = next_of(&from);
        if (!element_is_known(a)) continue;
        out->at[i] = rounded(
            p.form == A_TO_S
                ? power(a, number, p.odd)
                : unary(FY_OP_exp, (element){a.is * number.is, fabs(a.is) * number.within + fabs(number.is) * a.within},
                        to.epsilon + ldexp(1, -POWER_BITS)),
            &to);
    }
    return has_known(out) ? compare(said, out, where) : OP_UNDECIDED;
}

static outcome_of_op power_of(const array *in, const claims *said, array *out, int64_t *where)
{
    const power_search any = {.low = -INFINITY, .high = INFINITY, .odd = -1};
    power_search base = any;
    base.form = S_TO_A;
    int64_t there = 0;
    if (!is_real(out->dtype)) return OP_UNDECIDED;
    array other = like(out);
    outcome_of_op is = power_as(any, in, said, out, where);
    is = join_forms(is, out, power_as(base, in, said, &other, &there), &other, is_telling(in, said, out));
    free(other.at);
    return is;
}

/* ---- numbers in any place ---- */

static outcome_of_op quotient_with_number(const array *in, const claims *said, array *out, int64_t *where)
{
    int64_t there = 0;
    array other = like(out);
    outcome_of_op is = linear(S_TIMES_A, in, said, out, where);
    is = join_forms(is, out, linear(S_OVER_A, in, said, &other, &there), &other, is_telling(in, said, out));
    free(other.at);
    return is;
}

/* Integers wrap around, and only what cannot have is recomputed: as far as it is claimed, since a larger number may
 * stand behind. */
static bool may_wrap(const array *in, int inputs, const claims *said)
{
    const double most = 0x1p31;
    for (int k = 0; k < inputs; k++)
        for (int64_t i = 0; i < in[k].count; i++)
            if (element_is_known(in[k].at[i]) && fabs(in[k].at[i].is) > most) return true;
    for (int64_t i = 0; i < said->count; i++)
        if (!(fabs(said->at[i]) <= most)) return true;
    return false;
}

static outcome_of_op with_number(int op, const array *in, int inputs, const claims *said, array *out, int64_t *where)
{
    const bool exact = !is_real(out->dtype);
    if (op == FY_OP_fill) return linear(ALL_S, in, said, out, where);
    /* an integer may wrap around, and a number may have been rounded to it */
    if (exact && (out->dtype != FY_WORD_int64 || may_wrap(in, inputs, said))) return OP_UNDECIDED;
    outcome_of_op is;
    if (inputs > 1) is = linear(op == FY_OP_add ? ADD_S_TIMES_B : SUB_S_TIMES_B, in, said, out, where);
    else if (op == FY_OP_mul) is = linear(S_TIMES_A, in, said, out, where);
    else if (op == FY_OP_div) is = quotient_with_number(in, said, out, where);
    else is = affine(in, said, out, where);
    for (int64_t i = said->count; exact && i < out->count; i++) out->at[i] = unknown_element;
    return is;
}

/* ---- reductions ---- */

/* The dimensions are not in the log: those count that give the result's shape. */
static outcome_of_op reduction(int op, const array *in, const claims *said, array *out, int64_t *where)
{
    outcome_of_op best = OP_UNDECIDED;
    unsigned fits = 0, last = 0;
    int count = 0, known = 0;
    bool tried[1 << 8] = {false}; /* dimensions of size 1 make no difference */
    for (unsigned dims = 0; dims < 1u << in->ndim; dims++) {
        if (!value_reduces_to(in, dims, out) || tried[dims & value_larger_dims(in)]) continue;
        tried[dims & value_larger_dims(in)] = true;
        value_reduce(op, in, last = dims, out);
        if (!has_known(out)) return OP_UNDECIDED;
        known++;
        if (compare(said, out, where) == OP_CONTRADICTS) continue;
        fits = dims;
        count++;
    }
    if (known) best = count ? OP_FITS : OP_CONTRADICTS;
    if (count == 1 && fits != last) value_reduce(op, in, fits, out);
    for (int64_t i = 0; (count > 1 || !known) && i < out->count; i++) out->at[i] = unknown_element;
    return best;
}

/* ---- products ---- */

static outcome_of_op product(const array *in, const claims *said, array *out, int64_t *where)
{
    return value_product(&in[0], &in[1], out) && has_known(out) ? compare(said, out, where) : OP_UNDECIDED;
}

/* ---- any ---- */

int64_t value_op_steps(int op, const array *in, int inputs, const array *out)
{
    int64_t steps = out->count;
    for (int i = 0; i < inputs; i++) steps += in[i].count;
    if (op == FY_OP_pow || op == FY_OP_exp || op == FY_OP_log || op == FY_OP_tanh || op == FY_OP_sigmoid) steps *= 8;
    if (op == FY_OP_matmul && inputs && in[0].ndim) steps += out->count * in[0].shape[in[0].ndim - 1];
    return steps;
}

outcome_of_op value_op(int op, const array *in, int inputs, const claims *said, array *out, int64_t *where)
{
    bool two = inputs == 2, one = inputs == 1;
    switch (op) {
    case FY_OP_fill: return inputs == 0 ? with_number(op, in, inputs, said, out, where) : OP_UNDECIDED;
    case FY_OP_add:
    case FY_OP_sub: return one || two ? with_number(op, in, inputs, said, out, where) : OP_UNDECIDED;
    case FY_OP_mul:
    case FY_OP_div:
        if (one) return with_number(op, in, inputs, said, out, where);
        return two ? elementwise(op, in, inputs, said, out, where) : OP_UNDECIDED;
    case FY_OP_pow:
        if (one) return power_of(&in[0], said, out, where);
        return two ? elementwise(op, in, inputs, said, out, where) : OP_UNDECIDED;
    case FY_OP_maximum:
    case FY_OP_minimum:
    case FY_OP_threshold_backward: /* other dtypes are converted before they are compared */
    case FY_OP_eq:
    case FY_OP_ne:
    case FY_OP_lt:
    case FY_OP_le:
    case FY_OP_gt:
    case FY_OP_ge:
        return two && in[0].dtype == in[1].dtype ? elementwise(op, in, inputs, said, out, where) : OP_UNDECIDED;
    case FY_OP_sum:
    case FY_OP_mean:
    case FY_OP_max:
    case FY_OP_min: return one ? reduction(op, in, said, out, where) : OP_UNDECIDED;
    case FY_OP_matmul: return two ? product(in, said, out, where) : OP_UNDECIDED;
    default: return one ? elementwise(op, in, inputs, said, out, where) : OP_UNDECIDED;
    }
}
