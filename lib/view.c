/* view.c: tensors that look at the bytes of another one. Nothing is copied; only a tensor event tells. */
#include <stdio.h>

#include "tensor.h"

static fy_tensor *make_view(fy_site *at, fy_tensor *x, const fy_geometry *g)
{
    __atomic_add_fetch(&x->storage->refs, 1, __ATOMIC_RELAXED);
    return fy_hand_out(fy_tensor_make(at, x->storage, g, fy_name_for(at, NULL), x->id));
}

/* A dimension counted from either end; false after an error. A 0-dim tensor has dimension 0 here. */
bool fy_wrap_dim(fy_site *at, fy_tensor *x, int64_t *dim)
{
    int n = x->ndim ? x->ndim : 1;
    if (*dim < -n || *dim >= n)
        return fy_fail_about(at, "index", "dimensions count from 0, or from -1 backwards", 1, &x,
                             "Dimension out of range (expected to be in range of [%d, %d], but got %d)", -n, n - 1,
                             (int)*dim);
    if (*dim < 0) *dim += n;
    return true;
}

/* Fill in the one size that is -1; false after an error. */
static bool infer(fy_site *at, fy_tensor *x, fy_shape *s)
{
    char text[256];
    int unknown = -1;
    bool huge = false, none = false;
    int64_t known = 1, numel = fy_numel(x);
    fy_shape asked = *s;
    for (int i = 0; i < s->ndim; i++) {
        int64_t d = s->dims[i];
        if (d < -1)
            return fy_fail_about(at, "shape", "a size is 0 or more; -1 means whatever is left", 1, &x,
                                 "invalid shape dimension %lld", (long long)d);
        if (d == -1 && unknown >= 0)
            return fy_fail_about(at, "shape", "leave one -1 and spell the others out", 1, &x,
                                 "only one dimension can be inferred");
        if (d == -1) unknown = i;
        else huge |= __builtin_mul_overflow(known, d, &known);
        none |= d == 0;
    }
    if (none) known = 0;
    else if (huge) known = -1; /* more than any tensor has */
    if (unknown >= 0 && known > 0 && numel % known == 0) s->dims[unknown] = numel / known;
    else if (unknown >= 0 || known != numel)
        return fy_fail_about(at, "shape", "the sizes must multiply to the number of elements", 1, &x,
                             "shape '%s' is invalid for input of size %lld",
                             fy_shape_text(asked.dims, asked.ndim, "[]", text, sizeof text), (long long)numel);
    return true;
}

/* Strides of shape s over x's elements in their order, if there are any: each stretch of x's dimensions
 * that lies without gaps is cut up anew on its own. */
static bool restride(const fy_tensor *x, const fy_shape *s, int64_t *strides)
{
    int64_t base = x->ndim ? x->strides[x->ndim - 1] : 1, stretch = 1, cut = 1;
    int to = s->ndim - 1;
    if (fy_numel(x) == 0) {
        fy_shape_rows(s, strides);
        return true;
    }
    for (int i = x->ndim - 1; i >= 0; i--) {
        stretch *= x->shape[i];
        bool ends = i == 0 || (x->shape[i - 1] != 1 && x->strides[i - 1] != stretch * base);
        if (!ends) continue;
        for (; to >= 0 && (cut < stretch || s->dims[to] == 1); to--) {
            strides[to] = cut * base;
            cut *= s->dims[to];
        }
        if (cut != stretch) return false;
        if (i > 0) base = x->strides[i - 1];
        stretch = cut = 1;
    }
    for (; to >= 0; to--) strides[to] = 1; /* a 0-dim tensor seen with sizes of 1 */
    return true;
}

fy_tensor *fy_view_at(fy_site *at, fy_tensor *x, fy_shape s)
{
    char name[200];
    if (!fy_check(at, 0, x)) return NULL;
    if (s.ndim > FY_MAX_DIMS)
        return fy_fail_about(at, "shape", "fold some dimensions together", 1, &x, "a shape has at most %d dimensions",
                             FY_MAX_DIMS);
    if (!infer(at, x, &s)) return NULL;
    fy_geometry g = fy_geometry_of(x);
    g.shape = s;
    if (!restride(x, &s, g.strides))
        return fy_fail_about(at, "view",
                             fy_hint("lay it out anew first: fy_contiguous(%s)", fy_argument(at, 0, name, sizeof name)),
                             1, &x,
                             "view size is not compatible with input tensor's size and stride (at least one dimension "
                             "spans across two contiguous subspaces). Use .reshape(...) instead.");
    return make_view(at, x, &g);
}

static fy_tensor *swapped(fy_site *at, fy_tensor *x, int64_t a, int64_t b)
{
    fy_geometry g = fy_geometry_of(x);
    if (x->ndim > 0) {
        g.shape.dims[a] = x->shape[b];
        g.shape.dims[b] = x->shape[a];
        g.strides[a] = x->strides[b];
        g.strides[b] = x->strides[a];
    }
    return make_view(at, x, &g);
}

fy_tensor *fy_transpose_at(fy_site *at, fy_tensor *x, int64_t d0, int64_t d1)
{
    if (!fy_check(at, 0, x) || !fy_wrap_dim(at, x, &d0) || !fy_wrap_dim(at, x, &d1)) return NULL;
    return swapped(at, x, d0, d1);
}

fy_tensor *fy_t_at(fy_site *at, fy_tensor *x)
{
    if (!fy_check(at, 0, x)) return NULL;
    if (x->ndim > 2)
        return fy_fail_about(at, "shape", "fy_transpose(x, d0, d1) swaps two dimensions of any tensor", 1, &x,
                             "t() expects a tensor with <= 2 dimensions, but self is %dD", x->ndim);
    return swapped(at, x, 0, x->ndim == 2 ? 1 : 0);
}

static bool has_dims(fy_site *at, fy_tensor *x, const char *call)
{
    if (x->ndim > 0) return true;
    return fy_fail_about(at, "shape", "fy_view(x, (1)) makes it 1-D", 1, &x,
                         "%s() cannot be applied to a 0-dim tensor.", call);
}

fy_tensor *fy_narrow_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t start, int64_t length)
{
    if (!fy_check(at, 0, x) || !has_dims(at, x, "narrow") || !fy_wrap_dim(at, x, &dim)) return NULL;
    int64_t size = x->shape[dim];
    if (length < 0)
        return fy_fail_about(at, "index", "a length is 0 or more", 1, &x, "narrow(): length must be non-negative.");
    if (start < -size || start > size)
        return fy_fail_about(at, "index", "start counts from 0, or from -1 backwards", 1, &x,
                             "start out of range (expected to be in range of [%lld, %lld], but got %lld)",
                             (long long)-size, (long long)size, (long long)start);
    if (start < 0) start += size;
    if (length > size - start)
        return fy_fail_about(at, "index", "start plus length may reach the size, not pass it", 1, &x,
                             "start (%lld) + length (%lld) exceeds dimension size (%lld).", (long long)start,
                             (long long)length, (long long)size);
    fy_geometry g = fy_geometry_of(x);
    g.shape.dims[dim] = length;
    g.offset += start * x->strides[dim];
    return make_view(at, x, &g);
}

fy_tensor *fy_select_at(fy_site *at, fy_tensor *x, int64_t dim, int64_t index)
{
    char text[256];
    if (!fy_check(at, 0, x) || !has_dims(at, x, "select") || !fy_wrap_dim(at, x, &dim)) return NULL;
    int64_t size = x->shape[dim], wrapped = index < 0 ? index + size : index;
    if (wrapped < 0 || wrapped >= size)
        return fy_fail_about(at, "index", "indices count from 0, or from -1 backwards", 1, &x,
                             "select(): index %lld out of range for tensor of size %s at dimension %d",
                             (long long)index, fy_shape_text(x->shape, x->ndim, "[]", text, sizeof text), (int)dim);
    fy_geometry g = fy_geometry_of(x);
    g.offset += wrapped * x->strides[dim];
    g.shape.ndim--;
    for (int i = (int)dim; i < g.shape.ndim; i++) {
        g.shape.dims[i] = x->shape[i + 1];
        g.strides[i] = x->strides[i + 1];
    }
    return make_view(at, x, &g);
}
