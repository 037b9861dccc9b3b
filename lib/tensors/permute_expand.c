/* permute_expand.c: views that permute dimensions, add or remove dimensions of size 1, or expand them. */
#include "dtype.h"
#include "frame.h"
#include "graph.h"
#include "shape.h"
#include "tensor.h"

/* ---- permute ---- */

static fy_tensor *swapped(fy_site *at, fy_tensor *x, int64_t a, int64_t b)
{
    fy_geometry g = fy_geometry_of(x);
    if (x->ndim > 0) {
        g.shape.dims[a] = x->shape[b];
        g.shape.dims[b] = x->shape[a];
        g.strides[a] = x->strides[b];
        g.strides[b] = x->strides[a];
    }
    fy_shape order = {x->ndim, {0}};
    for (int d = 0; d < x->ndim; d++) order.dims[d] = d == a ? b : d == b ? a : d;
    return fy_view_make(at, x, &g, FY_NODE_PERMUTE, &order);
}

fy_tensor *fy_transpose_at(fy_site *at, fy_tensor *x, int64_t d0, int64_t d1)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !fy_wrap_dim(at, x, &d0) || !fy_wrap_dim(at, x, &d1)) return NULL;
    return fy_node_call(swapped(at, x, d0, d1), "TransposeBackward0");
}

fy_tensor *fy_t_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    if (x->ndim > 2)
        return fy_fail_about(at, "shape", "fy_transpose(x, d0, d1) swaps two dimensions of any tensor", 1, &x,
                             "t() expects a tensor with <= 2 dimensions, but self is %dD", x->ndim);
    return fy_node_call(swapped(at, x, 0, x->ndim == 2 ? 1 : 0), "TBackward0");
}

static bool check_order(fy_site *at, fy_tensor *x, fy_shape *dims)
{
    bool seen[FY_MAX_DIMS] = {0};
    if (dims->ndim != x->ndim)
        return fy_fail_about(at, "shape", "name every dimension once", 1, &x,
                             "permute(sparse_coo): number of dimensions in the tensor input does not match the length "
                             "of the desired ordering of dimensions i.e. input.dim() = %d is not equal to len(dims) = "
                             "%d",
                             x->ndim, dims->ndim);
    for (int i = 0; i < dims->ndim; i++) {
        if (!fy_wrap_dim(at, x, &dims->dims[i])) return false;
        if (seen[dims->dims[i]])
            return fy_fail_about(at, "index", "name every dimension once", 1, &x,
                                 "permute(): duplicate dims are not allowed.");
        seen[dims->dims[i]] = true;
    }
    return true;
}

fy_tensor *fy_permute_at(fy_site *at, fy_tensor *x, fy_shape dims)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !check_order(at, x, &dims)) return NULL;
    fy_geometry g = fy_geometry_of(x);
    for (int i = 0; i < x->ndim; i++) {
        g.shape.dims[i] = x->shape[dims.dims[i]];
        g.strides[i] = x->strides[dims.dims[i]];
    }
    return fy_view_make(at, x, &g, FY_NODE_PERMUTE, &dims);
}

/* ---- squeeze and unsqueeze ---- */

fy_tensor *fy_squeeze_at(fy_site *at, fy_tensor *x, int64_t dim)
{
    FY_CALL(at);
    bool every = dim == FY_END;
    if (!fy_check(at, 0, x) || (!every && !fy_wrap_dim(at, x, &dim))) return NULL;
    fy_geometry g = fy_geometry_of(x);
    g.shape.ndim = 0;
    for (int i = 0; i < x->ndim; i++) {
        if (x->shape[i] == 1 && (every || i == dim)) continue;
        g.strides[g.shape.ndim] = x->strides[i];
        g.shape.dims[g.shape.ndim++] = x->shape[i];
    }
    return fy_node_call(fy_view_make(at, x, &g, FY_NODE_RESHAPE, &g.shape),
                        every ? "SqueezeBackward0" : "SqueezeBackward1");
}

fy_tensor *fy_unsqueeze_at(fy_site *at, fy_tensor *x, int64_t dim)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !fy_wrap_dim_of(at, x, x->ndim + 1, &dim)) return NULL;
    if (x->ndim == FY_MAX_DIMS)
        return fy_fail_about(at, "shape", "merge some dimensions first: fy_flatten", 1, &x,
                             "a tensor has at most %d dimensions", FY_MAX_DIMS);
    fy_geometry g = fy_geometry_of(x);
    for (int i = g.shape.ndim++; i > dim; i--) {
        g.shape.dims[i] = x->shape[i - 1];
        g.strides[i] = x->strides[i - 1];
    }
    g.shape.dims[dim] = 1;
    g.strides[dim] = dim < x->ndim ? fy_saturating_mul(x->strides[dim], x->shape[dim]) : 1;
    return fy_node_call(fy_view_make(at, x, &g, FY_NODE_RESHAPE, &g.shape), "UnsqueezeBackward0");
}

/* ---- expand ---- */

/* One dimension of the result; called from the last one to the first. False after an error. */
static bool expand_dim(fy_site *at, fy_tensor *x, const fy_shape *s, int dim, fy_geometry *g)
{
    int own = dim - (s->ndim - x->ndim);
    int64_t size = own < 0 ? 1 : x->shape[own], target = s->dims[dim];
    if (target == -1 && own < 0)
        return fy_fail_about(at, "shape", "write the size of a new dimension: -1 keeps the size of an existing one", 1,
                             &x,
                             "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension "
                             "%d",
                             dim);
    if (target == -1) target = size;
    if (target != size && size != 1) {
        char old[256], all[256];
        return fy_fail_about(at, "shape", "only a dimension of size 1 can be expanded; -1 keeps a size", 1, &x,
                             "The expanded size of the tensor (%lld) must match the existing size (%lld) at "
                             "non-singleton dimension %d.  Target sizes: %s.  Tensor sizes: %s",
                             (long long)target, (long long)size, dim,
                             fy_shape_text(s->dims, s->ndim, "[]", all, sizeof all),
                             fy_shape_text(x->shape, x->ndim, "[]", old, sizeof old));
    }
    if (target < 0)
        return fy_fail_about(at, "shape", "a size is 0 or more; -1 keeps a size", 1, &x,
                             "Trying to create tensor with negative dimension %lld", (long long)target);
    g->shape.dims[dim] = target;
    g->strides[dim] = target != size || x->ndim == 0 ? 0
                      : own >= 0                     ? x->strides[own]
                      : dim == s->ndim - 1           ? 1
                                                     : fy_saturating_mul(g->strides[dim + 1], g->shape.dims[dim + 1]);
    return true;
}

fy_tensor *fy_expand_at(fy_site *at, fy_tensor *x, fy_shape s)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    if (s.ndim > FY_MAX_DIMS)
        return fy_fail_about(at, "shape", "merge some dimensions", 1, &x, "a shape has at most %d dimensions",
                             FY_MAX_DIMS);
    if (s.ndim < x->ndim) {
        char own[256], target[256];
        return fy_fail_about(at, "shape", "sizes are counted from the right; new dimensions come in front", 1, &x,
                             "expand(torch.%s%sTensor{%s}, size=%s): the number of sizes provided (%d) must be greater "
                             "or equal to the number of dimensions in the tensor (%d)",
                             x->storage->dev->number ? "cuda." : "", fy_dtype_torch(x->dtype),
                             fy_shape_text(x->shape, x->ndim, "[]", own, sizeof own),
                             fy_shape_text(s.dims, s.ndim, "[]", target, sizeof target), s.ndim, x->ndim);
    }

    fy_geometry g = fy_geometry_of(x);
    g.shape.ndim = s.ndim;
    for (int i = s.ndim - 1; i >= 0; i--)
        if (!expand_dim(at, x, &s, i, &g)) return NULL;
    int64_t numel;
    return fy_shape_ok(at, &g.shape, x->dtype, &numel) ? fy_view_make(at, x, &g, FY_NODE_EXPAND, &g.shape) : NULL;
}
