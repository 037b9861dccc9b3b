/* gradients_of_reductions.c: gradients of reductions, and of ops along a dimension. */
#include <math.h>

#include "dispatch.h"
#include "gradients.h"
#include "shape.h"

static fy_shape shape_of(const fy_tensor *x) { return fy_geometry_of(x).shape; }

/* The shape of the result with keepdim: the operand's, with 1 for the reduced dimensions. */
static fy_shape kept_shape(const fy_node *n)
{
    fy_shape s = n->next[0]->is.shape;
    bool all = n->dims.ndim == 0;
    for (int d = 0; d < s.ndim; d++)
        if (all) s.dims[d] = 1;
    for (int i = 0; i < n->dims.ndim; i++) {
        int64_t dim = n->dims.dims[i];
        if (s.ndim) s.dims[dim < 0 ? dim + s.ndim : dim] = 1;
    }
    return s;
}

/* x, of the result's shape, so that it broadcasts to the operand. */
static fy_arg kept(const fy_node *n, fy_arg x)
{
    fy_shape s = kept_shape(n);
    return fy_arg_tensor(fy_algebra_reshape(x.tensor, &s));
}

static fy_arg total(const fy_node *n, fy_arg x) { return fy_algebra_call(FY_OP_sum, x, NUMBER(0), n); }

fy_arg fy_gradient_spread(const fy_node *n, fy_arg g)
{
    fy_arg k = kept(n, g);
    return fy_arg_tensor(k.tensor ? fy_expand_at(fy_algebra_site, k.tensor, n->next[0]->is.shape) : NULL);
}

fy_arg fy_gradient_reduced_count(const fy_node *n)
{
    fy_shape kept = kept_shape(n);
    int64_t results = fy_shape_numel(&kept);
    return NUMBER(results ? (double)(fy_shape_numel(&n->next[0]->is.shape) / results) : 0);
}

/* r / a; where a single element is 0, the product of the others, which is not 0 there only. */
fy_arg fy_gradient_product_of_others(const fy_node *n, fy_arg g, fy_arg a, fy_arg r)
{
    fy_arg zero = OP(eq, a, NUMBER(0)), rest = OP(where, zero, NUMBER(1), a);
    fy_arg of_rest = kept(n, fy_algebra_call(FY_OP_prod, rest, NUMBER(0), n));
    fy_arg alone = OP(eq, kept(n, total(n, zero)), NUMBER(1));
    fy_arg at_zero = OP(where, alone, of_rest, ZERO);
    return OP(mul, kept(n, g), OP(where, zero, at_zero, OP(div, kept(n, r), rest)));
}

/* 2 * (a - mean(a)) / (count - correction) */
fy_arg fy_gradient_variance(const fy_node *n, fy_arg g, fy_arg a)
{
    double count = fy_gradient_reduced_count(n).real;
    fy_arg mean = OP(div, kept(n, total(n, a)), NUMBER(count));
    fy_arg slope = OP(mul, OP(sub, a, mean), NUMBER(2 / (count - n->real[FY_VAR_correction])));
    return OP(mul, kept(n, g), slope);
}

/* Along a dimension the chosen element gets it; of all elements, those that are equal share it. */
fy_arg fy_gradient_extreme(const fy_node *n, fy_arg g, fy_arg a, fy_arg r)
{
    if (n->dims.ndim == 0) {
        fy_arg nan = OP(logical_and, OP(isnan, a), OP(isnan, r)), equal = OP(logical_or, OP(eq, a, r), nan);
        return OP(where, equal, OP(div, g, total(n, equal)), ZERO);
    }
    fy_arg where = n->saved[1].is; /* the positions */
    fy_shape s = n->next[0]->is.shape;
    fy_tensor *all = fy_algebra_zeros(g.tensor, &s), *one = kept(n, g).tensor;
    if (!all || !one || !where.tensor) return fy_arg_tensor(NULL);
    return fy_arg_tensor(fy_scatter_add__at(fy_algebra_site, all, n->dims.dims[0], where.tensor, one));
}

/* sign(a) * (|a| / r) ** (p - 1), as PyTorch's norm_backward: 0 where the norm, or for p < 2 the element, is 0. */
fy_arg fy_gradient_norm(const fy_node *n, fy_arg g, fy_arg a, fy_arg r)
{
    double p = n->real[FY_NORM_p];
    fy_arg gk = kept(n, g), rk = kept(n, r), zero_norm = OP(eq, rk, NUMBER(0));
    if (p == 1) return OP(mul, OP(sign, a), gk);
    if (p == 2) return OP(where, zero_norm, ZERO, OP(mul, a, OP(div, gk, rk)));
    fy_arg size = OP(abs, a), sign = OP(sign, a);
    if (isinf(p)) {
        fy_arg chosen = OP(logical_or, OP(eq, size, rk), OP(isnan, size));
        return OP(mul, sign, OP(where, chosen, OP(div, gk, kept(n, total(n, chosen))), ZERO));
    }
    fy_arg slope = OP(mul, sign, OP(pow, OP(div, size, rk), NUMBER(p - 1)));
    fy_arg gradient = OP(where, zero_norm, ZERO, OP(mul, gk, slope));
    return p < 1 ? OP(where, OP(eq, a, NUMBER(0)), ZERO, gradient) : gradient;
}

fy_arg fy_gradient_along(const fy_node *n, int op, fy_arg g, fy_arg r) { return fy_algebra_call(op, g, r, n); }

fy_arg fy_gradient_row_moments(const fy_node *n, fy_arg g, fy_arg a)
{
    fy_call c = {.at = fy_algebra_site, .op = FY_OP_layer_norm_backward, .in = {g, a}, .dims = n->dims};
    c.real[FY_LAYER_NORM_BACKWARD_eps] = n->real[FY_LAYER_NORM_eps];
    return fy_arg_tensor(g.tensor && a.tensor ? fy_scope_track(fy_compute(&c)) : NULL);
}

fy_arg fy_gradient_class_scores(const fy_node *n, fy_arg g, fy_arg b)
{
    fy_call c = {.at = fy_algebra_site, .op = FY_OP_nll_loss_backward, .in = {g, b}, .shape = n->next[0]->is.shape};
    c.real[FY_NLL_LOSS_BACKWARD_smoothing] = n->real[FY_NLL_LOSS_smoothing];
    return fy_arg_tensor(g.tensor && b.tensor ? fy_scope_track(fy_compute(&c)) : NULL);
}

/* cumsum from the other end: the elements are taken in reverse order before and after. */
fy_arg fy_gradient_sum_from_end(const fy_node *n, fy_arg g)
{
    if (!g.tensor || g.tensor->ndim == 0) return g;
    fy_shape s = shape_of(g.tensor);
    int64_t dim = n->dims.dims[0] < 0 ? n->dims.dims[0] + s.ndim : n->dims.dims[0];
    fy_call c = {.at = fy_algebra_site, .op = FY_OP_arange, .shape = {1, {s.dims[dim]}}, .dtype = FY_INT64};
    c.dev = g.tensor->storage->dev;
    c.real[FY_ARANGE_start] = (double)(c.integer[FY_ARANGE_start] = s.dims[dim] - 1);
    c.real[FY_ARANGE_step] = (double)(c.integer[FY_ARANGE_step] = -1);
    fy_arg reverse = fy_arg_tensor(fy_scope_track(fy_compute(&c)));
    fy_arg backward = fy_algebra_call(FY_OP_index_select, g, reverse, n);
    return fy_algebra_call(FY_OP_index_select, fy_algebra_call(FY_OP_cumsum, backward, NUMBER(0), n), reverse, n);
}
