/* index_check.c: indices that are out of range, in PyTorch's words. On the host all are looked at before anything
 * runs; a card finds them by an assertion in its kernel, of which the program hears later. */
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "op.h"
#include "tensor.h"

/* Where element i of x lies, in elements from the storage's first. */
static int64_t place_of(const fy_tensor *x, int64_t i)
{
    int64_t place = x->offset;
    for (int d = x->ndim - 1; d >= 0; d--) {
        place += i % x->shape[d] * x->strides[d];
        i /= x->shape[d];
    }
    return place;
}

static bool fail_range(const fy_call *c, int64_t index, int64_t dim, int64_t size)
{
    const char *hint = fy_hint("an index counts from 0: here to %lld; negative ones count in views alone",
                               (long long)(size > 0 ? size - 1 : 0));
    fy_tensor *x[FY_MOST_ARGUMENTS];
    int n = fy_arguments(c, x);
    if (fy_ops[c->op].shape == FY_INDEXED)
        return fy_fail_about(c->at, "index", hint, n, x, "index out of range in self: %lld, of %lld", (long long)index,
                             (long long)size);
    return fy_fail_about(c->at, "index", hint, n, x, "index %lld is out of bounds for dimension %lld with size %lld",
                         (long long)index, (long long)dim, (long long)size);
}

bool fy_index_in_range(const fy_call *c)
{
    if (fy_ops[c->op].dtype != FY_BY_INDEX) return true;
    const fy_tensor *x = c->in[0].tensor, *index = c->in[1].tensor;
    int64_t dim = c->dims.dims[0] < 0 ? c->dims.dims[0] + (x->ndim ? x->ndim : 1) : c->dims.dims[0];
    int64_t size = x->ndim ? x->shape[dim] : 1;
    if (index->storage->dev->number > 0) return true;
    for (int64_t i = 0, n = fy_numel(index); i < n; i++) {
        int64_t k = fy_integer_at(index->dtype, index->storage->data, place_of(index, i));
        if (k < 0 || k >= size) return fail_range(c, k, dim, size);
    }
    return true;
}
