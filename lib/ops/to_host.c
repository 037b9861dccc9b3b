/* to_host.c: reading tensors on the host in row-major order, and the events of host reads, writes and values. The only
 * emitter of host_read and host_write. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "contents.h"
#include "device.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "session_hooks.h"
#include "shape.h"
#include "site.h"
#include "storage.h"
#include "tensor.h"
#include "tensor_access.h"
#include "transfer.h"

static bool is_host(const fy_dev *d) { return d->number == 0; }

/* ---- events ---- */

/* A read back from a GPU was checked for races as a copy; an answer never was. */
void fy_emit_read(fy_site *at, const fy_tensor *x, fy_word via)
{
    uint64_t seq =
        FY_EMIT(at, host_read, .tensor = x->id, .storage = x->storage->id, .version = fy_storage_version(x->storage),
                .first = 0, .count = fy_tensor_numel(x), .via = (uint8_t)via);
    if (is_host(x->storage->dev) || via == FY_WORD_answer) fy_host_access_tensor(at, x, false, seq);
}

void fy_emit_write(fy_site *at, const fy_tensor *x, fy_word via)
{
    uint32_t version = fy_storage_written(x->storage);
    uint64_t seq = FY_EMIT(at, host_write, .tensor = x->id, .storage = x->storage->id, .version = version, .first = 0,
                           .count = fy_tensor_numel(x), .via = (uint8_t)via);
    fy_host_access_tensor(at, x, true, seq);
    /* An input's are always logged, and foreign memory may not be readable yet. */
    if (via == FY_WORD_given || via == FY_WORD_blob || !fy_results_are_logged) return;
    fy_contents written = fy_contents_of(at, x, version);
    fy_result_emit(&written, 0);
}

fy_contents fy_contents_of(fy_site *at, const fy_tensor *x, uint32_t version)
{
    fy_geometry g = fy_geometry_of(x);
    return (fy_contents){.belongs = fy_belonging_here(at, 0),
                         .tensor = x->id,
                         .version = version,
                         .dtype = x->dtype,
                         .data = fy_first_element(x),
                         .layout = fy_layout_of(&g)};
}

void fy_emit_values(fy_site *at, const fy_tensor *x, const void *elements, int64_t limit)
{
    fy_contents seen = fy_contents_of(at, x, fy_storage_version(x->storage));
    fy_geometry g = fy_geometry_of(x);
    fy_shape_rows(&g.shape, seen.layout.strides);
    seen.data = elements;
    fy_contents_emit(&seen, 0, limit, INT64_MAX);
}

/* ---- copying to the host ---------- */

/* Copies the elements at base, with g's strides, in row-major order. */
static void gather(const fy_geometry *g, const char *base, char *rows)
{
    int64_t n = fy_shape_numel(&g->shape), at[FY_MAX_DIMS] = {0};
    size_t size = fy_dtype_size(g->dtype);
    for (int64_t i = 0, from = 0; i < n; i++, rows += size) {
        memcpy(rows, base + from * (int64_t)size, size);
        for (int d = g->shape.ndim - 1; d >= 0; d--) {
            from += g->strides[d];
            if (++at[d] < g->shape.dims[d]) break;
            from -= g->strides[d] * g->shape.dims[d];
            at[d] = 0;
        }
    }
}

static void *rows_of(fy_site *at, fy_tensor *x, fy_word why)
{
    fy_geometry g = fy_geometry_of(x);
    bool host = is_host(x->storage->dev);
    size_t span = (size_t)fy_span(&g) * x->element_size;
    char *rows = malloc((size_t)fy_tensor_numel(x) * x->element_size + 1), *block = host ? NULL : malloc(span + 1);
    if (!rows || (!host && !block)) {
        fy_fail_about(at, "oom", "read a part of it: fy_narrow", 1, &x, "out of host memory for a copy of it");
    } else if (host || fy_fetch(at, x, block, span, why)) {
        gather(&g, host ? fy_first_element(x) : block, rows);
        free(block);
        return rows;
    }
    free(rows);
    free(block);
    return NULL;
}

void *fy_copy_to_host(fy_site *at, fy_tensor *x, fy_word why)
{
    fy_geometry g = fy_geometry_of(x);
    if (why == FY_WORD_answer || is_host(x->storage->dev) || fy_is_dense(&g)) return rows_of(at, x, why);
    fy_tensor *compact = fy_compact(at, x);
    void *rows = compact ? rows_of(at, compact, why) : NULL;
    fy_tensor_release(at, compact, FY_WORD_free);
    return rows;
}

/* ---- single values, and the data pointer ---- */

bool fy_take_number(fy_site *at, fy_tensor *x, fy_arg *number)
{
    void *data = fy_copy_to_host(at, x, FY_WORD_item);
    if (!data) return false;
    *number = fy_number_at(x->dtype, data, 0);
    free(data);
    return true;
}

bool fy_take_item(fy_site *at, fy_tensor *x, fy_arg *value)
{
    if (fy_tensor_numel(x) != 1)
        return fy_fail_about(at, "shape", "fy_sum, or fy_select until one element is left", 1, &x,
                             "a Tensor with %lld elements cannot be converted to Scalar",
                             (long long)fy_tensor_numel(x));
    void *data = fy_copy_to_host(at, x, FY_WORD_item);
    if (!data) return false;
    *value = fy_number_at(x->dtype, data, 0);
    fy_emit_read(at, x, FY_WORD_item);
    fy_emit_values(at, x, data, 1);
    free(data);
    fy_narrate_flush();
    return true;
}

double fy_item_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_arg value;
    if (!fy_check(at, 0, x) || !fy_take_item(at, x, &value)) return NAN;
    /* A double is exact up to 2^53 and for some larger integers. */
    bool exact = !value.is_int || (value.real != 0x1p63 && (int64_t)value.real == value.integer);
    if (!exact)
        fy_advise(at, "a double holds %.0f instead of %lld\n  fix: int64_t n = fy_item_int(%s);", value.real,
                  (long long)value.integer, at->args);
    return value.real;
}

int64_t fy_item_int_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_arg value;
    char name[200];
    if (!fy_check(at, 0, x)) return 0;
    if (fy_dtype_is_real(x->dtype)) {
        fy_argument(at, 0, name, sizeof name);
        fy_fail_about(at, "dtype",
                      fy_hint("fy_item(%s) returns a float; fy_item_int(fy_to(%s, FY_INT64)) truncates it", name, name),
                      1, &x, "fy_item_int takes integers and bool, not %s", fy_dtype_name(x->dtype));
        return 0;
    }
    return fy_take_item(at, x, &value) ? value.integer : 0;
}

/* The program can read and write through the pointer unobserved, so the log notes that it was handed out. Not for GPU
 * memory, which the host cannot access. */
void *fy_data_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !x->storage->data) return NULL;
    if (x->storage->dev->number == 0) fy_emit_read(at, x, FY_WORD_data);
    return fy_first_element(x);
}
