/* accumulate.c: gradients added up, and stored in their tensors. The only emitter of grad. */
#include "accumulate.h"

#include <stdio.h>

#include "dispatch.h"
#include "event.h"
#include "shape.h"
#include "tensor.h"

static fy_tensor *sum_of(fy_site *at, fy_tensor *a, fy_tensor *b, fy_tensor *out)
{
    return fy_compute(&(fy_call){.at = at,
                                 .op = FY_OP_add,
                                 .in = {fy_arg_tensor(a), fy_arg_tensor(b)},
                                 .out = out,
                                 .real = {[FY_ADD_alpha] = 1},
                                 .integer = {[FY_ADD_alpha] = 1}});
}

/* Does nothing else hold the handle or its bytes? */
static bool is_ours(const fy_tensor *x)
{
    return __atomic_load_n(&x->refs, __ATOMIC_ACQUIRE) == 1 &&
           __atomic_load_n(&x->storage->refs, __ATOMIC_ACQUIRE) == 1;
}

fy_tensor *fy_gradient_sum(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    fy_geometry g = fy_geometry_of(a);
    bool in_place = is_ours(a) && fy_is_dense(&g);
    fy_tensor *sum = sum_of(at, a, b, in_place ? a : NULL);
    if (!in_place || !sum) fy_tensor_release(at, a, FY_WORD_graph);
    return sum;
}

/* ---- storing ---- */

/* A stored gradient has the strides of its tensor, if that is dense; else it is row-major. */
static fy_geometry layout_of(const fy_node *node)
{
    fy_geometry g = node->is;
    g.offset = 0;
    if (!fy_is_dense(&g)) fy_shape_rows(&g.shape, g.strides);
    return g;
}

static bool has_strides(const fy_tensor *x, const fy_geometry *g)
{
    for (int d = 0; d < x->ndim; d++)
        if (x->shape[d] != 1 && x->strides[d] != g->strides[d]) return false;
    return true;
}

static fy_tensor *copy_with(fy_site *at, fy_tensor *x, const fy_geometry *g)
{
    fy_storage *s = fy_storage_make(at, x->storage->dev, (size_t)fy_shape_numel(&g->shape) * x->element_size);
    if (!s) return NULL;
    fy_tensor *out = fy_tensor_make(at, s, g, NULL, 0, false);
    if (fy_compute(&(fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .out = out})) return out;
    fy_tensor_release(at, out, FY_WORD_free);
    return NULL;
}

/* "w.grad" */
static void name_gradient(fy_site *at, fy_tensor *g, const fy_node *node)
{
    char name[80];
    if (!node->name || snprintf(name, sizeof name, "%s.grad", node->name) >= (int)sizeof name) return;
    fy_tensor_rename(at, g, name);
}

static void emit(fy_site *at, const fy_node *node, bool added)
{
    FY_EMIT(at, grad, .leaf = node->tensor, .tensor = node->grad->id, .storage = node->grad->storage->id,
            .added = added);
}

static bool add_to(fy_site *at, const fy_node *node, fy_tensor *g)
{
    if (!sum_of(at, node->grad, g, node->grad)) return false;
    emit(at, node, true);
    return true;
}

void fy_gradient_set(fy_site *at, fy_node *node, fy_tensor *g)
{
    fy_tensor *old = node->grad;
    node->grad = g;
    if (g) emit(at, node, false);
    fy_tensor_release(at, old, FY_WORD_free);
}

/* The gradient itself is kept if nothing else can change it, else a copy. */
static bool keep(fy_site *at, fy_node *node, fy_tensor *g)
{
    fy_geometry like = layout_of(node);
    fy_tensor *kept = is_ours(g) && has_strides(g, &like) ? fy_tensor_retain(g) : copy_with(at, g, &like);
    if (!kept) return false;
    if (kept->storage->made == FY_NOT_MADE) kept->storage->made = fy_storage_version(kept->storage);
    name_gradient(at, kept, node);
    fy_gradient_set(at, node, kept);
    return true;
}

bool fy_gradient_store(fy_site *at, fy_node *node, fy_tensor *g)
{
    bool unwanted = node->op == FY_NODE_LEAF && !node->requires_grad; /* switched off since the call was recorded */
    bool ok = unwanted || (node->grad ? add_to(at, node, g) : keep(at, node, g));
    fy_tensor_release(at, g, FY_WORD_graph);
    return ok;
}
