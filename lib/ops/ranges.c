/* ranges.c: arange, linspace, eye. */
#include <math.h>

#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "frame.h"
#include "half.h"
#include "make.h"
#include "op.h"
#include "tensor.h"

typedef struct range {
    fy_arg start, end, step;
} range;

static fy_arg truncated(fy_arg x) { return x.is_int ? x : fy_arg_int(fy_to_int64(x.real)); }

static bool check_range(fy_site *at, const range *r)
{
    double start = r->start.real, end = r->end.real, step = r->step.real;
    if (step == 0) return fy_fail(at, "value", "use a step that is not 0, such as 1 or -1", "step must be nonzero");
    if (!isfinite(start) || !isfinite(end) || !isfinite(step))
        return fy_fail(at, "value", "use finite numbers", "unsupported range: %g -> %g", start, end);
    if ((step > 0 && end < start) || (step < 0 && end > start))
        return fy_fail(at, "value", "reverse the sign of the step, or swap start and end",
                       "upper bound and larger bound inconsistent with step sign");
    return true;
}

/* The number of elements; -1 after an error. As in PyTorch: for integer dtypes start, end and step are truncated first;
 * int64 counts the truncated steps, smaller dtypes the given ones. */
static int64_t count_steps(fy_site *at, const range *given, fy_dtype d)
{
    range whole = {truncated(given->start), truncated(given->end), truncated(given->step)};
    double start = given->start.real, end = given->end.real, step = given->step.real;
    if (isfinite(start) && isfinite(end) && isfinite(step) && fy_dtype_is_integer(d)) {
        if (!check_range(at, &whole)) return -1;
        if (d == FY_INT64 || (given->start.is_int && given->end.is_int && given->step.is_int)) {
            /* Rounded up. In 128 bits: a double is not exact beyond 2^53. */
            __int128 distance = (__int128)whole.end.integer - whole.start.integer, each = whole.step.integer;
            __int128 steps = distance == 0 ? 0 : (distance + each + (distance > 0 ? -1 : 1)) / each;
            if (steps < (__int128)9000000000000000) return (int64_t)steps;
        }
    }
    if (!check_range(at, given)) return -1;
    double count = ceil((end - start) / step);
    if (count < 9e15) return (int64_t)count;
    fy_fail(at, "value", "use a shorter range", "invalid size, possible overflow?");
    return -1;
}

fy_tensor *fy_arange_at(fy_site *at, size_t n, const fy_arg *range_, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_arange};
    bool ints;
    if (n < 1 || n > 3)
        return fy_fail(at, "value", "fy_arange((end)), ((start, end)) or ((start, end, step))",
                       "a range has 1 to 3 numbers, not %zu", n);
    if (!fy_make_numbers(at, "a range is made of numbers, not tensors", n, range_, &ints)) return NULL;
    if (!fy_make_begin(&c, &o, ints ? FY_INT64 : FY_FLOAT32)) return NULL;
    range r = {n > 1 ? range_[0] : fy_arg_int(0), range_[n > 1], n > 2 ? range_[2] : fy_arg_int(1)};
    int64_t count = count_steps(at, &r, c.dtype);
    if (count < 0) return NULL;
    c.shape = (fy_shape){1, {count}};
    fy_make_scalar(&c, FY_ARANGE_start, r.start);
    fy_make_scalar(&c, FY_ARANGE_step, r.step);
    return fy_make_finish(&c);
}

fy_tensor *fy_linspace_at(fy_site *at, size_t n, const fy_arg *range_, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_linspace};
    bool ints;
    if (n != 3)
        return fy_fail(at, "value", "fy_linspace((0, 1, 5)): start, end, number of elements",
                       "fy_linspace takes 3 numbers, not %zu", n);
    if (!fy_make_numbers(at, "a range is made of numbers, not tensors", n, range_, &ints)) return NULL;
    int64_t steps = range_[2].integer;
    if (!range_[2].is_int)
        return fy_fail(at, "value", "the third number is the element count: fy_linspace((0, 1, 5))",
                       "steps must be a whole number, not %g", range_[2].real);
    if (steps < 0) return fy_fail(at, "value", "use 0 or more", "number of steps must be non-negative");
    if (!fy_make_begin(&c, &o, FY_FLOAT32)) return NULL;
    for (int i = 0; i < 2; i++) {
        bool used = steps > i; /* one step is the start alone */
        if (used && c.dtype != FY_BOOL && !fy_fits(at, c.dtype, range_[i], fy_dtype_scalar(c.dtype))) return NULL;
        fy_make_scalar(&c, FY_LINSPACE_start + i, range_[i]);
    }
    c.shape = (fy_shape){1, {steps}};
    return fy_make_finish(&c);
}

fy_tensor *fy_eye_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_eye};
    if (shape.ndim != 1 && shape.ndim != 2)
        return fy_fail(at, "shape", "fy_eye((3)) or fy_eye((2, 3))", "fy_eye takes 1 or 2 sizes, not %d", shape.ndim);
    for (int i = 0; i < shape.ndim; i++)
        if (shape.dims[i] < 0)
            return fy_fail(at, "shape", "use a size of 0 or more", "%c must be greater or equal to 0, got %lld",
                           i ? 'm' : 'n', (long long)shape.dims[i]);
    if (!fy_make_begin(&c, &o, FY_FLOAT32)) return NULL;
    c.shape = (fy_shape){2, {shape.dims[0], shape.dims[shape.ndim - 1]}};
    return fy_make_finish(&c);
}
