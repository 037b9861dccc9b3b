/* make.c: factories on the device that the options name: zeros, ones, full, empty, those like another tensor, and
 * fy_tensor's list of values. */
#include "make.h"

#include <float.h>
#include <math.h>

#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "half.h"
#include "launch_record.h"
#include "op.h"
#include "run_work.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

bool fy_make_begin(fy_call *c, const fy_opts *o, fy_dtype usual)
{
    fy_session_start();
    c->dtype = o->dtype == FY_DTYPE_UNSET ? usual : o->dtype;
    if (!fy_dtype_ok(c->at, c->dtype)) return false;
    c->dev = o->device ? fy_dev_parse(c->at, o->device) : fy_dev_default(c->at);
    c->name = fy_name_for(c->at, o->name);
    c->pinned = o->pin_memory;
    c->requires_grad = o->requires_grad;
    if (c->requires_grad && !fy_dtype_is_real(c->dtype))
        return fy_fail(c->at, "dtype", "use .dtype = FY_FLOAT32, or leave .requires_grad out",
                       "Only Tensors of floating point and complex dtype can require gradients");
    if (c->dev && c->pinned && c->dev->number > 0)
        return fy_fail(c->at, "device",
                       o->device ? "leave .pin_memory or .device out"
                                 : fy_hint("the default device is %s: pass .device = \"cpu\"", c->dev->name),
                       "Only dense CPU tensors can be pinned");
    return c->dev;
}

fy_tensor *fy_make_finish(const fy_call *c)
{
    int64_t numel;
    if (!fy_shape_ok(c->at, &c->shape, c->dtype, &numel)) return NULL;
    return fy_make_result(c, fy_dispatch(c));
}

fy_tensor *fy_make_result(const fy_call *c, fy_tensor *x)
{
    if (x && c->requires_grad) fy_graph_require(c->at, x, true);
    return fy_scope_track(x);
}

bool fy_make_numbers(fy_site *at, const char *message, size_t n, const fy_arg *values, bool *ints)
{
    *ints = n > 0;
    for (size_t i = 0; i < n; i++) {
        if (values[i].is_tensor) return fy_fail(at, "value", "read the number with fy_item", "%s", message);
        if (!fy_number_ok(at, &values[i])) return false;
        *ints &= values[i].is_int;
    }
    return true;
}

/* ---- the range of a dtype ---- */

typedef struct limits {
    double low, high;
    int64_t lowest, highest; /* of integer types */
} limits;

static limits limits_of(fy_dtype d)
{
    switch (d) {
    case FY_FLOAT16: return (limits){.low = -65504, .high = 65504};
    case FY_BFLOAT16: return (limits){.low = -3.3895313892515355e38, .high = 3.3895313892515355e38};
    case FY_FLOAT32: return (limits){.low = -FLT_MAX, .high = FLT_MAX};
    case FY_INT32: return (limits){INT32_MIN, INT32_MAX, INT32_MIN, INT32_MAX};
    case FY_UINT8: return (limits){0, UINT8_MAX, -UINT8_MAX, UINT8_MAX};
    case FY_INT64: return (limits){-0x1p63, 0x1p63, INT64_MIN, INT64_MAX};
    default: return (limits){.low = -DBL_MAX, .high = DBL_MAX};
    }
}

double fy_dtype_largest(fy_dtype d) { return limits_of(d).high; }

static bool is_representable(fy_dtype d, const fy_arg *x)
{
    limits l = limits_of(d);
    if (d == FY_BOOL) return true;
    if (fy_dtype_is_integer(d) && x->is_int) return x->integer >= l.lowest && x->integer <= l.highest;
    if (fy_dtype_is_real(d) && !isfinite(x->real)) return true;
    return x->real >= l.low && x->real <= l.high;
}

const char *fy_dtype_scalar(fy_dtype d)
{
    switch (d) {
    case FY_UINT8: return "uint8_t";
    case FY_INT32: return "int";
    case FY_INT64: return "int64_t";
    case FY_FLOAT16: return "at::Half";
    case FY_BFLOAT16: return "at::BFloat16";
    case FY_FLOAT64: return "double";
    default: return d == FY_BOOL ? "bool" : "float";
    }
}

bool fy_fits(fy_site *at, fy_dtype d, fy_arg value, const char *type)
{
    if (is_representable(d, &value)) return true;
    limits l = limits_of(d);
    return fy_fail(
        at, "value",
        fy_hint("%s holds %.6g to %.6g: choose another .dtype, or another value", fy_dtype_name(d), l.low, l.high),
        "value cannot be converted to type %s without overflow", type);
}

/* ---- one value for all elements ---- */

void fy_make_scalar(fy_call *c, int i, fy_arg value)
{
    c->real[i] = value.real;
    c->integer[i] = value.is_int ? value.integer : fy_to_int64(value.real);
    if (c->dtype == FY_BOOL) c->real[i] = (double)(c->integer[i] = value.real != 0); /* 0.5 and NaN are true */
}

static fy_tensor *filled(fy_site *at, fy_shape shape, fy_arg value, const fy_opts *o)
{
    fy_call c = {.at = at, .op = FY_OP_fill, .shape = shape};
    if (!fy_make_begin(&c, o, fy_result_of(1, &value))) return NULL;
    if (!fy_fits(at, c.dtype, value, fy_dtype_scalar(c.dtype))) return NULL;
    fy_make_scalar(&c, FY_FILL_value, value);
    return fy_make_finish(&c);
}

fy_tensor *fy_zeros_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    return filled(at, shape, fy_arg_real(0), &o);
}
fy_tensor *fy_ones_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    return filled(at, shape, fy_arg_real(1), &o);
}

fy_tensor *fy_full_at(fy_site *at, fy_shape shape, fy_arg value, fy_opts o)
{
    FY_CALL(at);
    bool ints;
    if (!fy_make_numbers(at, "the fill value must be a number, not a tensor", 1, &value, &ints)) return NULL;
    return filled(at, shape, value, &o);
}

/* ---- like another tensor ---- */

fy_geometry fy_geometry_like(const fy_tensor *x)
{
    fy_geometry g = fy_geometry_of(x);
    fy_layout l = fy_layout_of(&g);
    g.offset = 0;
    if (!fy_is_dense(&g)) fy_shape_follow(&g.shape, 1, &l, true, g.strides);
    return g;
}

static fy_tensor *filled_like(fy_site *at, fy_tensor *x, fy_arg value)
{
    fy_session_start();
    if (!fy_check(at, 0, x) || !fy_fits(at, x->dtype, value, fy_dtype_scalar(x->dtype))) return NULL;
    fy_geometry g = fy_geometry_like(x);
    fy_call c = {.at = at, .op = FY_OP_fill, .shape = g.shape, .strides = g.strides, .dtype = g.dtype};
    c.dev = x->storage->dev;
    c.name = fy_name_for(at, NULL);
    fy_make_scalar(&c, FY_FILL_value, value);
    return fy_make_finish(&c);
}

fy_tensor *fy_zeros_like_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    return filled_like(at, x, fy_arg_int(0));
}
fy_tensor *fy_ones_like_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    return filled_like(at, x, fy_arg_int(1));
}

fy_tensor *fy_full_like_at(fy_site *at, fy_tensor *x, fy_arg value)
{
    FY_CALL(at);
    bool ints;
    if (!fy_check(at, 0, x) || !fy_make_numbers(at, "the fill value must be a number, not a tensor", 1, &value, &ints))
        return NULL;
    return filled_like(at, x, value);
}

/* ---- uninitialized memory ---- */

/* Filled with the byte that fresh VRAM of the simulated GPU holds (NaN, -1, 255, true), in any memory: runs are
 * repeatable, and the use of an uninitialized value shows. */
static fy_tensor *uninitialized(fy_call *c, const fy_geometry *g)
{
    size_t bytes = (size_t)fy_shape_numel(&g->shape) * fy_dtype_size(g->dtype);
    fy_storage *s = c->pinned ? fy_storage_reserve_pinned(c->at, bytes) : fy_storage_reserve(c->at, c->dev, bytes);
    if (!s) return NULL;
    if (!fy_storage_fill(s)) {
        fy_storage_cancel(s);
        return fy_fail_device(c->at, c->dev, "fill new memory");
    }
    fy_storage_announce(c->at, s);
    if (s->dev->number == 0 && s->data) memset(s->data, g->dtype == FY_BOOL ? 1 : 0xff, s->asked);
    return fy_make_result(c, fy_tensor_make(c->at, s, g, c->name, 0, false));
}

fy_tensor *fy_empty_at(fy_site *at, fy_shape shape, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at};
    int64_t numel;
    if (!fy_make_begin(&c, &o, FY_FLOAT32) || !fy_shape_ok(at, &shape, c.dtype, &numel)) return NULL;
    fy_geometry g = {.dtype = c.dtype, .shape = shape};
    fy_shape_rows(&shape, g.strides);
    return uninitialized(&c, &g);
}

fy_tensor *fy_empty_like_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    fy_geometry g = fy_geometry_like(x);
    return uninitialized(&(fy_call){.at = at, .dev = x->storage->dev, .name = fy_name_for(at, NULL)}, &g);
}

/* ---- a list of values ---- */

fy_tensor *fy_make_host(fy_site *at, fy_dtype dtype, const fy_shape *shape, const char *name)
{
    int64_t numel;
    if (!fy_shape_ok(at, shape, dtype, &numel)) return NULL;
    fy_storage *s = fy_storage_make(at, fy_dev_at(0), (size_t)numel * fy_dtype_size(dtype));
    if (!s) return NULL;
    fy_geometry g = {.dtype = dtype, .shape = *shape};
    fy_shape_rows(shape, g.strides);
    return fy_tensor_make(at, s, &g, name, 0, false);
}

/* The values are written in host memory first, and copied if a GPU is asked for. */
fy_tensor *fy_tensor_at(fy_site *at, size_t n, const fy_arg *values, fy_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at};
    bool ints;
    if (!fy_make_numbers(at, "the values must be numbers, not tensors", n, values, &ints)) return NULL;
    if (!fy_make_begin(&c, &o, n ? fy_result_of((int)n, values) : FY_FLOAT32)) return NULL;
    for (size_t i = 0; i < n && fy_dtype_is_integer(c.dtype); i++) /* a float type makes infinity of a large value */
        if (!fy_fits(at, c.dtype, values[i], fy_dtype_name(c.dtype))) return NULL;

    bool host = c.dev->number == 0;
    fy_geometry g = {.dtype = c.dtype, .shape = {1, {(int64_t)n}}, .strides = {1}};
    size_t bytes = n * fy_dtype_size(c.dtype);
    fy_storage *s = c.pinned ? fy_storage_reserve_pinned(at, bytes) : fy_storage_reserve(at, fy_dev_at(0), bytes);
    if (!s) return NULL;
    fy_storage_announce(at, s);
    fy_tensor *x = fy_tensor_make(at, s, &g, host ? c.name : NULL, 0, false);
    for (size_t i = 0; i < n; i++) fy_number_put(c.dtype, s->data, (int64_t)i, values[i]);
    fy_emit_write(at, x, FY_WORD_set);
    if (host) return fy_make_result(&c, x);
    fy_tensor *copy = fy_copy_to(at, x, c.dev, c.dtype, &(fy_transfer_opts){.why = FY_WORD_user}, c.name);
    fy_tensor_release(at, x, FY_WORD_free);
    return fy_make_result(&c, copy);
}
