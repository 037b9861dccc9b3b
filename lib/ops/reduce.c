/* reduce.c: plans reductions and ops along one dimension. */
#include <math.h>

#include "dispatch.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

/* dim < 0: the reduction is over all dimensions. */
static bool fail_norm(const fy_call *c, int dim)
{
    fy_tensor *x = c->in[0].tensor;
    const char *hint = "for an empty tensor use a finite p of 0 or more: the norm is then 0";
    double p = c->real[FY_NORM_p];
    if (dim < 0)
        return fy_fail_about(c->at, "shape", hint, 1, &x,
                             "linalg.vector_norm cannot compute the %g norm on an empty tensor because the operation "
                             "does not have an identity",
                             p);
    return fy_fail_about(c->at, "index", hint, 1, &x,
                         "linalg.vector_norm cannot compute the %g norm on the dimension %d because this dimension is "
                         "empty and the operation does not have an identity",
                         p, dim);
}

static bool fail_empty(const fy_call *c, const char *format, long long dim)
{
    fy_tensor *x = c->in[0].tensor;
    const char *hint = "an empty tensor has no largest or smallest element";
    if (c->op == FY_OP_norm) return fail_norm(c, (int)dim);
    if (dim < 0)
        return fy_fail_about(c->at, "shape", hint, 1, &x,
                             "%s(): Expected reduction dim to be specified for input.numel() == 0. Specify the "
                             "reduction dim with the 'dim' argument.",
                             fy_ops[c->op].name);
    return fy_fail_about(c->at, "index", hint, 1, &x, format, fy_ops[c->op].name, dim);
}

/* Marks the reduced dimensions; false after an error. An empty list means all. */
static bool mark_reduced(const fy_call *c, bool *reduced)
{
    fy_tensor *x = c->in[0].tensor;
    memset(reduced, 0, FY_MAX_DIMS * sizeof *reduced);
    for (int i = 0; i < c->dims.ndim && i < FY_MAX_DIMS; i++) {
        int64_t dim = c->dims.dims[i];
        if (!fy_wrap_dim(c->at, x, &dim)) return false;
        if (reduced[dim])
            return fy_fail_about(c->at, "index", "name each dimension once", 1, &x,
                                 "dim %d appears multiple times in the list of dims", (int)dim);
        reduced[dim] = true;
    }
    if (c->dims.ndim == 0) memset(reduced, 1, FY_MAX_DIMS * sizeof *reduced);
    return true;
}

/* max, min, argmax, argmin and some norms have no result for no elements. */
static bool check_elements(const fy_call *c, const bool *reduced)
{
    fy_tensor *x = c->in[0].tensor;
    double p = c->real[FY_NORM_p];
    bool needed = c->op == FY_OP_max || c->op == FY_OP_min || c->op == FY_OP_argmax || c->op == FY_OP_argmin ||
                  (c->op == FY_OP_norm && (p < 0 || p == (double)INFINITY));
    if (!needed) return true;
    if (c->dims.ndim == 0) return fy_tensor_numel(x) > 0 || fail_empty(c, NULL, -1);
    for (int d = 0; d < x->ndim; d++)
        if (reduced[d] && x->shape[d] == 0)
            return fail_empty(c, "%s(): Expected reduction dim %lld to have non-zero size.", d);
    return true;
}

static void append(fy_layout *l, int64_t size, int64_t stride)
{
    l->shape[l->ndim] = size;
    l->strides[l->ndim++] = stride;
}

static fy_geometry rows(fy_shape s)
{
    fy_geometry g = {.shape = s};
    fy_shape_rows(&g.shape, g.strides);
    return g;
}

bool fy_plan_reduced(const fy_call *c, fy_plan *p)
{
    bool reduced[FY_MAX_DIMS];
    fy_tensor *x = c->in[0].tensor;
    fy_shape kept = {0}, *s = &p->result.shape;
    if (!mark_reduced(c, reduced) || !check_elements(c, reduced)) return false;
    p->in[0] = (fy_layout){.numel = fy_tensor_numel(x)};
    for (int d = 0; d < x->ndim; d++) {
        if (!reduced[d]) append(&p->in[0], kept.dims[kept.ndim++] = x->shape[d], x->strides[d]);
        if (!reduced[d] || c->keepdim) s->dims[s->ndim++] = reduced[d] ? 1 : x->shape[d];
    }
    for (int d = 0; d < x->ndim; d++)
        if (reduced[d]) append(&p->in[0], x->shape[d], x->strides[d]);
    p->reduced = p->in[0].ndim - kept.ndim;
    fy_shape_rows(s, p->result.strides);
    fy_geometry g = rows(kept);
    p->out = fy_layout_of(&g);
    return true;
}

fy_layout fy_layout_last(const fy_geometry *g, int d)
{
    fy_layout l = {.numel = fy_shape_numel(&g->shape)};
    for (int i = 0; i < g->shape.ndim; i++)
        if (i != d) append(&l, g->shape.dims[i], g->strides[i]);
    append(&l, g->shape.ndim ? g->shape.dims[d] : 1, g->shape.ndim ? g->strides[d] : 1);
    return l;
}

/* nll_loss: the classes are dimension 1 of (N, C, ...) and dimension 0 of (C); the target has the others. */
static bool plan_rows(const fy_call *c, fy_plan *p)
{
    fy_tensor *x = c->in[0].tensor, *target = c->in[1].tensor;
    fy_geometry g = fy_geometry_of(x), t = fy_geometry_of(target);
    p->in[0] = fy_layout_last(&g, x->ndim > 1 ? 1 : 0);
    p->in[1] = fy_layout_of(&t);
    p->result.shape = t.shape;
    fy_shape_rows(&t.shape, p->result.strides);
    return true;
}

/* The reverse: the classes are the call's dimension of the result. */
bool fy_plan_spread_rows(const fy_call *c, fy_plan *p)
{
    fy_geometry g = fy_geometry_of(c->in[0].tensor), t = fy_geometry_of(c->in[1].tensor);
    p->result.shape = c->shape;
    fy_shape_rows(&c->shape, p->result.strides);
    p->in[0] = fy_layout_of(&g);
    p->in[1] = fy_layout_of(&t);
    p->out = fy_layout_last(&p->result, c->shape.ndim > 1 ? 1 : 0);
    return true;
}

/* All elements as one row, in row-major order. */
static bool plan_flat(const fy_call *c, fy_plan *p)
{
    fy_geometry g = fy_geometry_of(c->in[0].tensor), r = rows(g.shape);
    p->reduced = g.shape.ndim;
    p->in[0] = fy_layout_of(&g);
    p->out = fy_layout_of(&r);
    p->result.shape = g.shape;
    memcpy(p->result.strides, r.strides, sizeof r.strides);
    return true;
}

/* argsort keeps its operand's strides if it is dense, or their order; other results are row-major. */
bool fy_plan_along(const fy_call *c, fy_plan *p)
{
    fy_tensor *x = c->in[0].tensor;
    int64_t dim = c->dims.dims[0];
    p->reduced = 1;
    if (fy_ops[c->op].shape == FY_ROWS) return plan_rows(c, p);
    if (c->op == FY_OP_prefix_count) return plan_flat(c, p);
    if (!fy_wrap_dim(c->at, x, &dim)) return false;
    fy_geometry g = fy_geometry_of(x), r = rows(g.shape);
    fy_layout own = fy_layout_of(&g);
    if (c->op == FY_OP_argsort && fy_is_dense(&g)) memcpy(r.strides, g.strides, sizeof r.strides);
    else if (c->op == FY_OP_argsort) fy_shape_follow(&g.shape, 1, &own, true, r.strides);
    p->result.shape = g.shape;
    memcpy(p->result.strides, r.strides, sizeof r.strides);
    p->in[0] = fy_layout_last(&g, (int)dim);
    if (fy_ops[c->op].nin == 2) { /* a gradient and the result that it is of */
        fy_geometry result = fy_geometry_of(c->in[1].tensor);
        p->in[1] = fy_layout_last(&result, (int)dim);
    }
    p->out = fy_layout_last(&r, (int)dim);
    return true;
}
