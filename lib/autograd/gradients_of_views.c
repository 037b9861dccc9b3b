/* gradients_of_views.c: gradients of views, copies and concatenations, which are no ops of the table. */
#include "device.h"
#include "dispatch.h"
#include "gradients.h"
#include "shape.h"

static fy_tensor *permuted(const fy_node *n, fy_tensor *g)
{
    fy_shape inverse = {n->dims.ndim, {0}};
    for (int d = 0; d < n->dims.ndim; d++) inverse.dims[n->dims.dims[d]] = d;
    return fy_permute_at(fy_algebra_site, g, inverse);
}

/* Zeros of the operand's shape, with g in the part that the view shows. */
static fy_tensor *part(const fy_node *n, fy_tensor *g)
{
    const fy_shape *own = &n->next[0]->is.shape;
    int64_t dim = n->dims.dims[0], from = n->dims.dims[1], step = n->dims.dims[2];
    fy_tensor *all = fy_algebra_zeros(g, own), *to;
    if (!all || fy_tensor_numel(g) == 0) return all;
    if (g->ndim < own->ndim) to = fy_select_at(fy_algebra_site, all, dim, from);
    else to = fy_slice_at(fy_algebra_site, all, dim, from, from + (g->shape[dim] - 1) * step + 1, step);
    return to && fy_copy__at(fy_algebra_site, to, g, (fy_copy_opts){0}) ? all : NULL;
}

/* The i-th part of the result of cat or stack; operands that were skipped are empty. */
static fy_tensor *joined(const fy_node *n, int i, fy_tensor *g)
{
    const fy_shape *own = &n->next[i]->is.shape;
    int64_t dim = n->dims.dims[0], from = 0;
    if (n->dims.dims[1]) return fy_select_at(fy_algebra_site, g, dim, i);
    if (own->ndim == 1 && own->dims[0] == 0) return fy_algebra_zeros(g, own);
    for (int k = 0; k < i; k++) from += n->sizes[k];
    return fy_narrow_at(fy_algebra_site, g, dim, from, own->dims[dim]);
}

/* ---- tensors that were written in place through a view ------------------------------------------------------ */

/* Zeros laid out as a base is, gaps included, which the views of the base can be laid over. */
static fy_tensor *memory_of(const fy_tensor *g, const fy_geometry *base)
{
    return fy_algebra_zeros(g, &(fy_shape){1, {fy_span(base)}});
}

static bool write(fy_tensor *to, fy_tensor *from)
{
    return to && from && fy_copy__at(fy_algebra_site, to, from, (fy_copy_opts){0});
}

/* The base's gradient from a view's: a dimension that the view repeats is summed. */
static fy_tensor *viewed(const fy_node *n, fy_tensor *g)
{
    const fy_geometry *base = &n->part;
    fy_geometry view = n->is;
    fy_shape repeated = {0};
    for (int d = 0; d < view.shape.ndim; d++)
        if (view.strides[d] == 0 && view.shape.dims[d] > 1) {
            repeated.dims[repeated.ndim++] = d;
            view.shape.dims[d] = 1;
        }
    fy_tensor *memory = memory_of(g, base), *sum = fy_algebra_sum(g, &repeated, true);
    if (!write(fy_algebra_view(memory, &view, view.offset - base->offset), sum)) return NULL;
    return fy_algebra_view(memory, base, 0);
}

/* Operand 0 is the base before the write: its gradient is the new base's, but where the view is, the inner node's.
 * Other operands get theirs from the inner node. */
static fy_tensor *written(const fy_node *n, int i, fy_tensor *g)
{
    fy_tensor *memory = memory_of(g, &n->is), *all = fy_algebra_view(memory, &n->is, 0);
    fy_tensor *view = fy_algebra_view(memory, &n->part, n->part.offset - n->is.offset);
    if (!write(all, g)) return NULL;
    if (i > 0) return fy_gradient(n->inner, i, view);
    fy_tensor *through = fy_gradient(n->inner, 0, view);
    if (through) through = fy_algebra_sum_to(through, &n->part.shape);
    return write(view, through) ? all : NULL;
}

fy_tensor *fy_gradient_of_view(const fy_node *n, int i, fy_tensor *g)
{
    if (!g) return NULL;
    switch (n->op) {
    case FY_NODE_RESHAPE: return fy_algebra_reshape(g, &n->next[0]->is.shape);
    case FY_NODE_PERMUTE: return permuted(n, g);
    case FY_NODE_EXPAND: return g; /* summed by the caller */
    case FY_NODE_PART: return part(n, g);
    case FY_NODE_TO: return g; /* converted by the caller */
    case FY_NODE_COPY: return i == 0 ? fy_gradient_zeros(fy_arg_tensor(g)).tensor : g;
    case FY_NODE_JOIN: return joined(n, i, g);
    case FY_NODE_WRITE: return written(n, i, g);
    case FY_NODE_VIEWED: return viewed(n, g);
    default: return NULL;
    }
}
