/* algebra.c: ops on tensors and numbers, for the gradients' expressions. */
#include "algebra.h"

#include "device.h"
#include "dispatch.h"
#include "shape.h"

_Thread_local fy_site *fy_algebra_site;

static bool failed(size_t n, const fy_arg *in)
{
    for (size_t i = 0; i < n; i++)
        if (in[i].is_tensor && !in[i].tensor) return true;
    return false;
}

static bool is_one(const fy_arg *x) { return !x->is_tensor && x->real == 1; }

fy_arg fy_algebra(int op, size_t n, const fy_arg *in)
{
    fy_call c = {.at = fy_algebra_site, .op = op};
    if (failed(n, in)) return fy_arg_tensor(NULL);
    if (op == FY_OP_mul && is_one(&in[1])) return in[0];
    for (size_t i = 0; i < n; i++) c.in[i] = in[i];
    if (op == FY_OP_add || op == FY_OP_sub) c.real[FY_ADD_alpha] = (double)(c.integer[FY_ADD_alpha] = 1);
    return fy_arg_tensor(fy_scope_track(fy_compute(&c)));
}

fy_arg fy_algebra_call(int op, fy_arg a, fy_arg b, const fy_node *like)
{
    fy_call c = {.at = fy_algebra_site, .op = op, .in = {a, b}, .dims = like->dims, .keepdim = like->keepdim};
    if (failed(2, c.in)) return fy_arg_tensor(NULL);
    memcpy(c.real, like->real, sizeof c.real);
    memcpy(c.integer, like->integer, sizeof c.integer);
    return fy_arg_tensor(fy_scope_track(fy_compute(&c)));
}

fy_tensor *fy_algebra_zeros(const fy_tensor *x, const fy_shape *shape)
{
    fy_call c = {.at = fy_algebra_site, .op = FY_OP_fill, .shape = *shape};
    if (!x) return NULL;
    c.dev = x->storage->dev;
    c.dtype = x->dtype;
    return fy_scope_track(fy_compute(&c));
}

fy_tensor *fy_algebra_reshape(fy_tensor *x, const fy_shape *shape)
{
    return x ? fy_reshape_at(fy_algebra_site, x, *shape) : NULL;
}

fy_tensor *fy_algebra_sum(fy_tensor *x, const fy_shape *dims, bool keepdim)
{
    if (!x || dims->ndim == 0) return x;
    return fy_sum_at(fy_algebra_site, x, *dims, (fy_reduce_opts){.keepdim = keepdim});
}

fy_tensor *fy_algebra_sum_to(fy_tensor *x, const fy_shape *shape)
{
    fy_shape dims = {0};
    if (!x) return NULL;
    int extra = x->ndim - shape->ndim;
    for (int d = 0; d < x->ndim; d++)
        if (d < extra || (shape->dims[d - extra] == 1 && x->shape[d] != 1)) dims.dims[dims.ndim++] = d;
    x = fy_algebra_sum(x, &dims, true);
    return x && x->ndim != shape->ndim ? fy_algebra_reshape(x, shape) : x;
}

fy_tensor *fy_algebra_transposed(fy_tensor *x)
{
    return x ? fy_transpose_at(fy_algebra_site, x, x->ndim - 2, x->ndim - 1) : NULL;
}

fy_tensor *fy_algebra_view(fy_tensor *x, const fy_geometry *g, int64_t offset)
{
    fy_geometry part = *g;
    if (!x) return NULL;
    part.offset = x->offset + offset;
    return fy_scope_track(fy_tensor_alias(fy_algebra_site, x, &part, NULL));
}
