/* sort.c: cumsum, argsort, sort and topk. sort and topk are argsort followed by gather, and show so in the log. */
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

fy_tensor *fy_cumsum_at(fy_site *at, fy_tensor *x, int64_t dim, fy_cumsum_opts o)
{
    FY_CALL(at);
    fy_call c = {.at = at, .op = FY_OP_cumsum, .in = {fy_arg_tensor(x)}, .dims = {1, {dim}}, .dtype = o.dtype};
    if (!fy_check(at, 0, x) || (o.dtype != FY_DTYPE_UNSET && !fy_dtype_ok(at, o.dtype))) return NULL;
    if (o.dtype == FY_BOOL && fy_tensor_numel(x) > 0)
        return fy_fail_about(at, "dtype", "use .dtype = FY_INT64 to count; fy_any tells whether any is true", 1, &x,
                             "\"cumsum_%s\" not implemented for 'Bool'", x->storage->dev->number ? "cuda" : "cpu");
    c.name = fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}

static fy_call argsort_call(fy_site *at, fy_tensor *x, int64_t dim, bool descending)
{
    return (fy_call){.at = at,
                     .op = FY_OP_argsort,
                     .in = {fy_arg_tensor(x)},
                     .dims = {1, {dim}},
                     .integer = {[FY_ARGSORT_descending] = descending}};
}

static const char *name_of(fy_site *at, fy_tensor **indices) { return indices ? fy_name_of_indices(at) : NULL; }

fy_tensor *fy_argsort_at(fy_site *at, fy_tensor *x, int64_t dim, fy_sort_opts o)
{
    FY_CALL(at);
    fy_call c = argsort_call(at, x, dim, o.descending);
    if (!fy_check(at, 0, x)) return NULL;
    if (o.indices)
        return fy_fail_about(at, "value", "use fy_sort, which returns the values and has .indices", 1, &x,
                             "fy_argsort returns the indices: it has no .indices");
    c.name = fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}

/* Gathers x by `order`, which becomes *indices if requested, else is released. grad_fn: of the whole call. */
static fy_tensor *gather_by(fy_site *at, fy_tensor *x, int64_t dim, fy_tensor *order, fy_tensor **indices,
                            const char *grad_fn)
{
    if (!order) return NULL;
    fy_tensor *values = fy_dispatch(&(fy_call){.at = at,
                                               .op = FY_OP_gather,
                                               .in = {fy_arg_tensor(x), fy_arg_tensor(order)},
                                               .dims = {1, {dim}},
                                               .strides = order->strides,
                                               .name = fy_name_for(at, NULL)});
    if (values && indices) {
        *indices = fy_scope_track(order);
        fy_returned(at, 2, (fy_tensor *[]){values, order});
    } else {
        fy_tensor_release(at, order, FY_WORD_free);
    }
    return fy_scope_track(fy_node_call(values, grad_fn));
}

fy_tensor *fy_sort_at(fy_site *at, fy_tensor *x, int64_t dim, fy_sort_opts o)
{
    FY_CALL(at);
    fy_call c = argsort_call(at, x, dim, o.descending);
    if (o.indices) *o.indices = NULL;
    if (!fy_check(at, 0, x)) return NULL;
    c.name = name_of(at, o.indices);
    return gather_by(at, x, dim, fy_dispatch(&c), o.indices, o.stable ? "SortBackward1" : "SortBackward0");
}

fy_tensor *fy_topk_at(fy_site *at, fy_tensor *x, int64_t k, int64_t dim, fy_topk_opts o)
{
    FY_CALL(at);
    if (o.indices) *o.indices = NULL;
    if (!fy_check(at, 0, x) || !fy_wrap_dim(at, x, &dim)) return NULL;
    int64_t size = x->ndim ? x->shape[dim] : 1;
    if (k < 0 || k > size)
        return fy_fail_about(at, "value", fy_hint("use a k from 0 to %lld, the size of the dimension", (long long)size),
                             1, &x, "selected index k out of range");
    if (x->dtype == FY_BOOL)
        return fy_fail_about(at, "dtype", "fy_nonzero gives the indices of true elements", 1, &x,
                             "\"topk_%s\" not implemented for 'Bool'", x->storage->dev->number ? "cuda" : "cpu");
    fy_call c = argsort_call(at, x, dim, !o.smallest);
    if (!x->ndim) c.name = name_of(at, o.indices);
    fy_tensor *order = fy_dispatch(&c), *first = order;
    if (order && order->ndim > 0) { /* a compact copy of the first k */
        fy_tensor part = *order;
        part.shape[dim] = k;
        first = fy_dispatch(&(fy_call){.at = at,
                                       .op = FY_OP_clone,
                                       .in = {fy_arg_tensor(&part)},
                                       .row_major = true,
                                       .name = name_of(at, o.indices)});
        fy_tensor_release(at, order, FY_WORD_free);
    }
    return gather_by(at, x, dim, first, o.indices, "TopkBackward0");
}
