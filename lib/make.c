/* make.c: the factories of ferry.h. A tensor is made on the device that the options name. */
#include <math.h>

#include "tensor.h"

/* Device, dtype and name of a call, from its options. False after an error. */
static bool begin(fy_call *c, const fy_opts *o, fy_dtype usual)
{
    fy_session_start();
    c->dtype = o->dtype == FY_DTYPE_UNSET ? usual : o->dtype;
    if (!fy_dtype_ok(c->at, c->dtype)) return false;
    c->dev = fy_dev_parse(c->at, o->device ? o->device : "cpu");
    c->name = fy_name_for(c->at, o->name);
    return c->dev != NULL;
}

static fy_tensor *finish(const fy_call *c)
{
    int64_t numel;
    if (!fy_shape_ok(c->at, &c->shape, c->dtype, &numel)) return NULL;
    return fy_hand_out(fy_dispatch(c));
}

static int64_t whole(double x)
{
    if (x >= 9223372036854775808.0) return INT64_MAX;
    return x >= -9223372036854775808.0 ? (int64_t)x : INT64_MIN;
}

static fy_tensor *filled(fy_site *at, fy_shape shape, fy_arg value, const fy_opts *o)
{
    fy_call c = {.at = at, .op = FY_OP_fill, .shape = shape};
    if (!begin(&c, o, value.is_int ? FY_INT64 : FY_FLOAT32)) return NULL;
    c.real[0] = value.real;
    c.integer[0] = value.is_int ? value.integer : whole(value.real);
    return finish(&c);
}

fy_tensor *fy_zeros_at(fy_site *at, fy_shape shape, fy_opts o) { return filled(at, shape, fy_arg_real(0), &o); }
fy_tensor *fy_ones_at(fy_site *at, fy_shape shape, fy_opts o) { return filled(at, shape, fy_arg_real(1), &o); }

fy_tensor *fy_full_at(fy_site *at, fy_shape shape, fy_arg value, fy_opts o)
{
    if (value.is_tensor)
        return fy_fail(at, "value", "take the number out with fy_item",
                       "the fill value must be a number, not a tensor");
    return filled(at, shape, value, &o);
}

fy_tensor *fy_randn_at(fy_site *at, fy_shape shape, fy_opts o)
{
    int64_t numel;
    fy_call c = {.at = at, .op = FY_OP_randn, .shape = shape};
    if (!begin(&c, &o, FY_FLOAT32) || !fy_shape_ok(at, &shape, c.dtype, &numel)) return NULL;
    if (c.dtype != FY_FLOAT32)
        return fy_fail(at, "dtype", "leave .dtype out, and convert with fy_to(x, FY_INT64) if need be",
                       "\"normal_kernel_%s\" not implemented for '%s'", c.dev->number ? "cuda" : "cpu",
                       fy_dtype_torch(c.dtype));
    if (c.dev->number > 0) {
        fy_philox p = fy_random_take(c.dev->number, numel);
        c.integer[0] = (int64_t)p.seed;
        c.integer[1] = (int64_t)p.offset;
    }
    return finish(&c);
}

/* How many steps fit between whole numbers, to the last: doubles skip some beyond 2^53. */
static __int128 whole_steps(__int128 start, __int128 end, __int128 step)
{
    __int128 way = end - start, beyond = way > 0 ? step - 1 : step + 1;
    return way == 0 ? 0 : (way + beyond) / step;
}

/* How many steps fit before end; -1 after an error. */
static int64_t count_steps(fy_site *at, const fy_arg *range, bool ints)
{
    double start = range[0].real, end = range[1].real, step = range[2].real;
    if (ints && step != 0 && (step > 0 ? range[1].integer >= range[0].integer : range[1].integer <= range[0].integer)) {
        __int128 steps = whole_steps(range[0].integer, range[1].integer, range[2].integer);
        if (steps < (__int128)9000000000000000) return (int64_t)steps;
    }
    if (step == 0) fy_fail(at, "value", "a step of 1 or -1", "step must be nonzero");
    else if (!isfinite(start) || !isfinite(end) || !isfinite(step))
        fy_fail(at, "value", "finite numbers", "unsupported range: %g -> %g", start, end);
    else if ((step > 0 && end < start) || (step < 0 && end > start))
        fy_fail(at, "value", "turn the sign of the step round, or swap start and end",
                "upper bound and larger bound inconsistent with step sign");
    else if (ceil((end - start) / step) >= 9e15)
        fy_fail(at, "value", "a shorter range", "invalid size, possible overflow?");
    else return (int64_t)ceil((end - start) / step);
    return -1;
}

fy_tensor *fy_arange_at(fy_site *at, size_t n, const fy_arg *range, fy_opts o)
{
    fy_call c = {.at = at, .op = FY_OP_arange};
    bool ints = true;
    if (n < 1 || n > 3)
        return fy_fail(at, "value", "fy_arange((end)), ((start, end)) or ((start, end, step))",
                       "a range has 1 to 3 numbers, not %zu", n);
    for (size_t i = 0; i < n; i++) {
        if (range[i].is_tensor)
            return fy_fail(at, "value", "take the number out with fy_item",
                           "a range is made of numbers, not of tensors");
        ints &= range[i].is_int;
    }
    if (!begin(&c, &o, ints ? FY_INT64 : FY_FLOAT32)) return NULL;
    fy_arg start = n > 1 ? range[0] : fy_arg_int(0), end = range[n > 1], step = n > 2 ? range[2] : fy_arg_int(1);
    int64_t count = count_steps(at, (fy_arg[]){start, end, step}, ints);
    if (count < 0) return NULL;
    c.shape = (fy_shape){1, {count}};
    c.real[0] = start.real;
    c.real[1] = step.real;
    c.integer[0] = start.is_int ? start.integer : whole(start.real);
    c.integer[1] = step.is_int ? step.integer : whole(step.real);
    return finish(&c);
}

fy_tensor *fy_make_host(fy_site *at, fy_dtype dtype, const fy_shape *shape, const char *name)
{
    int64_t numel;
    if (!fy_shape_ok(at, shape, dtype, &numel)) return NULL;
    fy_storage *s = fy_storage_make(at, fy_dev_at(0), (size_t)numel * fy_dtype_size(dtype));
    if (!s) return NULL;
    fy_geometry g = {.dtype = dtype, .shape = *shape};
    fy_shape_rows(shape, g.strides);
    return fy_tensor_make(at, s, &g, name, 0);
}

static void set_values(fy_tensor *x, size_t n, const fy_arg *values)
{
    for (size_t i = 0; i < n; i++) {
        if (x->dtype == FY_INT64)
            ((int64_t *)x->storage->data)[i] = values[i].is_int ? values[i].integer : whole(values[i].real);
        else ((float *)x->storage->data)[i] = (float)values[i].real;
    }
}

/* The program's values are in host memory: they are written there, and moved if a card is asked for. */
fy_tensor *fy_tensor_at(fy_site *at, size_t n, const fy_arg *values, fy_opts o)
{
    fy_call c = {.at = at};
    bool ints = n > 0;
    for (size_t i = 0; i < n; i++) {
        if (values[i].is_tensor)
            return fy_fail(at, "value", "take the number out with fy_item", "the values must be numbers, not tensors");
        ints &= values[i].is_int;
    }
    if (!begin(&c, &o, ints ? FY_INT64 : FY_FLOAT32)) return NULL;
    bool host = c.dev->number == 0;
    fy_tensor *x = fy_make_host(at, c.dtype, &(fy_shape){1, {(int64_t)n}}, host ? c.name : NULL);
    if (!x) return NULL;
    set_values(x, n, values);
    fy_emit_write(at, x, FY_WORD_set);
    if (host) return fy_hand_out(x);
    fy_tensor *moved = fy_move(at, x, c.dev, c.dtype, c.name);
    fy_tensor_drop(at, x, FY_WORD_free);
    return fy_hand_out(moved);
}
