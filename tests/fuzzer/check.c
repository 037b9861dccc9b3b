/* check.c: see check.h. */
#include <math.h>

#include "check.h"
#include "dtype.h"
#include "fits.h"
#include "ledger.h"
#include "op.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"

tally *worker_tally;

/* ---- allowed differences ---- */

/* The largest finite magnitude of x's elements. Sums pass NaN and infinity on unchanged, so they do not count. */
static double max_magnitude(const fy_tensor *x)
{
    double most = 0;
    for (int64_t i = 0; x && i < fy_numel(x); i++) {
        double v = fabs(fy_real_at(x->dtype, element_of(x, i), 0));
        if (isfinite(v) && v > most) most = v;
    }
    return most;
}

/* The sum of |log2| of x's elements: bounds the magnitude of every partial product. */
static double sum_of_logs(const fy_tensor *x)
{
    double total = 0;
    for (int64_t i = 0; i < fy_numel(x); i++) {
        double v = fabs(fy_real_at(x->dtype, element_of(x, i), 0));
        if (isfinite(v) && v > 0) total += fabs(log2(v));
    }
    return total;
}

enum { BLOCK = 128 };

static tolerance tolerance_within(double relative, double absolute) { return (tolerance){relative, absolute, NULL}; }

/* A sum of n products of magnitude `size`, in any order, accumulated in float (double for double). Equal numbers are
 * rounded in one direction: blocks of up to BLOCK are added one after the other, each with an error of n * eps / 2. */
static tolerance sum_tolerance(fy_dtype d, double n, double size)
{
    fy_dtype inner = d == FY_FLOAT64 ? FY_FLOAT64 : FY_FLOAT32;
    if (!fy_dtype_is_real(d)) return tolerance_within(0, 0);
    if (n * size > max_finite[inner] / 4) return (tolerance){.skip = "a sum may overflow on its way"};
    return tolerance_within(epsilons[d], (4 * (n + 2) + n * fmin(n, BLOCK) / 2) * epsilons[inner] * size);
}

static tolerance reduction_tolerance(const step *s, const fy_tensor *out)
{
    fy_tensor *x = host_operand(s, 0);
    double n = out && fy_numel(out) ? (double)fy_numel(x) / (double)fy_numel(out) : 1, size = max_magnitude(x);
    fy_dtype d = out ? out->dtype : x->dtype;
    switch (op_of(s)) {
    case FY_OP_sum:
    case FY_OP_mean: return sum_tolerance(d, n, size);
    case FY_OP_var: return sum_tolerance(d, n, size * size * 4);
    case FY_OP_norm: {
        double p = s->values ? s->value[0].real : 2;
        if (p == 2 || p == 1)
            return sum_tolerance(d, n, size * (p == 2 ? size : 1)).skip ? sum_tolerance(d, n, size * size)
                                                                        : tolerance_within((n + 4) * epsilons[d], 0);
        if (p == 0 || isinf(p)) return tolerance_within(epsilons[d], 0);
        return (tolerance){.skip = "powers of a norm may overflow on their way"};
    }
    case FY_OP_prod:
        if (!fy_dtype_is_real(d)) return tolerance_within(0, 0);
        if (sum_of_logs(x) > (d == FY_FLOAT64 ? 900 : 120))
            return (tolerance){.skip = "a product may overflow on its way"};
        return tolerance_within((n + 2) * epsilons[d], 0);
    default: return tolerance_within(0, 0);
    }
}

/* exp and similar functions: some ulps of the result, or of 1 where the result is small compared with 1. */
static tolerance function_tolerance(int op, fy_dtype d)
{
    bool half = d == FY_FLOAT16 || d == FY_BFLOAT16;
    double e = epsilons[d], inner = epsilons[half ? FY_FLOAT32 : d];
    switch (op) {
    case FY_OP_exp:
    case FY_OP_tanh:
    case FY_OP_sigmoid:
    case FY_OP_pow:
        return tolerance_within(half ? 1.01 * e : 16 * e, d == FY_FLOAT64 ? 3e-308 : d == FY_FLOAT16 ? 6e-8 : 2e-38);
    case FY_OP_log: return tolerance_within(half ? 1.01 * e : 8 * e, 8 * inner);
    case FY_OP_sin:
    case FY_OP_cos: return tolerance_within(half ? 1.01 * e : 8 * e, 8 * inner);
    default: return tolerance_within(0, 0);
    }
}

static bool is_finite(const fy_tensor *x)
{
    for (int64_t i = 0; x && i < fy_numel(x); i++)
        if (!isfinite(fy_real_at(x->dtype, element_of(x, i), 0))) return false;
    return true;
}

/* How far n elements of x from `first` on may differ when they are normalized, as below. Infinity: nothing is known. A
 * row with a NaN or infinity becomes NaN. */
static double row_tolerance(const fy_tensor *x, int64_t first, int64_t n, double eps, double unit)
{
    double sum = 0, squares = 0, size = 0;
    for (int64_t i = first; i < first + n; i++) {
        double v = fy_real_at(x->dtype, element_of(x, i), 0);
        if (!isfinite(v)) return 0;
        sum += v, size = fmax(size, fabs(v));
    }
    for (int64_t i = first; i < first + n; i++)
        squares += pow(fy_real_at(x->dtype, element_of(x, i), 0) - sum / (double)n, 2);
    double width = sqrt(squares / (double)n + eps), off = ((double)n + 2) * unit * size / width;
    if (!(width > 1e-15) || !(off < 0.1) || 4 * (double)n * size * size > max_finite[FY_FLOAT32]) return INFINITY;
    return off + sqrt((double)n) * (2 * off + ((double)n + 8) * unit);
}

/* The card adds floats up, the CPU doubles (both doubles for float64). A sum of n elements of magnitude `size` is off
 * by up to n * unit * size / 2, so a distance from the mean is off by (n + 2) * unit * size; divided by the row's
 * width, sqrt(variance + eps), that is `off`. The width itself is off by a part 2 * off + n * unit, times a normalized
 * element, which is at most sqrt(n). Then weight and bias: one rounding more each, of numbers of their magnitude. */
static tolerance layer_norm_tolerance(const step *s, fy_dtype d)
{
    fy_tensor *x = host_operand(s, 0), *weight = host_operand(s, 1), *bias = host_operand(s, 2);
    double worst = 0, unit = epsilons[d == FY_FLOAT64 ? FY_FLOAT64 : FY_FLOAT32];
    int64_t n = fy_shape_numel(&s->shape);
    for (int64_t i = 0; n > 0 && i < fy_numel(x); i += n)
        worst = fmax(worst, row_tolerance(x, i, n, s->values ? s->value[0].real : 1e-5, unit));
    double scale = weight ? max_magnitude(weight) : 1, most = sqrt((double)n) * scale + max_magnitude(bias);
    if (isinf(worst)) return (tolerance){.skip = "a row is narrower than its rounding"};
    if (!is_finite(weight) || most > max_finite[FY_FLOAT32] / 4) return (tolerance){.skip = "a weight is too large"};
    return tolerance_within(epsilons[d], worst * scale + 4 * unit * most + (d == FY_FLOAT16 ? 6e-8 : 0));
}

/* Floats that become integers of another device's rules: NaN, and what an int32 cannot hold. */
static bool is_beyond_integers(const fy_tensor *x)
{
    if (!x || !fy_dtype_is_real(x->dtype)) return false;
    for (int64_t i = 0; i < fy_numel(x); i++)
        if (!(fabs(fy_real_at(x->dtype, element_of(x, i), 0)) < 0x1p31)) return true;
    return false;
}

tolerance tolerance_of(const step *s, const fy_tensor *out)
{
    fy_tensor *x = host_operand(s, 0), *y = host_operand(s, 1);
    fy_dtype d = out->dtype;
    call_kind k = call_of(s)->kind;
    double inner = epsilons[d == FY_FLOAT64 ? FY_FLOAT64 : FY_FLOAT32];
    if (is_random(s)) return (tolerance){.skip = "each device draws its own numbers"};
    if (is_unset(s)) return (tolerance){.skip = "it has any values"};
    if (fy_dtype_is_integer(d) && (is_beyond_integers(x) || is_beyond_integers(y)))
        return (tolerance){.skip = "each device converts these floats by its own rules"};
    if (!fy_dtype_is_real(d)) return tolerance_within(0, 0);
    if (is_named(s, "linspace")) return tolerance_within(2 * epsilons[d], 16 * inner);
    if (k == REDUCE) return reduction_tolerance(s, out);
    if (k == LAYER_NORM) return layer_norm_tolerance(s, d);
    if (is_named(s, "cumsum")) return sum_tolerance(d, (double)fy_numel(x), max_magnitude(x));
    if (k == ALONG)
        return tolerance_within(2 * epsilons[d] + 32 * inner, 8 * inner * (1 + fmin(max_magnitude(x), 1e30)));
    if (k == PRODUCT || k == LINEAR)
        return sum_tolerance(d, (double)x->shape[x->ndim - 1] + 1,
                             fmax(max_magnitude(x) * max_magnitude(y), max_magnitude(host_operand(s, 2))));
    if (k == ADDMM)
        return sum_tolerance(d, (double)y->shape[1] + 1,
                             fmax(max_magnitude(y) * max_magnitude(host_operand(s, 2)), max_magnitude(x)) * 4);
    if (k == CROSS_ENTROPY) return sum_tolerance(d, (double)fy_numel(x) + 8, max_magnitude(x) + 8);
    if (k == MSE)
        return sum_tolerance(d, (double)MAX_ELEMENTS,
                             4 * fmax(max_magnitude(x) * max_magnitude(x), max_magnitude(y) * max_magnitude(y)));
    return function_tolerance(op_of(s), d);
}

/* ---- invariants across both worlds ---- */

void check_handles(const fy_tensor *a, const fy_tensor *b)
{
    if (a->dtype != b->dtype)
        fail_check("the result is %s on the CPU and %s on the card", fy_dtype_name(a->dtype), fy_dtype_name(b->dtype));
    if (a->ndim != b->ndim) fail_check("the result has %d dimensions on the CPU and %d on the card", a->ndim, b->ndim);
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] || a->strides[d] != b->strides[d])
            fail_check("dimension %d is %lld, stride %lld on the CPU and %lld, stride %lld on the card", d,
                       (long long)a->shape[d], (long long)a->strides[d], (long long)b->shape[d],
                       (long long)b->strides[d]);
    if (a->offset != b->offset)
        fail_check("the result begins at %lld on the CPU and %lld on the card", (long long)a->offset,
                   (long long)b->offset);
}

void check_inside(const fy_tensor *x)
{
    int64_t last = x->offset, size = (int64_t)fy_dtype_size(x->dtype);
    if (!fy_numel(x)) return; /* the strides of an empty tensor may overflow the product */
    for (int d = 0; d < x->ndim; d++) last += (x->shape[d] - 1) * x->strides[d];
    if (x->offset < 0 || (last + 1) * size > (int64_t)x->storage->asked)
        fail_check("the result reaches from element %lld to %lld of a storage of %zu bytes", (long long)x->offset,
                   (long long)last, x->storage->asked);
}

static double rounded_to(fy_dtype d, double x)
{
    double element;
    fy_number_put(d, &element, 0, fy_arg_real(x));
    return fy_real_at(d, &element, 0);
}

/* uniform_'s bounds are rounded to the dtype, and so is each number between them: it may become the upper one. A normal
 * number is less than 12 deviations off; one beyond the dtype's range is infinite. No deviation of an infinite width,
 * which the dtype made of a large one, is NaN, as in PyTorch: 0 times infinity. */
static bool may_draw(const step *s, fy_dtype d, double v)
{
    double a = s->value[0].real, b = s->value[1].real;
    if (is_named(s, "bernoulli_")) return v == 0 || (v == 1 && a > 0);
    if (is_named(s, "uniform_")) return v >= rounded_to(d, a) && v <= rounded_to(d, b);
    tolerance allowed = tolerance_within(2 * epsilons[d], 12 * b + 1e-7);
    if (isnan(v)) return !isfinite(a) || isinf(rounded_to(d, b));
    return !isfinite(a) || is_close(v, a, d, &allowed) || (isinf(v) && fabs(a) + 12 * b >= max_finite[d]);
}

/* An element is dropped, or scaled: 1 / (1 - p) and the product are rounded. 0 times infinity is NaN. */
static bool may_drop(const step *s, fy_dtype d, double x, double v)
{
    double p = s->value[0].real;
    tolerance allowed = tolerance_within(2 * epsilons[d], d == FY_FLOAT16 ? 6e-8 : 0);
    bool dropped = isfinite(x) ? v == 0 : isnan(v);
    return p == 0 ? v == x : (dropped || (p < 1 && is_close(v, x / (1 - p), d, &allowed)));
}

static void check_drawn(const step *s, const fy_tensor *x, int which)
{
    const fy_tensor *from = host_operand(s, 0);
    for (int64_t i = 0; i < fy_numel(x); i++) {
        double v = fy_real_at(x->dtype, read_buffer[which], place_of(x, i));
        bool drop = is_named(s, "dropout");
        if (drop ? !may_drop(s, x->dtype, fy_real_at(x->dtype, element_of(from, i), 0), v) : !may_draw(s, x->dtype, v))
            fail_check("it drew %.17g %s", v, which ? "on the card" : "on the CPU");
    }
}

void check_random(const step *s, const fy_tensor *x)
{
    bool used[64] = {0};
    if (call_of(s)->kind == DRAW || call_of(s)->kind == CHANCE) {
        check_drawn(s, x, HOST_WORLD);
        check_drawn(s, x, CARD_WORLD);
        return;
    }
    for (int64_t i = 0; i < fy_numel(x); i++) {
        double v = fy_real_at(x->dtype, read_buffer[1] + (size_t)i * fy_dtype_size(x->dtype), 0);
        if ((is_named(s, "rand") || is_named(s, "rand_like")) &&
            !(v >= 0 && (v < 1 || x->dtype == FY_FLOAT16 || x->dtype == FY_BFLOAT16)))
            fail_check("rand drew %g", v);
        if ((is_named(s, "randn") || is_named(s, "randn_like")) && !(fabs(v) < 12)) fail_check("randn drew %g", v);
        if (is_named(s, "randint") && !(v >= s->value[0].real && v < s->value[1].real))
            fail_check("randint drew %g", v);
        if (is_named(s, "randperm") && (v < 0 || v >= 64 || used[(int)v]))
            fail_check("randperm drew %g out of order", v);
        if (is_named(s, "randperm")) used[(int)v] = true;
    }
}

void check_counts(const world *w)
{
    for (int i = 0; i < MAX_SLOTS; i++) {
        const fy_tensor *x = w->slot[i];
        uint32_t refs = 0, handles = 0;
        for (int k = 0; x && k < MAX_SLOTS; k++) {
            bool first = w->slot[k] && w->slot[k]->storage == x->storage;
            for (int m = 0; first && m < k; m++) first = w->slot[m] != w->slot[k];
            refs += w->slot[k] == x;
            handles += first;
        }
        if (x && (x->refs != refs || x->storage->refs != handles))
            fail_check("t%d %s: its handle has %u references for %u holders, its storage %u for %u handles",
                       i % MAX_STEPS, w->which ? "on the card" : "on the CPU", x->refs, refs, x->storage->refs,
                       handles);
        for (int k = 0; x && k < i; k++)
            if ((worlds[0].slot[k] == worlds[0].slot[i]) != (worlds[1].slot[k] == worlds[1].slot[i]))
                fail_check("t%d and t%d are one tensor in one world and two in the other", k % MAX_STEPS,
                           i % MAX_STEPS);
    }
}

void check_ledger(void)
{
    int64_t handles = 0;
    follow_log();
    check_bytes();
    for (int w = 0; w < 2; w++)
        for (int i = 0; i < MAX_SLOTS; i++) {
            const fy_tensor *x = worlds[w].slot[i];
            bool first = x != NULL;
            for (int k = 0; first && k < i; k++) first = worlds[w].slot[k] != x;
            handles += first;
            if (x && !tensor_entry(x->id)->live) fail_check("the log does not know tensor %u", x->id);
            if (x && storage_entry(x->storage->id)->version != x->storage->version)
                fail_check("storage %u has version %u, the log says %u", x->storage->id, x->storage->version,
                           storage_entry(x->storage->id)->version);
        }
    if (ledger.tensor_count != handles)
        fail_check("%lld tensors are alive, the program has %lld", (long long)ledger.tensor_count, (long long)handles);
    if (ledger.storage_count != 2 * pair_count)
        fail_check("%lld storages are alive, the program has %d", (long long)ledger.storage_count, 2 * pair_count);
}
