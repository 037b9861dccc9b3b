/* same.c: comparison of two tensors. isclose compares elementwise; equal and allclose reduce to one bool, which the
 * host reads back and waits for. Each op shows in the log. */
#include <math.h>

#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "session_hooks.h"
#include "tensor.h"
#include "transfer.h"

/* Are all elements true? Takes over the reference. Also false after an error. */
static bool all_true(fy_site *at, fy_tensor *bools)
{
    fy_arg all;
    if (!bools) return false;
    fy_tensor *one = fy_dispatch(&(fy_call){.at = at, .op = FY_OP_all, .in = {fy_arg_tensor(bools)}});
    bool ok = one && fy_take_item(at, one, &all);
    fy_tensor_release(at, one, FY_WORD_free);
    fy_tensor_release(at, bools, FY_WORD_free);
    return ok && all.integer != 0;
}

/* Different shapes are unequal, without an op; empty tensors are equal. Here even a 0-dim CPU tensor cannot be combined
 * with a tensor on a GPU. */
bool fy_equal_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, a) || !fy_check(at, 1, b)) return false;
    const fy_dev *x = a->storage->dev, *y = b->storage->dev;
    if (x != y && !fy_dev_copies_implicitly())
        return fy_fail_about(
            at, "device_mismatch", "copy one to the other's device with fy_to", 2, (fy_tensor *[]){a, b},
            "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
            x->number > 0 ? x->name : y->name, x->number > 0 ? y->name : x->name);
    if (a->ndim != b->ndim || memcmp(a->shape, b->shape, (size_t)a->ndim * sizeof *a->shape) != 0) return false;
    if (fy_tensor_numel(a) == 0) return true;
    return all_true(at, fy_dispatch(&(fy_call){.at = at, .op = FY_OP_eq, .in = {fy_arg_tensor(a), fy_arg_tensor(b)}}));
}

static bool check_tolerance(fy_site *at, const char *name, double x)
{
    if (x >= 0) return true;
    return fy_fail(at, "value", "use 0 to accept only equal values",
                   "%s must be greater than or equal to zero, but got %g", name, x);
}

static fy_tensor *close(fy_site *at, fy_tensor *a, fy_tensor *b, const fy_close_opts *o, const char *name)
{
    char first[200], second[200];
    double rtol = o->fy_end_ & FY_RTOL_TOLD ? o->rtol : 1e-5, atol = o->fy_end_ & FY_ATOL_TOLD ? o->atol : 1e-8;
    fy_call c = {.at = at, .op = FY_OP_isclose, .in = {fy_arg_tensor(a), fy_arg_tensor(b)}, .name = name};
    if (!fy_check(at, 0, a) || !fy_check(at, 1, b)) return NULL;
    if (a->dtype != b->dtype)
        return fy_fail_about(
            at, "dtype",
            fy_hint("convert one of them first: fy_to(%s, fy_dtype_of(%s))", fy_argument(at, 1, second, sizeof second),
                    fy_argument(at, 0, first, sizeof first)),
            2, (fy_tensor *[]){a, b}, "%s did not match %s", fy_dtype_torch(a->dtype), fy_dtype_torch(b->dtype));
    if (!check_tolerance(at, "rtol", rtol) || !check_tolerance(at, "atol", atol)) return NULL;
    c.real[FY_ISCLOSE_rtol] = rtol;
    c.real[FY_ISCLOSE_atol] = atol;
    c.integer[FY_ISCLOSE_equal_nan] = o->equal_nan;
    return fy_dispatch(&c);
}

fy_tensor *fy_isclose_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_close_opts o)
{
    FY_CALL(at);
    fy_session_start();
    return fy_scope_track(close(at, a, b, &o, fy_name_for(at, NULL)));
}

bool fy_allclose_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_close_opts o)
{
    FY_CALL(at);
    fy_session_start();
    return all_true(at, close(at, a, b, &o, NULL));
}
