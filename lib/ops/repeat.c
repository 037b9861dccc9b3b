/* repeat.c: fy_repeat. */
#include "dispatch.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

bool fy_plan_repeated(const fy_call *c, fy_plan *p)
{
    char text[256];
    fy_tensor *x = c->in[0].tensor;
    const fy_shape *times = &c->dims;
    fy_shape *s = &p->result.shape;
    if (times->ndim > FY_MAX_DIMS)
        return fy_fail_about(c->at, "shape", "merge some dimensions", 1, &x, "a tensor has at most %d dimensions",
                             FY_MAX_DIMS);
    if (times->ndim < x->ndim)
        return fy_fail_about(c->at, "shape", "pass 1 for a dimension that is not repeated", 1, &x,
                             "Number of dimensions of repeat dims can not be smaller than number of dimensions of "
                             "tensor");

    /* The operand gets leading dimensions of size 1, as many as the result has. */
    fy_layout in = {.ndim = times->ndim, .numel = fy_tensor_numel(x)};
    s->ndim = times->ndim;
    for (int d = 0; d < s->ndim; d++) {
        int own = d - (s->ndim - x->ndim);
        in.shape[d] = own < 0 ? 1 : x->shape[own];
        in.strides[d] = own < 0 ? 0 : x->strides[own];
        if (__builtin_mul_overflow(in.shape[d], times->dims[d], &s->dims[d])) s->dims[d] = INT64_MAX;
    }
    for (int d = 0; d < s->ndim; d++)
        if (s->dims[d] < 0 || times->dims[d] < 0)
            return fy_fail_about(c->at, "shape", "use repeat counts of 0 or more", 1, &x,
                                 "Trying to create tensor with negative dimension %lld: %s", (long long)s->dims[d],
                                 fy_shape_text(s->dims, s->ndim, "[]", text, sizeof text));
    p->in[0] = in;
    fy_shape_rows(s, p->result.strides);
    return true;
}

fy_tensor *fy_repeat_at(fy_site *at, fy_tensor *x, fy_shape times)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_repeat, .in = {fy_arg_tensor(x)}, .dims = times};
    if (!fy_check(at, 0, x)) return NULL;
    c.name = fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}
