/* reshape.c: fy_reshape and fy_flatten: a view if possible, else a copy. */
#include <string.h>

#include "dispatch.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"

static fy_tensor *reshape(fy_site *at, fy_tensor *x, const fy_shape *s)
{
    fy_geometry g = fy_geometry_of(x);
    g.shape = *s;
    if (fy_restride(x, s, g.strides)) return fy_view_make(at, x, &g, FY_NODE_RESHAPE, s);

    /* The strides permit no view: a row-major copy. */
    fy_call c = {.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .row_major = true};
    fy_tensor *rows = fy_dispatch(&c);
    if (!rows) return NULL;
    g = fy_geometry_of(rows);
    g.shape = *s;
    fy_shape_rows(s, g.strides);
    fy_tensor *out = fy_node_call(fy_view_make(at, rows, &g, FY_NODE_RESHAPE, s), "UnsafeViewBackward0");
    fy_tensor_release(at, rows, FY_WORD_free);
    return out;
}

fy_tensor *fy_reshape_at(fy_site *at, fy_tensor *x, fy_shape s)
{
    FY_CALL(at);
    return fy_check(at, 0, x) && fy_shape_infer(at, x, &s) ? reshape(at, x, &s) : NULL;
}

fy_tensor *fy_flatten_at(fy_site *at, fy_tensor *x, int64_t first, int64_t last)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !fy_wrap_dim(at, x, &first) || !fy_wrap_dim(at, x, &last)) return NULL;
    if (first > last)
        return fy_fail_about(at, "index", "swap start and end", 1, &x,
                             "flatten() has invalid args: start_dim cannot come after end_dim");
    if (x->ndim == 0) return reshape(at, x, &(fy_shape){1, {1}});
    if (first == last) return fy_scope_track(fy_tensor_retain(x));
    fy_shape s = {(int)(x->ndim - (last - first)), {0}}, folded = {(int)(last - first + 1), {0}};
    memcpy(folded.dims, x->shape + first, (size_t)folded.ndim * sizeof *s.dims);
    memcpy(s.dims, x->shape, (size_t)first * sizeof *s.dims);
    if (!fy_shape_ok(at, &folded, FY_UINT8, &s.dims[first])) return NULL; /* can overflow if another size is 0 */
    memcpy(s.dims + first + 1, x->shape + last + 1, (size_t)(x->ndim - 1 - last) * sizeof *s.dims);
    return reshape(at, x, &s);
}
