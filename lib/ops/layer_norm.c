/* layer_norm.c: fy_layer_norm: the op, which normalizes along one dimension, then weight and bias in one more. */
#include "autocast.h"
#include "composed.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
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
    const char *names[] = {"x", "weight", "bias"};
    if (s->ndim == 0)
        return fy_fail(at, "shape", "fy_layer_norm(x, (n)): the sizes of the last dimensions",
                       "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, "
                       "but got normalized_shape = []");
    fy_shape_text(s->dims, s->ndim, "[]", wanted, sizeof wanted);
    for (int i = 1; i < 3; i++)
        if (!is_of_shape(given[i], s))
            return fy_fail_about(at, "shape", "weight and bias have the normalized shape", 3, given,
                                 "Expected %s to be of same shape as normalized_shape, but got %s of shape %s and "
                                 "normalized_shape = %s",
                                 names[i], names[i],
                                 fy_shape_text(given[i]->shape, given[i]->ndim, "[]", got, sizeof got), wanted);
    int first = x->ndim - s->ndim;
    if (first >= 0 && !memcmp(x->shape + first, s->dims, (size_t)s->ndim * sizeof *s->dims)) return true;
    return fy_fail_about(at, "shape", "the normalized shape is that of x's last dimensions", 1, &x,
                         "Given normalized_shape=%s, expected input with shape [*, %.*s, but got input of size%s",
                         wanted, (int)sizeof wanted, wanted + 1,
                         fy_shape_text(x->shape, x->ndim, "[]", got, sizeof got));
}

/* PyTorch has no mixture of dtypes here, not even of two floats. */
static bool check_dtypes(fy_site *at, fy_tensor *x, const fy_layer_norm_with *o)
{
    fy_tensor *given[] = {x, o->weight, o->bias};
    if (!fy_dtype_is_real(x->dtype))
        return fy_fail_about(at, "dtype", "convert it first: fy_to(x, FY_FLOAT32)", 1, &x,
                             "\"LayerNormKernelImpl\" not implemented for '%s'", fy_dtype_torch(x->dtype));
    for (int i = 1; i < 3; i++)
        if (given[i] && given[i]->dtype != x->dtype)
            return fy_fail_about(at, "dtype", "weight and bias have x's dtype: convert one of them with fy_to", 3,
                                 given, "expected scalar type %s but found %s", fy_dtype_torch(x->dtype),
                                 fy_dtype_torch(given[i]->dtype));
    return true;
}

static fy_tensor *normalized(fy_site *at, fy_tensor *x, double eps)
{
    fy_call c = {
        .at = at, .op = FY_OP_layer_norm, .in = {fy_arg_tensor(x)}, .dims = {1, {x->ndim - 1}}, .row_major = true};
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

/* Row-major, as PyTorch's one kernel writes it, whatever the strides of weight and bias. */
static fy_tensor *affine(fy_site *at, fy_tensor *y, const fy_layer_norm_with *o)
{
    fy_call c = {.at = at, .row_major = true, .in = {fy_arg_tensor(y)}};
    if (!o->weight && !o->bias) return y;
    if (o->weight && o->bias) {
        c.op = FY_OP_addcmul;
        c.in[0] = fy_arg_tensor(o->bias);
        c.in[1] = fy_arg_tensor(y);
        c.in[2] = fy_arg_tensor(o->weight);
        c.real[FY_ADDCMUL_value] = 1;
    } else {
        c.op = o->weight ? FY_OP_mul : FY_OP_add;
        c.in[1] = fy_arg_tensor(o->weight ? o->weight : o->bias);
        c.real[FY_ADD_alpha] = 1;
    }
    c.name = fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}

static fy_tensor *as(fy_site *at, fy_tensor *x, fy_dtype dtype)
{
    return x ? fy_to_at(at, x, fy_target_dtype(dtype), (fy_to_opts){0}) : NULL;
}

/* PyTorch's one kernel rounds to 16 bits at its end alone. */
static fy_tensor *layer_norm(fy_site *at, fy_tensor *x, int dims, const fy_layer_norm_with *o)
{
    fy_dtype d = x->dtype;
    double eps = o->fy_end_ & FY_EPS_TOLD ? o->eps : 1e-5;
    bool widened = (d == FY_FLOAT16 || d == FY_BFLOAT16) && (o->weight || o->bias);
    if (!widened) {
        fy_tensor *y = over_dims(at, x, dims, eps);
        return y ? affine(at, y, o) : NULL;
    }
    fy_layer_norm_with wide = {.weight = as(at, o->weight, FY_FLOAT32), .bias = as(at, o->bias, FY_FLOAT32)};
    fy_tensor *y = as(at, x, FY_FLOAT32);
    if (y) y = over_dims(at, y, dims, eps);
    return y ? as(at, affine(at, y, &wide), d) : NULL;
}

static fy_tensor *checked(fy_site *at, fy_tensor *x, fy_shape shape, fy_layer_norm_with o)
{
    if (!check_shapes(at, x, &shape, &o) || !check_dtypes(at, x, &o)) return NULL;
    fy_composed before = fy_compose((fy_composed){true, fy_name_for(at, NULL), fy_composed_now.input});
    fy_scope scope = fy_scope_begin(at);
    fy_tensor *y = fy_node_call(layer_norm(at, x, shape.ndim, &o), "NativeLayerNormBackward0");
    fy_compose(before);
    return fy_scope_track(fy_scope_end_with(&scope, y));
}

fy_tensor *fy_layer_norm_at(fy_site *at, fy_tensor *x, fy_shape shape, fy_layer_norm_with o)
{
    FY_CALL(at);
    fy_tensor *given[] = {x, o.weight, o.bias};
    fy_session_start();
    if (!fy_check(at, 0, x) || (o.weight && !fy_check(at, 2, o.weight)) || (o.bias && !fy_check(at, 2, o.bias)))
        return NULL;
    if (!fy_autocast_is_on) return checked(at, x, shape, o);
    if (!fy_autocast_take(at, FY_OP_layer_norm, 3, given)) return NULL;
    o.weight = given[1];
    o.bias = given[2];
    fy_tensor *y = checked(at, given[0], shape, o);
    fy_autocast_release(at, 3, given);
    return y;
}
