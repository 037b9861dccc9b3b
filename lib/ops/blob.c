/* blob.c: tensors over memory of the program's own. Nothing is copied; when the last tensor that looks at
 * the memory is gone, the program is told once. A call that fails tells nothing: the memory stays as it was. */
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

static bool fail_stride(fy_site *at, int dim, int64_t stride)
{
    return fy_fail(at, "value", "copy it into the usual order first",
                   "At least one stride in the given array is negative, and tensors with negative strides are not "
                   "currently supported (stride %lld of dimension %d)",
                   (long long)stride, dim);
}

/* Strides as told, or row-major; false after an error. */
static bool set_strides(fy_site *at, const fy_shape *told, fy_geometry *g)
{
    fy_shape_rows(&g->shape, g->strides);
    if (told->ndim == 0) return true;
    if (told->ndim != g->shape.ndim)
        return fy_fail(at, "shape", "one stride a dimension: FY_STRIDES(3, 1)",
                       "mismatch in length of strides and shape: %d strides for %d dimensions", told->ndim,
                       g->shape.ndim);
    for (int i = 0; i < told->ndim; i++) {
        if (told->dims[i] < 0) return fail_stride(at, i, told->dims[i]);
        g->strides[i] = told->dims[i];
    }
    return true;
}

/* Bytes from the first element to the end of the last; false where there is no number for them. */
static bool span(const fy_geometry *g, size_t *bytes)
{
    int64_t last = 0, step, size = (int64_t)fy_dtype_size(g->dtype);
    *bytes = 0;
    if (fy_shape_numel(&g->shape) == 0) return true;
    for (int i = 0; i < g->shape.ndim; i++) {
        if (__builtin_mul_overflow(g->shape.dims[i] - 1, g->strides[i], &step)) return false;
        if (__builtin_add_overflow(last, step, &last)) return false;
    }
    if (__builtin_mul_overflow(last, size, &last) || __builtin_add_overflow(last, size, &last)) return false;
    *bytes = (size_t)last;
    return true;
}

static bool check_data(fy_site *at, const void *data, size_t bytes, fy_dtype dtype)
{
    size_t size = fy_dtype_size(dtype);
    if (bytes > 0 && !data)
        return fy_fail(at, "value", "give it memory of that size", "the data is NULL, but the shape asks for %zu bytes",
                       bytes);
    if ((uintptr_t)data % size == 0 || bytes == 0) return true;
    return fy_fail(at, "value", "memory from malloc, or an array of the C type, begins where it must",
                   "the data does not begin at a multiple of %zu bytes, as %s needs", size, fy_dtype_name(dtype));
}

fy_tensor *fy_from_blob_at(fy_site *at, void *data, fy_shape shape, fy_blob_opts o)
{
    int64_t numel;
    size_t bytes;
    fy_geometry g = {.dtype = o.dtype == FY_DTYPE_UNSET ? FY_FLOAT32 : o.dtype, .shape = shape};
    fy_session_start();
    if (!fy_dtype_ok(at, g.dtype) || !fy_shape_ok(at, &shape, g.dtype, &numel)) return NULL;
    if (!set_strides(at, &o.strides, &g)) return NULL;
    if (!span(&g, &bytes))
        return fy_fail(at, "shape", "smaller strides", "the strides reach further than there are addresses");
    if (!check_data(at, data, bytes, g.dtype)) return NULL;
    fy_storage *s = fy_storage_foreign(at, data, bytes, o.deleter, o.context);
    if (!s) return NULL;
    fy_storage_announce(at, s);
    fy_tensor *x = fy_tensor_make(at, s, &g, fy_name_for(at, o.name), 0);
    fy_emit_write(at, x, FY_WORD_blob);
    return fy_scope_track(x);
}
