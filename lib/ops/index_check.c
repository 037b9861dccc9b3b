/* index_check.c: out-of-range indices, in PyTorch's words. On the host every index is checked before the op runs; on a
 * GPU an assertion in the kernel fails, which the program learns at its next synchronization. */
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "offset.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

static bool fail_range(const fy_call *c, int64_t index, int64_t dim, int64_t size)
{
    const char *hint = "the dimension is empty, so it has no valid index";
    if (size > 0) hint = fy_hint("valid indices are 0 to %lld; only views accept negative ones", (long long)size - 1);
    fy_tensor *x[FY_MAX_ARGUMENTS];
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
    if (index->storage->dev->number > 0) return true;
    int64_t dim = c->dims.dims[0] < 0 ? c->dims.dims[0] + (x->ndim ? x->ndim : 1) : c->dims.dims[0];
    int64_t size = x->ndim ? x->shape[dim] : 1;
    fy_geometry g = fy_geometry_of(index);
    fy_layout l = fy_layout_of(&g);
    for (int64_t i = 0; i < l.numel; i++) {
        int64_t k = fy_integer_at(index->dtype, fy_first_element(index), fy_offset_of(&l, l.ndim, i));
        if (k < 0 || k >= size) return fail_range(c, k, dim, size);
    }
    return true;
}
