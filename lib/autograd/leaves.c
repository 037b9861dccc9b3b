/* leaves.c: which tensors get a gradient, and the gradients they have. */
#include <stdio.h>

#include "accumulate.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"

static bool is_leaf(fy_tensor *x)
{
    const fy_node *node = fy_node_of(x);
    return !node || node->op == FY_NODE_LEAF;
}

fy_tensor *fy_requires_grad__at(fy_site *at, fy_tensor *x, int64_t on)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    if (!is_leaf(x) && !on)
        return fy_fail_about(at, "grad", "fy_detach(x) gives the values without the graph", 1, &x,
                             "you can only change requires_grad flags of leaf variables. If you want to use a computed "
                             "variable in a subgraph that doesn't require differentiation use var_no_grad = "
                             "var.detach().");
    if (on && !fy_dtype_is_real(x->dtype))
        return fy_fail_about(at, "dtype", "convert it first: fy_to(x, FY_FLOAT32)", 1, &x,
                             "only Tensors of floating point dtype can require gradients");
    if (is_leaf(x)) fy_graph_require(at, x, on);
    return x;
}

bool fy_requires_grad_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    return x && fy_check(at, 0, x) && fy_is_required(x);
}
bool fy_is_leaf_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    return x && fy_check(at, 0, x) && is_leaf(x);
}

const char *fy_grad_fn_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    char name[80];
    if (!x || !fy_check(at, 0, x) || is_leaf(x)) return NULL;
    return fy_name_intern(fy_node_name(x->node, name, sizeof name));
}

/* As PyTorch, once per line: the gradient of `moved = fy_to(w, "cuda")` arrives at w. */
static void warn_no_leaf(fy_site *at, const fy_tensor *x)
{
    char label[80];
    fy_advise(
        at,
        "%s is not a leaf: fy_backward stores its gradient only after fy_retain_grad. The gradients of leaves arrive "
        "at the tensors that were made with .requires_grad",
        fy_tensor_label(x, label, sizeof label));
}

fy_tensor *fy_grad_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    fy_node *node = fy_node_of(x);
    if (node && node->op != FY_NODE_LEAF && !node->retains_grad) warn_no_leaf(at, x);
    return node ? node->grad : NULL;
}

fy_tensor *fy_retain_grad_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    if (!fy_is_required(x))
        return fy_fail_about(at, "grad", "make what it was computed from with .requires_grad = true", 1, &x,
                             "can't retain_grad on Tensor that has requires_grad=False");
    if (!is_leaf(x)) x->node->retains_grad = true;
    return x;
}

/* ---- fy_set_grad ---- */

static bool check_gradient(fy_site *at, fy_tensor *x, fy_tensor *g)
{
    fy_tensor *both[] = {x, g};
    const char *hint = "a gradient has its tensor's shape, dtype and device: fy_to(g, x)";
    fy_geometry a = fy_geometry_of(x), b = fy_geometry_of(g);
    if (g == x) return fy_fail(at, "grad", "pass another tensor, or NULL", "can't assign Variable as its own grad");
    if (x->dtype != g->dtype || x->storage->dev != g->storage->dev)
        return fy_fail_about(
            at, "grad", hint, 2, both, "assigned grad has data of a different type: %s on %s for %s on %s",
            fy_dtype_name(g->dtype), g->storage->dev->name, fy_dtype_name(x->dtype), x->storage->dev->name);
    if (a.shape.ndim == b.shape.ndim &&
        !memcmp(a.shape.dims, b.shape.dims, (size_t)a.shape.ndim * sizeof *a.shape.dims))
        return true;
    return fy_fail_about(at, "grad", hint, 2, both, "assigned grad has data of a different size");
}

/* The node gets a handle of its own, so that the program may free its one. */
bool fy_set_grad_at(fy_site *at, fy_tensor *x, fy_tensor *g)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return false;
    if (g && (!fy_check(at, 1, g) || !check_gradient(at, x, g))) return false;
    if (!x->node && !g) return true;
    if (!x->node) fy_graph_require(at, x, true), fy_graph_require(at, x, false);
    fy_geometry own = g ? fy_geometry_of(g) : (fy_geometry){0};
    fy_gradient_set(at, x->node, g ? fy_tensor_alias(at, g, &own, g->name) : NULL);
    return true;
}
