/* blob.c: tensors over memory that the caller owns. Nothing is copied. The deleter runs once, when the last tensor that
 * uses the memory is freed; a call that fails never runs it. Memory that cannot be written (a constant, a file mapped
 * to be read) may be read through a tensor. */
#include <inttypes.h>
#include <stdio.h>

#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

/* As given, or row-major; false after an error. */
static bool set_strides(fy_site *at, const fy_shape *given, fy_geometry *g)
{
    fy_shape_rows(&g->shape, g->strides);
    if (given->ndim == 0) return true;
    if (given->ndim != g->shape.ndim)
        return fy_fail(at, "shape", "give one stride per dimension: FY_STRIDES(3, 1)",
                       "mismatch in length of strides and shape: %d strides for %d dimensions", given->ndim,
                       g->shape.ndim);
    for (int i = 0; i < given->ndim; i++) {
        if (given->dims[i] < 0)
            return fy_fail(at, "value", "copy the data in row-major order first",
                           "At least one stride in the given array is negative, and tensors with negative strides are "
                           "not currently supported (stride %lld of dimension %d)",
                           (long long)given->dims[i], i);
        g->strides[i] = given->dims[i];
    }
    return true;
}

/* Bytes from the first element to the end of the last; false on overflow. */
static bool byte_span(const fy_geometry *g, size_t *bytes)
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

fy_tensor *fy_from_blob_at(fy_site *at, void *data, fy_shape shape, fy_blob_opts o)
{
    FY_CALL(at);
    int64_t numel;
    size_t bytes;
    fy_geometry g = {.dtype = o.dtype == FY_DTYPE_UNSET ? FY_FLOAT32 : o.dtype, .shape = shape};
    fy_session_start();
    if (!fy_dtype_ok(at, g.dtype) || !fy_shape_ok(at, &shape, g.dtype, &numel)) return NULL;
    if (!set_strides(at, &o.strides, &g)) return NULL;
    if (!byte_span(&g, &bytes))
        return fy_fail(at, "shape", "use smaller strides", "the strides reach past the end of the address space");
    if (bytes > 0 && !data)
        return fy_fail(at, "value", "pass memory of that size", "the data is NULL, but the shape needs %zu bytes",
                       bytes);
    if (bytes > 0 && (uintptr_t)data % fy_dtype_size(g.dtype) != 0)
        return fy_fail(at, "value", "use memory from malloc, or an array of the C type: both are aligned",
                       "the data is not aligned to %zu bytes, as %s requires", fy_dtype_size(g.dtype),
                       fy_dtype_name(g.dtype));

    fy_storage *s = fy_storage_foreign(at, data, bytes, o.deleter, o.context);
    if (!s) return NULL;
    fy_storage_announce(at, s);
    fy_tensor *x = fy_tensor_make(at, s, &g, fy_name_for(at, o.name), 0, false);
    fy_emit_write(at, x, FY_WORD_blob);
    return fy_scope_track(x);
}

/* May all of it be written? By the kernel's list of mappings; without that, yes. */
static bool is_writable(const fy_storage *s)
{
    char line[512], flags[8];
    uintptr_t from, to, first = (uintptr_t)s->data, end = first + s->bytes;
    bool writable = true;
    FILE *maps = fopen("/proc/self/maps", "re");
    while (maps && writable && fgets(line, sizeof line, maps))
        if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s", &from, &to, flags) == 3 && from < end && first < to)
            writable = flags[1] == 'w';
    if (maps) fclose(maps);
    return writable;
}

bool fy_blob_check_written(fy_site *at, fy_tensor *out)
{
    fy_storage *s = out->storage;
    if (s->mem != FY_WORD_foreign || s->writable || !s->bytes) return true;
    bool writable = is_writable(s);
    s->writable = writable;
    if (writable) return true;
    return fy_fail_about(at, "memory", "fy_clone gives it memory of its own", 1, &out,
                         "the memory given to fy_from_blob is read-only: the program may not write it");
}
