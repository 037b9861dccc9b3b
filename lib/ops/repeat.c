/* repeat.c: fy_repeat. */
#include "dispatch.h"
#include "error.h"
#include "event.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

/* The operand with leading dimensions of size 1, as many as the result has. */
static fy_layout widened(const fy_tensor *x, int ndim)
{
    fy_layout l = {.ndim = ndim, .numel = fy_numel(x)};
    for (int d = 0; d < ndim; d++) {
        int own = d - (ndim - x->ndim);
        l.shape[d] = own < 0 ? 1 : x->shape[own];
        l.strides[d] = own < 0 ? 0 : x->strides[own];
    }
    return l;
}

static bool check_sizes(const fy_call *c, const fy_shape *result)
{
    char text[256];
    fy_tensor *x = c->in[0].tensor;
    for (int d = 0; d < result->ndim; d++)
        if (result->dims[d] < 0 || c->dims.dims[d] < 0)
            return fy_fail_about(c->at, "shape", "use repeat counts of 0 or more", 1, &x,
                                 "Trying to create tensor with negative dimension %lld: %s", (long long)result->dims[d],
                                 fy_shape_text(result->dims, result->ndim, "[]", text, sizeof text));
    return true;
}

bool fy_plan_repeated(const fy_call *c, fy_plan *p)
{
    fy_tensor *x = c->in[0].tensor;
    fy_shape *s = &p->result.shape;
    if (c->dims.ndim > FY_MAX_DIMS)
        return fy_fail_about(c->at, "shape", "merge some dimensions", 1, &x, "a tensor has at most %d dimensions",
                             FY_MAX_DIMS);
    if (c->dims.ndim < x->ndim)
        return fy_fail_about(c->at, "shape", "pass 1 for a dimension that is not repeated", 1, &x,
                             "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
                             "tensor");
    p->in[0] = widened(x, c->dims.ndim);
    s->ndim = c->dims.ndim;
    for (int d = 0; d < s->ndim; d++)
        if (__builtin_mul_overflow(p->in[0].shape[d], c->dims.dims[d], &s->dims[d])) s->dims[d] = INT64_MAX;
    if (!check_sizes(c, s)) return false;
    fy_shape_rows(s, p->result.strides);
    return true;
}

fy_tensor *fy_repeat_at(fy_site *at, fy_tensor *x, fy_shape times)
{
    fy_call c = {.at = at, .op = FY_OP_repeat, .in = {fy_arg_tensor(x)}, .dims = times};
    if (!fy_check(at, 0, x)) return NULL;
    c.name = fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}
