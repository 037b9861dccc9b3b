/* slice.c: views of a part of a dimension: narrow, slice with a step, select. */
#include "frame.h"
#include "shape.h"
#include "tensor.h"

static bool has_dims(fy_site *at, fy_tensor *x, const char *call)
{
    if (x->ndim > 0) return true;
    return fy_fail_about(at, "shape", "fy_view(x, (1)) makes it 1-D", 1, &x,
                         "%s() cannot be applied to a 0-dim tensor.", call);
}

/* `length` elements of dim, from start on, `step` apart. */
static fy_tensor *part(fy_site *at, fy_tensor *x, int64_t dim, int64_t start, int64_t length, int64_t step)
{
    fy_geometry g = fy_geometry_of(x);
    g.shape.dims[dim] = length;
    g.offset = fy_saturating_offset(x->offset, x->strides[dim], start);
    g.strides[dim] = fy_saturating_mul(x->strides[dim], step);
    return fy_view_make(at, x, &g, FY_NODE_PART, &(fy_shape){3, {dim, start, step}});
}

fy_tensor *fy_narrow_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t start, int64_t length)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !has_dims(at, x, "narrow")) return NULL;
    if (!fy_wrap_dim(at, x, &dim)) return NULL;
    if (length < 0)
        return fy_fail_about(at, "index", "use a length of 0 or more", 1, &x, "narrow(): length must be non-negative.");
    int64_t size = x->shape[dim];
    if (start < -size || start > size)
        return fy_fail_about(at, "index", "start is an index: 0 is the first, -1 the last", 1, &x,
                             "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                             (long long)-size, (long long)size, (long long)start);
    if (start < 0) start += size;
    if (length > size - start)
        return fy_fail_about(at, "index", "start + length must not exceed the size", 1, &x,
                             "start (%lld) + length (%lld) exceeds dimension size (%lld).", (long long)start,
                             (long long)length, (long long)size);
    return part(at, x, dim, start, length, 1);
}

/* A bound of a slice: negative counts from the end; clamped to [low, size]. */
static int64_t clamp(int64_t i, int64_t low, int64_t size)
{
    if (i < 0) i += size;
    return i < low ? low : i > size ? size : i;
}

fy_tensor *fy_slice_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t start, int64_t end, int64_t step)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !has_dims(at, x, "slice") || !fy_wrap_dim(at, x, &dim)) return NULL;
    if (step <= 0)
        return fy_fail_about(at, "value", "use a step of 1 or more: as in PyTorch, a slice cannot go backwards", 1, &x,
                             "slice step must be positive: step must be greater than zero, but got %lld",
                             (long long)step);
    int64_t size = x->shape[dim];
    start = clamp(start, 0, size);
    end = clamp(end, start, size);
    return part(at, x, dim, start, end > start ? (end - start - 1) / step + 1 : 0, step);
}

fy_tensor *fy_select_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t index)
{
    FY_CALL(at);
    char text[256];
    if (!fy_check(at, 0, x) || !has_dims(at, x, "select") || !fy_wrap_dim(at, x, &dim)) return NULL;
    int64_t size = x->shape[dim], wrapped = index < 0 ? index + size : index;
    if (wrapped < 0 || wrapped >= size)
        return fy_fail_about(at, "index", "indices are numbered from 0; -1 is the last", 1, &x,
                             "select(): index %lld out of range for tensor of size %s at dimension %d",
                             (long long)index, fy_shape_text(x->shape, x->ndim, "[]", text, sizeof text), (int)dim);
    fy_geometry g = fy_geometry_of(x);
    g.offset = fy_saturating_offset(x->offset, x->strides[dim], wrapped);
    g.shape.ndim--;
    for (int i = (int)dim; i < g.shape.ndim; i++) {
        g.shape.dims[i] = x->shape[i + 1];
        g.strides[i] = x->strides[i + 1];
    }
    return fy_view_make(at, x, &g, FY_NODE_PART, &(fy_shape){3, {dim, wrapped, 1}});
}
