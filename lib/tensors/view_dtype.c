/* view_dtype.c: the same bytes viewed as another dtype. If the element size changes, so does the last dimension, and
 * sizes, strides and the offset must be divisible by the ratio. */
#include <stdio.h>

#include "dtype.h"
#include "frame.h"
#include "shape.h"
#include "tensor.h"

typedef struct retyping {
    fy_site *at;
    fy_tensor *x;
    fy_dtype dtype;
} retyping;

/* PyTorch's sentence: "self.size(-1) must be divisible by 2 to view Float as Double (...), but got 3". */
static bool fail(const retyping *r, const char *what, int64_t divisor, int64_t got)
{
    const char *hint = "fy_contiguous makes a row-major copy; to convert the values, use fy_to";
    const char *from = fy_dtype_torch(r->x->dtype), *to = fy_dtype_torch(r->dtype);
    if (divisor == 1)
        return fy_fail_about(r->at, "view", hint, 1, (fy_tensor *[]){r->x},
                             "%s must be 1 to view %s as %s (different element sizes), but got %lld", what, from, to,
                             (long long)got);
    return fy_fail_about(r->at, "view", hint, 1, (fy_tensor *[]){r->x},
                         "%s must be divisible by %lld to view %s as %s (different element sizes), but got %lld", what,
                         (long long)divisor, from, to, (long long)got);
}

/* Each element becomes `ratio` smaller ones. */
static bool split(const retyping *r, int64_t ratio, fy_geometry *g)
{
    int last = g->shape.ndim - 1;
    if (g->strides[last] != 1) return fail(r, "self.stride(-1)", 1, g->strides[last]);
    if (__builtin_mul_overflow(g->shape.dims[last], ratio, &g->shape.dims[last])) {
        char text[256];
        return fy_fail_about(r->at, "view", "use a tensor with fewer elements", 1, (fy_tensor *[]){r->x},
                             "the last size of %s is too large to view %s as %s",
                             fy_shape_text(r->x->shape, r->x->ndim, "[]", text, sizeof text),
                             fy_dtype_torch(r->x->dtype), fy_dtype_torch(r->dtype));
    }
    for (int i = 0; i < last; i++) g->strides[i] = fy_saturating_mul(g->strides[i], ratio);
    g->offset *= ratio;
    return true;
}

/* `ratio` elements become one larger. */
static bool join(const retyping *r, int64_t ratio, fy_geometry *g)
{
    char what[32];
    int last = g->shape.ndim - 1;
    if (g->shape.dims[last] % ratio) return fail(r, "self.size(-1)", ratio, g->shape.dims[last]);
    if (g->offset % ratio) return fail(r, "self.storage_offset()", ratio, g->offset);
    if (g->strides[last] != 1) return fail(r, "self.stride(-1)", 1, g->strides[last]);
    for (int i = 0; i < last; i++) {
        snprintf(what, sizeof what, "self.stride(%d)", i);
        if (g->strides[i] % ratio) return fail(r, what, ratio, g->strides[i]);
        g->strides[i] /= ratio;
    }
    g->shape.dims[last] /= ratio;
    g->offset /= ratio;
    return true;
}

fy_tensor *fy_view_dtype_at(fy_site *at, fy_tensor *x, fy_dtype dtype)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !fy_dtype_ok(at, dtype)) return NULL;
    retyping r = {at, x, dtype};
    fy_geometry g = fy_geometry_of(x);
    int64_t from = x->element_size, to = (int64_t)fy_dtype_size(dtype);
    if (from != to && x->ndim == 0)
        return fy_fail_about(at, "view", "fy_view(x, (1)) makes it 1-D first", 1, &x,
                             "self.dim() cannot be 0 to view %s as %s (different element sizes)",
                             fy_dtype_torch(x->dtype), fy_dtype_torch(dtype));
    if (from > to && !split(&r, from / to, &g)) return NULL;
    if (from < to && !join(&r, to / from, &g)) return NULL;
    if ((uintptr_t)x->storage->data % (size_t)to) /* the program's own memory (fy_from_blob) may be unaligned */
        return fy_fail_about(at, "view", "fy_clone it first: the copy begins at a multiple of 64 bytes", 1, &x,
                             "its memory does not begin at a multiple of %lld bytes, as %s needs", (long long)to,
                             fy_dtype_name(dtype));
    g.dtype = dtype;
    return fy_scope_track(fy_tensor_alias(at, x, &g, fy_name_for(at, NULL))); /* without gradient, as in PyTorch */
}
