/* view.c: views of other shapes. Nothing is copied; only a tensor event is logged. Views that change single dimensions
 * are in permute_expand.c, parts in slice.c, other dtypes in view_dtype.c. */
#include <stdio.h>

#include "error.h"
#include "frame.h"
#include "shape.h"
#include "tensor.h"

fy_tensor *fy_view_named(fy_site *at, fy_tensor *x, const fy_geometry *g, fy_node_kind kind, const fy_shape *dims,
                         const char *name)
{
    fy_tensor *view = fy_tensor_alias(at, x, g, name);
    fy_graph_view(at, x, view, kind, dims);
    return fy_scope_track(view);
}

fy_tensor *fy_view_make(fy_site *at, fy_tensor *x, const fy_geometry *g, fy_node_kind kind, const fy_shape *dims)
{
    return fy_view_named(at, x, g, kind, dims, fy_name_for(at, NULL));
}

/* A 0-dim tensor is treated as 1-D, as in PyTorch. */
bool fy_wrap_dim_of(fy_site *at, fy_tensor *x, int n, int64_t *dim)
{
    if (n == 0) n = 1;
    if (*dim < -n || *dim >= n)
        return fy_fail_about(at, "index", "dimensions are numbered from 0; -1 is the last", 1, &x,
                             "Dimension out of range (expected to be in range of [%d, %d], but got %lld)", -n, n - 1,
                             (long long)*dim);
    if (*dim < 0) *dim += n;
    return true;
}

bool fy_wrap_dim(fy_site *at, fy_tensor *x, int64_t *dim) { return fy_wrap_dim_of(at, x, x->ndim, dim); }

/* ---- the requested shape ---- */

/* *unknown: index of the size that is -1, or -1; *known: product of the other sizes, -1 if it overflows. False after an
 * error. */
static bool read_sizes(fy_site *at, fy_tensor *x, const fy_shape *s, int *unknown, int64_t *known)
{
    bool huge = false, empty = false;
    *unknown = -1;
    *known = 1;
    for (int i = 0; i < s->ndim; i++) {
        int64_t d = s->dims[i];
        if (d < -1)
            return fy_fail_about(at, "shape", "a size is 0 or more; one size may be -1: it is computed from the others",
                                 1, &x, "invalid shape dimension %lld", (long long)d);
        if (d == -1 && *unknown >= 0)
            return fy_fail_about(at, "shape", "leave one -1 and give the other sizes", 1, &x,
                                 "only one dimension can be inferred");
        if (d == -1) *unknown = i;
        else huge |= __builtin_mul_overflow(*known, d, known);
        empty |= d == 0;
    }
    if (empty) *known = 0;
    else if (huge) *known = -1;
    return true;
}

bool fy_shape_infer(fy_site *at, fy_tensor *x, fy_shape *s)
{
    char text[256];
    int unknown;
    int64_t known, numel = fy_tensor_numel(x);
    if (s->ndim > FY_MAX_DIMS)
        return fy_fail_about(at, "shape", "merge some dimensions", 1, &x, "a shape has at most %d dimensions",
                             FY_MAX_DIMS);
    if (!read_sizes(at, x, s, &unknown, &known)) return false;
    bool fits = known == numel || (unknown >= 0 && known > 0 && numel % known == 0);
    if (!fits)
        return fy_fail_about(at, "shape", "the sizes must multiply to the number of elements", 1, &x,
                             "shape '%s' is invalid for input of size %lld",
                             fy_shape_text(s->dims, s->ndim, "[]", text, sizeof text), (long long)numel);
    if (unknown < 0) return true;
    if (known == 0)
        return fy_fail_about(at, "shape", "give every size", 1, &x,
                             "cannot reshape tensor of 0 elements into shape %s because the unspecified dimension size "
                             "-1 can be any value and is ambiguous",
                             fy_shape_text(s->dims, s->ndim, "[]", text, sizeof text));
    s->dims[unknown] = numel / known;
    return true;
}

/* ---- its strides ---- */

/* x's dimensions form runs that are contiguous in memory; the sizes of s must divide each run separately. */
bool fy_restride(const fy_tensor *x, const fy_shape *s, int64_t *strides)
{
    int64_t base = x->ndim ? x->strides[x->ndim - 1] : 1, run = 1, filled = 1;
    int to = s->ndim - 1;
    if (fy_tensor_numel(x) == 0) {
        bool same = s->ndim == x->ndim && memcmp(s->dims, x->shape, (size_t)s->ndim * sizeof *s->dims) == 0;
        if (same) memcpy(strides, x->strides, sizeof x->strides);
        else fy_shape_rows(s, strides);
        return true;
    }
    for (int i = x->ndim - 1; i >= 0; i--) {
        run *= x->shape[i];
        bool ends = i == 0 || (x->shape[i - 1] != 1 && x->strides[i - 1] != run * base);
        if (!ends) continue;
        for (; to >= 0 && (filled < run || s->dims[to] == 1); to--) {
            strides[to] = filled * base;
            filled *= s->dims[to];
        }
        if (filled != run) return false;
        if (i > 0) base = x->strides[i - 1];
        run = filled = 1;
    }
    for (; to >= 0; to--) strides[to] = 1; /* a 0-dim tensor viewed with sizes of 1 */
    return true;
}

/* ---- public calls ---- */

fy_tensor *fy_view_at(fy_site *at, fy_tensor *x, fy_shape s)
{
    FY_CALL(at);
    char name[200];
    if (!fy_check(at, 0, x) || !fy_shape_infer(at, x, &s)) return NULL;
    fy_geometry g = fy_geometry_of(x);
    g.shape = s;
    if (fy_restride(x, &s, g.strides)) return fy_view_make(at, x, &g, FY_NODE_RESHAPE, &s);
    fy_argument(at, 0, name, sizeof name);
    return fy_fail_about(at, "view", fy_hint("make it contiguous first: fy_contiguous(%s), or fy_reshape", name), 1, &x,
                         "view size is not compatible with input tensor's size and stride (at least one dimension "
                         "spans across two contiguous subspaces). Use .reshape(...) instead.");
}

fy_tensor *fy_detach_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    fy_geometry g = fy_geometry_of(x);
    return fy_scope_track(fy_tensor_alias(at, x, &g, fy_name_for(at, NULL)));
}
