/* layer_norm.c: fy_layer_norm: the op, which normalizes along one dimension, then weight and bias in one more. */
#include "composed.h"
#include "dispatch.h"
#include "error.h"
#include "event.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"

static bool is_of_shape(const fy_tensor *x, const fy_shape *s)
{
    return !x || (x->ndim == s->ndim && !memcmp(x->shape, s->dims, (size_t)s->ndim * sizeof *s->dims));
}

static bool check_shapes(fy_site *at, fy_tensor *x, const fy_shape *s, const fy_layer_norm_with *o)
{
    char wanted[200], got[200];
    fy_tensor *given[] = {x, o->weight, o->bias};
    if (s->ndim == 0)
        return fy_fail(at, "shape", "fy_layer_norm(x, (n)): the sizes of the last dimensions",
                       "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                       "but got normalized_shape = []");
    fy_shape_text(s->dims, s->ndim, "[]", wanted, sizeof wanted);
    for (int i = 1; i < 3; i++)
        if (!is_of_shape(given[i], s))
            return fy_fail_about(
                at, "shape", "weight and bias have the normalized shape", 3, given,
                "Expected %s to be of same shape as normalized_shape, but got %s and normalized_shape = "
                "%s",
                i == 1 ? "weight" : "bias", fy_shape_text(given[i]->shape, given[i]->ndim, "[]", got, sizeof got),
                wanted);
    int first = x->ndim - s->ndim;
    if (first >= 0 && !memcmp(x->shape + first, s->dims, (size_t)s->ndim * sizeof *s->dims)) return true;
    return fy_fail_about(at, "shape", "the normalized shape is that of x's last dimensions", 1, &x,
                         "Given normalized_shape=%s, expected input with shape [*, %.*s, but got input of size%s",
                         wanted, (int)sizeof wanted, wanted + 1,
                         fy_shape_text(x->shape, x->ndim, "[]", got, sizeof got));
}

static fy_tensor *normalized(fy_site *at, fy_tensor *x, double eps)
{
    fy_call c = {.at = at, .op = FY_OP_layer_norm, .in = {fy_arg_tensor(x)}, .dims = {1, {x->ndim - 1}}};
    c.real[FY_LAYER_NORM_eps] = eps;
    return fy_scope_track(fy_dispatch(&c));
}

/* The normalized dimensions are one for the op. */
static fy_tensor *over_dims(fy_site *at, fy_tensor *x, int dims, double eps)
{
    if (dims == 1) return normalized(at, x, eps);
    fy_shape whole = fy_geometry_of(x).shape, rows = whole;
    rows.ndim = x->ndim - dims + 1;
    for (int d = rows.ndim; d < whole.ndim; d++) rows.dims[rows.ndim - 1] *= whole.dims[d];
    fy_tensor *y = fy_reshape_at(at, x, rows);
    if (y) y = normalized(at, y, eps);
    return y ? fy_reshape_at(at, y, whole) : NULL;
}

static fy_tensor *affine(fy_site *at, fy_tensor *y, const fy_layer_norm_with *o)
{
    if (o->weight && o->bias) return fy_addcmul_at(at, o->bias, y, o->weight, fy_arg_int(1));
    if (o->weight) return fy_mul_at(at, fy_arg_tensor(y), fy_arg_tensor(o->weight));
    return o->bias ? fy_add_at(at, fy_arg_tensor(y), fy_arg_tensor(o->bias), fy_arg_int(1)) : y;
}

fy_tensor *fy_layer_norm_at(fy_site *at, fy_tensor *x, fy_shape shape, fy_layer_norm_with o)
{
    fy_session_start();
    if (!fy_check(at, 0, x) || (o.weight && !fy_check(at, 2, o.weight)) || (o.bias && !fy_check(at, 2, o.bias)))
        return NULL;
    if (!check_shapes(at, x, &shape, &o)) return NULL;
    fy_composed before = fy_compose((fy_composed){true, fy_name_for(at, NULL)});
    fy_scope scope = fy_scope_begin(at);
    fy_tensor *y = over_dims(at, x, shape.ndim, o.fy_end_ & FY_EPS_TOLD ? o.eps : 1e-5);
    if (y) y = affine(at, y, &o);
    fy_compose(before);
    return fy_scope_track(fy_scope_end_with(&scope, y));
}
