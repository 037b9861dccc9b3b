/* fill.c: fy_fill_ and fy_zero_, one value into every element of a tensor; fy_masked_fill, into those that a mask
 * selects. */
#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "frame.h"
#include "make.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

fy_tensor *fy_fill__at(fy_site *at, fy_tensor *x, fy_arg value)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    if (value.is_tensor) {
        fy_tensor *v = value.tensor;
        if (!fy_check(at, 1, v)) return NULL;
        if (v->ndim > 0)
            return fy_fail_about(at, "shape", "fy_copy_(x, values) copies a tensor into x, with broadcasting", 2,
                                 (fy_tensor *[]){NULL, v},
                                 "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
                                 v->ndim);
        /* On x's own card the value need not be read back, unless it is part of x, which would overwrite it. */
        fy_dev *dev = x->storage->dev;
        bool stays = dev->number > 0 && dev == v->storage->dev && x->storage != v->storage;
        if (stays || (fy_is_grad_enabled() && fy_needs_grad(v))) return fy_copy__at(at, x, v, (fy_copy_opts){0});
        if (!fy_take_number(at, v, &value)) return NULL;
    }
    if (!fy_number_ok(at, &value) || !fy_fits(at, x->dtype, value, fy_dtype_scalar(x->dtype))) return NULL;
    fy_call c = {.at = at, .op = FY_OP_fill, .out = x, .dev = x->storage->dev, .dtype = x->dtype};
    c.shape = fy_geometry_of(x).shape;
    fy_make_scalar(&c, FY_FILL_value, value);
    return fy_dispatch(&c);
}

/* A value that has a gradient stays a tensor. */
static fy_tensor *masked_by_tensor(fy_site *at, fy_tensor *x, fy_tensor *mask, fy_tensor *value, bool in_place)
{
    fy_tensor *out = fy_dispatch(&(fy_call){.at = at,
                                            .op = FY_OP_where,
                                            .in = {fy_arg_tensor(mask), fy_arg_tensor(value), fy_arg_tensor(x)},
                                            .name = in_place ? NULL : fy_name_for(at, NULL)});
    if (!in_place || !out) return fy_scope_track(out);
    fy_tensor *target = fy_copy__at(at, x, out, (fy_copy_opts){0});
    fy_tensor_release(at, out, FY_WORD_free);
    return target;
}

static fy_tensor *masked(fy_site *at, fy_tensor *x, fy_tensor *mask, fy_arg value, bool in_place)
{
    fy_call c = {.at = at, .op = FY_OP_masked_fill, .in = {fy_arg_tensor(x), fy_arg_tensor(mask)}};
    fy_session_start();
    if (!fy_check(at, 0, x) || !fy_check(at, 1, mask)) return NULL;
    if (value.is_tensor) {
        fy_tensor *v = value.tensor;
        if (!fy_check(at, 2, v)) return NULL;
        if (v->ndim > 0)
            return fy_fail_about(
                at, "shape", "fy_where(mask, values, x) takes a whole tensor of values, with broadcasting", 3,
                (fy_tensor *[]){NULL, NULL, v},
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with %d dimension(s).",
                v->ndim);
        if (fy_is_grad_enabled() && fy_needs_grad(v)) return masked_by_tensor(at, x, mask, v, in_place);
        if (!fy_take_number(at, v, &value)) return NULL;
    }
    if (!fy_number_ok(at, &value) || !fy_fits(at, x->dtype, value, fy_dtype_scalar(x->dtype))) return NULL;
    c.dtype = x->dtype;
    c.row_major = true; /* PyTorch fills a contiguous clone */
    fy_make_scalar(&c, FY_MASKED_FILL_value, value);
    if (in_place) c.out = x;
    else c.name = fy_name_for(at, NULL);
    fy_tensor *out = fy_dispatch(&c);
    return in_place ? out : fy_scope_track(out);
}

fy_tensor *fy_masked_fill_at(fy_site *at, fy_tensor *x, fy_tensor *mask, fy_arg value)
{
    FY_CALL(at);
    return masked(at, x, mask, value, false);
}

fy_tensor *fy_masked_fill__at(fy_site *at, fy_tensor *x, fy_tensor *mask, fy_arg value)
{
    FY_CALL(at);
    return masked(at, x, mask, value, true);
}
