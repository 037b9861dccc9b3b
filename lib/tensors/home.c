/* home.c: looking at a tensor from the host: its elements brought home in rows, and what the log says of
 * reads, writes and values. The only emitter of host_read, host_write and values. */
#include <math.h>
#include <stdlib.h>

#include "hazard.h"
#include "tensor.h"

static bool is_host(const fy_dev *d) { return d->number == 0; }

static void *data_of(const fy_tensor *x)
{
    return (char *)x->storage->data + x->offset * (int64_t)fy_dtype_size(x->dtype);
}

static size_t bytes_of(const fy_tensor *x) { return (size_t)fy_numel(x) * fy_dtype_size(x->dtype); }

/* ---- events ---- */

/* What was brought home from a card was judged as a copy; an answer was not. */
void fy_emit_read(fy_site *at, const fy_tensor *x, fy_word via)
{
    uint64_t seq = FY_EMIT(at, host_read, .tensor = x->id, .storage = x->storage->id, .version = x->storage->version,
                           .first = 0, .count = fy_numel(x), .via = (uint8_t)via);
    if (is_host(x->storage->dev) || via == FY_WORD_answer) fy_host_access(at, x, false, seq);
}

void fy_emit_write(fy_site *at, const fy_tensor *x, fy_word via)
{
    x->storage->version++;
    uint64_t seq = FY_EMIT(at, host_write, .tensor = x->id, .storage = x->storage->id, .version = x->storage->version,
                           .first = 0, .count = fy_numel(x), .via = (uint8_t)via);
    fy_host_access(at, x, true, seq);
}

void fy_emit_values(fy_site *at, const fy_tensor *x, const void *home, int64_t limit)
{
    int64_t n = fy_numel(x), shown = n < limit ? n : limit, nans = 0;
    double low = INFINITY, high = -INFINITY, total = 0;
    fy_ref first;
    if (!fy_log_is_on()) return;
    double *data = fy_ref_room((size_t)shown * sizeof *data, &first);
    for (int64_t i = 0; i < n; i++) {
        double v = fy_real_at(x->dtype, home, i);
        if (data && i < shown) data[i] = v;
        if (isnan(v)) {
            nans++;
            continue;
        }
        low = v < low ? v : low;
        high = v > high ? v : high;
        total += v;
    }
    bool none = n == nans; /* nothing to be the smallest of */
    FY_EMIT(at, values, .tensor = x->id, .version = x->storage->version, .first = 0, .data = first, .count = n,
            .min = none ? NAN : low, .max = none ? NAN : high, .mean = none ? NAN : total / (double)(n - nans),
            .nan = nans);
}

/* ---- bringing home ---- */

/* Elements at base, laid out as g says, into rows. */
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
    size_t span = (size_t)fy_span(&g) * fy_dtype_size(x->dtype);
    char *rows = malloc(bytes_of(x) + 1), *block = host ? NULL : malloc(span + 1);
    if (!rows || (!host && !block)) {
        fy_fail_about(at, "oom", "look at a part of it: fy_narrow", 1, &x, "no memory for a copy of it on the host");
    } else if (host || fy_fetch(at, x, block, span, why)) {
        gather(&g, host ? data_of(x) : block, rows);
        free(block);
        return rows;
    }
    free(rows);
    free(block);
    return NULL;
}

void *fy_bring_home(fy_site *at, fy_tensor *x, fy_word why)
{
    fy_geometry g = fy_geometry_of(x);
    if (why == FY_WORD_answer || is_host(x->storage->dev) || fy_is_dense(&g)) return rows_of(at, x, why);
    fy_tensor *compact = fy_compact(at, x);
    void *rows = compact ? rows_of(at, compact, why) : NULL;
    fy_tensor_drop(at, compact, FY_WORD_free);
    return rows;
}
