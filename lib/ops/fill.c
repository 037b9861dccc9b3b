/* fill.c: fy_fill_ and fy_zero_: one value into every element of a tensor that is there. */
#include <stdlib.h>

#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "make.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

static bool check_value(fy_site *at, fy_tensor *value)
{
    if (!fy_check(at, 1, value)) return false;
    if (value->ndim == 0) return true;
    return fy_fail_about(at, "shape", "fy_copy_(x, values) broadcasts a whole tensor into x", 1, &value,
                         "fill_ only supports 0-dimension value tensor but got tensor with %d dimensions.",
                         value->ndim);
}

/* The value of a 0-dim tensor. From a card it is brought home, as an item. */
static bool take_number(fy_site *at, fy_tensor *value, fy_arg *number)
{
    void *home = fy_copy_to_host(at, value, FY_WORD_item);
    if (!home) return false;
    *number = fy_number_at(value->dtype, home, 0);
    free(home);
    return true;
}

/* Both on one card: no value comes home. One that lies in x itself would be overwritten. */
static bool stays_on_card(const fy_tensor *x, const fy_tensor *value)
{
    return x->storage->dev->number > 0 && x->storage->dev == value->storage->dev && x->storage != value->storage;
}

fy_tensor *fy_fill__at(fy_site *at, fy_tensor *x, fy_arg value)
{
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    if (value.is_tensor) {
        if (!check_value(at, value.tensor)) return NULL;
        if (stays_on_card(x, value.tensor)) return fy_copy__at(at, x, value.tensor, (fy_copy_opts){0});
        if (!take_number(at, value.tensor, &value)) return NULL;
    }
    if (!fy_number_ok(at, &value) || !fy_fits(at, x->dtype, value, fy_dtype_scalar(x->dtype))) return NULL;
    fy_call c = {.at = at, .op = FY_OP_fill, .out = x, .dev = x->storage->dev, .dtype = x->dtype};
    c.shape = fy_geometry_of(x).shape;
    fy_make_scalar(&c, FY_FILL_value, value);
    return fy_dispatch(&c);
}
