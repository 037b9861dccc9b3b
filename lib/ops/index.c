/* index.c: index_select, embedding, gather and scatter_add_: the shapes, which depend on the index's, and the checks. A
 * 0-dim operand counts as one of size 1. */
#include "dispatch.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

/* ---- rows by index: index_select, embedding --------------------------------------------------------------- */

static bool check_index(const fy_call *c, fy_tensor *x, fy_tensor *index)
{
    fy_tensor *both[FY_MAX_ARGUMENTS];
    int n = fy_arguments(c, both);
    if (c->op == FY_OP_embedding && x->ndim != 2)
        return fy_fail_about(c->at, "shape", "weight is (number of rows, row length); each index selects a row", 1, &x,
                             "'weight' must be 2-D");
    if (c->op == FY_OP_index_select && index->ndim > 1)
        return fy_fail_about(c->at, "index",
                             "use fy_flatten on the index; fy_gather takes an index with as many dimensions as x", n,
                             both, "index_select(): Index is supposed to be a vector");
    if (x->ndim == 0 && fy_tensor_numel(index) != 1)
        return fy_fail_about(c->at, "index", "use fy_expand to repeat a single element", n, both,
                             "index_select(): Index to scalar can have only 1 value, got %lld value(s)",
                             (long long)fy_tensor_numel(index));
    if (x->ndim + index->ndim - 1 <= FY_MAX_DIMS) return true;
    return fy_fail_about(c->at, "shape", "merge some dimensions of the index first: fy_flatten", n, both,
                         "a tensor has at most %d dimensions", FY_MAX_DIMS);
}

/* The result's layout with the index's n dimensions (from dim on) moved last. */
static fy_layout with_index_last(const fy_geometry *g, int64_t dim, int n)
{
    fy_layout l = {.ndim = g->shape.ndim, .numel = fy_shape_numel(&g->shape)};
    for (int d = 0, to; d < l.ndim; d++) {
        to = d < dim ? d : d < dim + n ? d + (l.ndim - (int)dim - n) : d - n;
        l.shape[to] = g->shape.dims[d];
        l.strides[to] = g->strides[d];
    }
    return l;
}

static bool plan_lookup(const fy_call *c, fy_plan *p, int64_t dim)
{
    fy_tensor *x = c->in[0].tensor, *index = c->in[1].tensor;
    fy_geometry g = fy_geometry_of(x), i = fy_geometry_of(index);
    if (!check_index(c, x, index)) return false;
    fy_shape s = {0}; /* x's shape with dim replaced by the index's dimensions */
    for (int d = 0; d < x->ndim; d++) {
        if (d != dim) s.dims[s.ndim++] = x->shape[d];
        for (int k = 0; d == dim && k < index->ndim; k++) s.dims[s.ndim++] = index->shape[k];
        if (d == dim && index->ndim == 0) s.dims[s.ndim++] = 1;
    }
    if (c->op == FY_OP_embedding && index->ndim == 0) s = (fy_shape){1, {x->shape[1]}};
    p->reduced = 1;
    p->in[0] = fy_layout_last(&g, (int)dim);
    p->in[1] = fy_layout_of(&i);
    p->result.shape = s;
    fy_shape_rows(&s, p->result.strides);
    p->out = with_index_last(&p->result, dim, s.ndim - x->ndim + 1);
    return true;
}

/* ---- element by element: gather, scatter_add_ --------------------------------------------------------------- */

/* x cut to the sizes of `within`, except along dim if `keep`; dim moved last. */
static fy_layout layout_cut(const fy_tensor *x, const fy_tensor *within, int64_t dim, bool keep)
{
    fy_geometry g = fy_geometry_of(x);
    for (int d = 0; d < g.shape.ndim; d++)
        if (d != dim || !keep) g.shape.dims[d] = within->ndim ? within->shape[d] : 1;
    return fy_layout_last(&g, (int)dim);
}

static int dims_of(const fy_tensor *x) { return x->ndim ? x->ndim : 1; }
static int64_t size_of(const fy_tensor *x, int d) { return x->ndim ? x->shape[d] : 1; }

static bool check_ndim(const fy_call *c, const fy_tensor *x, const char *called)
{
    fy_tensor *given[FY_MAX_ARGUMENTS];
    int n = fy_arguments(c, given);
    if (dims_of(c->in[1].tensor) == dims_of(x)) return true;
    return fy_fail_about(c->at, "shape", "the index must have as many dimensions as the tensor it indexes", n, given,
                         "Index tensor must have the same number of dimensions as %s tensor", called);
}

static bool fits(const fy_tensor *index, const fy_tensor *x, int64_t except, int *wrong)
{
    for (int d = 0; d < dims_of(index); d++)
        if (d != except && size_of(index, d) > size_of(x, d)) return *wrong = d, false;
    return true;
}

static const char *text_of(const fy_tensor *x, char *buf, size_t room)
{
    return fy_shape_text(x->shape, x->ndim, "[]", buf, room);
}

static bool check_gather(const fy_call *c, int64_t dim)
{
    char index_text[256], self_text[256];
    int wrong;
    fy_tensor *x = c->in[0].tensor, *index = c->in[1].tensor, *given[FY_MAX_ARGUMENTS];
    if (fy_tensor_numel(index) == 0) return true; /* an empty index may have any shape */
    if (!check_ndim(c, x, "input")) return false;
    if (fits(index, x, dim, &wrong)) return true;
    return fy_fail_about(c->at, "shape", "fy_narrow makes the index smaller", fy_arguments(c, given), given,
                         "Size does not match at dimension %d expected index %s to be smaller than self %s apart from "
                         "dimension %d",
                         wrong, text_of(index, index_text, sizeof index_text), text_of(x, self_text, sizeof self_text),
                         (int)dim);
}

static bool check_scatter(const fy_call *c, int64_t dim)
{
    char index_text[256], self_text[256], src_text[256];
    int wrong;
    fy_tensor *x = c->in[0].tensor, *index = c->in[1].tensor, *src = c->in[2].tensor, *given[FY_MAX_ARGUMENTS];
    if (fy_tensor_numel(index) == 0) return true;
    if (!check_ndim(c, x, "self") || !check_ndim(c, src, "src")) return false;
    if (fits(index, x, dim, &wrong) && fits(index, src, -1, &wrong)) return true;
    return fy_fail_about(c->at, "shape", "fy_narrow makes the index smaller", fy_arguments(c, given), given,
                         "Expected index %s to be smaller than self %s apart from dimension %d and to be smaller size "
                         "than src %s",
                         text_of(index, index_text, sizeof index_text), text_of(x, self_text, sizeof self_text),
                         (int)dim, text_of(src, src_text, sizeof src_text));
}

static bool plan_gather(const fy_call *c, fy_plan *p, int64_t dim)
{
    fy_tensor *x = c->in[0].tensor, *index = c->in[1].tensor;
    fy_geometry i = fy_geometry_of(index);
    if (!check_gather(c, dim)) return false;
    p->reduced = 1;
    p->result.shape = i.shape;
    if (c->strides) memcpy(p->result.strides, c->strides, (size_t)i.shape.ndim * sizeof *c->strides);
    else fy_shape_rows(&i.shape, p->result.strides);
    if (fy_tensor_numel(index) == 0) return true;
    p->in[0] = layout_cut(x, index, dim, true);
    p->in[1] = fy_layout_last(&i, (int)dim);
    p->out = fy_layout_last(&p->result, (int)dim);
    return true;
}

static bool plan_scatter(const fy_call *c, fy_plan *p, int64_t dim)
{
    fy_tensor *x = c->in[0].tensor, *index = c->in[1].tensor;
    fy_geometry own = fy_geometry_of(x), i = fy_geometry_of(index);
    if (!check_scatter(c, dim)) return false;
    p->reduced = 1;
    p->result.shape = own.shape;
    memcpy(p->result.strides, own.strides, sizeof own.strides);
    if (fy_tensor_numel(index) == 0) return true;
    p->in[0] = layout_cut(x, index, dim, true);
    p->in[1] = fy_layout_last(&i, (int)dim);
    p->in[2] = layout_cut(c->in[2].tensor, index, dim, false);
    p->out = fy_layout_last(&own, (int)dim);
    return true;
}

bool fy_plan_indexed(const fy_call *c, fy_plan *p)
{
    int64_t dim = c->dims.dims[0];
    if (!fy_wrap_dim(c->at, c->in[0].tensor, &dim)) return false;
    switch (fy_ops[c->op].shape) {
    case FY_INDEXED: return plan_lookup(c, p, dim);
    case FY_GATHERED: return plan_gather(c, p, dim);
    default: return plan_scatter(c, p, dim);
    }
}

/* ---- the calls ------------------------------------------------------------------------------------------------ */

static fy_call index_call(fy_site *at, int op, fy_tensor *x, int64_t dim, fy_tensor *index)
{
    return (fy_call){.at = at, .op = op, .in = {fy_arg_tensor(x), fy_arg_tensor(index)}, .dims = {1, {dim}}};
}

static fy_tensor *dispatch_index(fy_call c)
{
    for (int i = 0; i < 2; i++)
        if (!fy_check(c.at, c.op == FY_OP_embedding ? i : 2 * i, c.in[i].tensor)) return NULL;
    c.name = fy_name_for(c.at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}

fy_tensor *fy_index_select_at(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *index)
{
    FY_CALL(at);
    return dispatch_index(index_call(at, FY_OP_index_select, x, dim, index));
}

fy_tensor *fy_gather_at(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *index)
{
    FY_CALL(at);
    return dispatch_index(index_call(at, FY_OP_gather, x, dim, index));
}

fy_tensor *fy_embedding_at(fy_site *at, fy_tensor *weight, fy_tensor *index)
{
    FY_CALL(at);
    return dispatch_index(index_call(at, FY_OP_embedding, weight, 0, index));
}

/* No op runs, but the graph knows of the call. */
static fy_tensor *scatter_nothing(const fy_call *c)
{
    fy_plan p;
    fy_before before = {0};
    bool records = fy_records(c);
    if ((records && !fy_record_begin(c, &before)) || !fy_plan_make(c, &p)) return NULL;
    return records ? fy_record(c, c->out, &before) : c->out;
}

fy_tensor *fy_scatter_add__at(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *index, fy_tensor *src)
{
    FY_CALL(at);
    fy_call c = index_call(at, FY_OP_scatter_add, x, dim, index);
    c.in[2] = fy_arg_tensor(src);
    c.out = x;
    if (!fy_check(at, 0, x) || !fy_check(at, 2, index) || !fy_check(at, 3, src)) return NULL;
    if (fy_tensor_numel(index) == 0 && !fy_policy_applies(&c)) return scatter_nothing(&c);
    return fy_dispatch(&c);
}
