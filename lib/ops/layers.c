/* layers.c: fy_linear. */
#include "autocast.h"
#include <stdio.h>

#include "device.h"
#include "dispatch.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

/* weight transposed, as a view; unchanged below two dimensions. NULL after an error. */
static fy_tensor *transposed(fy_site *at, fy_tensor *weight)
{
    if (weight->ndim > 2)
        return fy_fail_about(at, "shape", "weight must be a matrix, (out, in)", 2, (fy_tensor *[]){NULL, weight},
                             "t() expects a tensor with <= 2 dimensions, but self is %dD", weight->ndim);
    fy_geometry g = fy_geometry_of(weight);
    for (int d = 0; d < weight->ndim; d++) {
        g.shape.dims[d] = weight->shape[weight->ndim - 1 - d];
        g.strides[d] = weight->strides[weight->ndim - 1 - d];
    }
    char name[80];
    bool named = weight->name && snprintf(name, sizeof name, "%s.T", weight->name) < (int)sizeof name;
    fy_tensor *out = fy_tensor_alias(at, weight, &g, named ? fy_name_intern(name) : NULL);
    fy_graph_view(at, weight, out, FY_NODE_PERMUTE, &(fy_shape){weight->ndim, {weight->ndim - 1, 0}});
    return out;
}

static fy_tensor *matmul(fy_site *at, fy_tensor *x, fy_tensor *weight, const char *name)
{
    return fy_dispatch(
        &(fy_call){.at = at, .op = FY_OP_matmul, .in = {fy_arg_tensor(x), fy_arg_tensor(weight)}, .name = name});
}

/* For a 2-D x addmm adds the bias; after other products it is added in place. */
static fy_tensor *matmul_and_bias(fy_site *at, fy_tensor *x, fy_tensor *weight, fy_tensor *bias, const char *name)
{
    fy_call all = {.at = at,
                   .op = FY_OP_addmm,
                   .in = {fy_arg_tensor(bias), fy_arg_tensor(x), fy_arg_tensor(weight)},
                   .real = {[FY_ADDMM_beta] = 1, [FY_ADDMM_alpha] = 1},
                   .integer = {[FY_ADDMM_beta] = 1, [FY_ADDMM_alpha] = 1},
                   .bias_last = true,
                   .name = name};
    if (x->ndim == 2) return fy_dispatch(&all);
    if (x->ndim > 2 && !fy_dev_copies_implicitly() && !fy_product_on_one_device(&all)) return NULL;
    fy_tensor *product = matmul(at, x, weight, name);
    if (!product) return NULL;
    fy_tensor *out = fy_dispatch(&(fy_call){.at = at,
                                            .op = FY_OP_add,
                                            .in = {fy_arg_tensor(product), fy_arg_tensor(bias)},
                                            .out = product,
                                            .real = {[FY_ADD_alpha] = 1},
                                            .integer = {[FY_ADD_alpha] = 1}});
    if (!out) fy_tensor_release(at, product, FY_WORD_free);
    return x->ndim > 2 && fy_is_contiguous_at(at, x) ? fy_node_call(out, "ViewBackward0") : out; /* of addmm */
}

static fy_tensor *linear(fy_site *at, fy_tensor *x, fy_tensor *weight, fy_tensor *bias)
{
    const char *name = fy_name_for(at, NULL);
    fy_tensor *w = transposed(at, weight);
    if (!w) return NULL;
    fy_tensor *out = bias ? matmul_and_bias(at, x, w, bias, name) : matmul(at, x, w, name);
    fy_tensor_release(at, w, FY_WORD_free);
    return fy_scope_track(out);
}

fy_tensor *fy_linear_at(fy_site *at, fy_tensor *x, fy_tensor *weight, fy_tensor *bias)
{
    FY_CALL(at);
    fy_tensor *in[] = {x, weight, bias};
    if (!fy_check(at, 0, x) || !fy_check(at, 1, weight) || (bias && !fy_check(at, 2, bias))) return NULL;
    if (!fy_autocast_take(at, FY_CALL_linear, 3, in)) return NULL; /* the weight itself, not the view of it */
    fy_tensor *out = linear(at, in[0], in[1], in[2]);
    fy_autocast_release(at, 3, in);
    return out;
}
