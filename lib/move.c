/* move.c: bytes from one memory to another, and what the log says of it. The only caller of a back
 * end's copy, and the only emitter of copy, host_read, host_write and values.
 *
 * A crossing moves a tensor's elements in one piece. So a tensor with holes (a narrowed view) is made
 * compact first, by a clone where it lives; a change of dtype is made on the CPU, before the elements
 * leave it or after they have arrived, as PyTorch's blocking copies do. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tensor.h"

static bool is_host(const fy_dev *d) { return d->number == 0; }

static void *data_of(const fy_tensor *x)
{
    return (char *)x->storage->data + x->offset * (int64_t)fy_dtype_size(x->dtype);
}

static size_t bytes_of(const fy_tensor *x) { return (size_t)fy_numel(x) * fy_dtype_size(x->dtype); }

/* ---- events ---- */

static fy_side side_of(const fy_tensor *x)
{
    const fy_storage *s = x->storage;
    return (fy_side){.addr = s->addr ? s->addr + (uint64_t)x->offset * fy_dtype_size(x->dtype) : 0,
                     .tensor = x->id,
                     .storage = s->id,
                     .version = s->version,
                     .device = (uint8_t)s->dev->number,
                     .mem = (uint8_t)s->mem};
}

/* Memory of Ferry's own, where an item or a print goes. */
static const fy_side nowhere = {.device = 0, .mem = FY_WORD_pageable};

/* The wait for the card's earlier work, and the rest: a copy's `held` and its sync's add up to the whole. */
static int64_t waited(const fy_dev *card, const fy_copy_work *w, int64_t before)
{
    int64_t n = w->time.start - before - (card->card ? card->card->call_overhead : 0);
    return n < 0 ? 0 : n < w->time.held ? n : w->time.held;
}

static void emit_copy(fy_site *at, const fy_dev *card, const fy_copy_work *w, fy_side src, fy_side dst, fy_word why,
                      int64_t before)
{
    if (!fy_log_is_on()) return;
    bool home = w->dir == FY_WORD_d2h;
    uint32_t id = fy_work_id();
    int64_t wait = home ? waited(card, w, before) : 0;
    uint64_t seq = FY_EMIT(at, copy, .id = id, .src = src, .dst = dst, .bytes = (int64_t)w->bytes,
                           .dir = (uint8_t)w->dir, .stream = 0, .async = w->async, .was_async = w->was_async,
                           .route = (uint8_t)w->route, .why = (uint8_t)why, .held = w->time.held - wait);
    FY_EMIT(at, complete, .id = id, .start = w->time.start, .end = w->time.end,
            .engine = w->dir == FY_WORD_d2d ? FY_WORD_compute : (uint8_t)w->dir, .wire = w->time.wire,
            .staging = w->time.staging, .overhead = w->time.overhead);
    if (home)
        FY_EMIT(at, sync, .scope = FY_WORD_copy, .device = (uint8_t)card->number, .stream = 0,
                .why = why == FY_WORD_user ? FY_WORD_copy : (uint8_t)why, .cause = seq + 1, .held = wait);
}

void fy_emit_read(fy_site *at, const fy_tensor *x, fy_word via)
{
    FY_EMIT(at, host_read, .tensor = x->id, .storage = x->storage->id, .version = x->storage->version, .first = 0,
            .count = fy_numel(x), .via = (uint8_t)via);
}

void fy_emit_write(fy_site *at, const fy_tensor *x, fy_word via)
{
    x->storage->version++;
    FY_EMIT(at, host_write, .tensor = x->id, .storage = x->storage->id, .version = x->storage->version, .first = 0,
            .count = fy_numel(x), .via = (uint8_t)via);
}


void fy_emit_values(fy_site *at, const fy_tensor *x, const void *home, int64_t limit)
{
    int64_t n = fy_numel(x), shown = n < limit ? n : limit, nans = 0;
    double low = INFINITY, high = -INFINITY, total = 0;
    double *data = fy_log_is_on() ? malloc((size_t)(shown > 0 ? shown : 1) * sizeof *data) : NULL;
    if (!data) return;
    for (int64_t i = 0; i < n; i++) {
        double v = fy_real_at(x->dtype, home, i);
        if (i < shown) data[i] = v;
        if (isnan(v)) {
            nans++;
            continue;
        }
        low = v < low ? v : low;
        high = v > high ? v : high;
        total += v;
    }
    bool none = n == nans; /* nothing to be the smallest of */
    FY_EMIT(at, values, .tensor = x->id, .version = x->storage->version, .first = 0,
            .data = fy_ref_bytes(data, (size_t)shown * sizeof *data), .count = n, .min = none ? NAN : low,
            .max = none ? NAN : high, .mean = none ? NAN : total / (double)(n - nans), .nan = nans);
    free(data);
}

/* ---- crossing ---- */

static fy_dev *card_of(const fy_tensor *src, fy_dev *to) { return is_host(to) ? src->storage->dev : to; }

static fy_word direction(const fy_dev *from, const fy_dev *to)
{
    if (is_host(from)) return is_host(to) ? FY_WORD_h2h : FY_WORD_h2d;
    return is_host(to) ? FY_WORD_d2h : from == to ? FY_WORD_d2d : FY_WORD_p2p;
}

static void *fail_copy(fy_site *at, const fy_dev *d)
{
    return fy_fail(at, "device", "run it again with FERRY_GPU=sim to see whether the card is at fault",
                   "%s could not copy: %s", d->name, d->fault);
}

/* A dense tensor's elements into storage s, which is reserved and becomes a tensor of the same layout. */
static fy_tensor *cross(fy_site *at, fy_tensor *x, fy_storage *s, const char *name)
{
    fy_geometry g = fy_geometry_of(x);
    fy_dev *card = card_of(x, s->dev);
    g.offset = 0;
    fy_storage_announce(at, s);
    fy_tensor *out = fy_tensor_make(at, s, &g, name, 0);
    fy_copy_work w = {
        .dst = s->data, .src = data_of(x), .bytes = bytes_of(x), .dir = direction(x->storage->dev, s->dev)};
    int64_t before = fy_clock_now();
    if (w.bytes == 0) return out;
    if (!card->backend->copy(card, &w)) {
        fy_tensor_drop(at, out, FY_WORD_free);
        return fail_copy(at, card);
    }
    s->version++;
    emit_copy(at, card, &w, side_of(x), side_of(out), FY_WORD_user, before);
    return out;
}

static fy_tensor *convert(fy_site *at, fy_tensor *x, fy_dtype dtype, const char *name)
{
    return fy_dispatch(&(fy_call){.at = at, .op = FY_OP_cast, .in = {fy_arg_tensor(x)}, .dtype = dtype, .name = name});
}

static fy_tensor *clone(fy_site *at, fy_tensor *x, const char *name)
{
    return fy_dispatch(&(fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .name = name});
}

/* x ready to leave: of the dtype in which it crosses, and without holes. One more reference to x if it
 * is that already. */
static fy_tensor *ready_to_leave(fy_site *at, fy_tensor *x, fy_dtype dtype)
{
    fy_geometry g = fy_geometry_of(x);
    if (is_host(x->storage->dev) && x->dtype != dtype) return convert(at, x, dtype, NULL);
    return fy_is_dense(&g) ? fy_tensor_again(x) : clone(at, x, NULL);
}

/* The destination is reserved first: when it is full, nothing has happened. */
static fy_tensor *across(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const char *name)
{
    bool last = is_host(x->storage->dev) || x->dtype == dtype; /* is the crossing the last step? */
    fy_storage *s = fy_storage_reserve(at, to, (size_t)fy_numel(x) * fy_dtype_size(last ? dtype : x->dtype));
    if (!s) return NULL;
    fy_tensor *leaving = ready_to_leave(at, x, dtype);
    if (!leaving) {
        fy_storage_cancel(s);
        return NULL;
    }
    fy_tensor *out = cross(at, leaving, s, last ? name : NULL);
    fy_tensor_drop(at, leaving, FY_WORD_free);
    if (!out || last) return out;
    fy_tensor *converted = convert(at, out, dtype, name);
    fy_tensor_drop(at, out, FY_WORD_free);
    return converted;
}

fy_tensor *fy_move(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const char *name)
{
    if (x->storage->dev != to) return across(at, x, to, dtype, name);
    return x->dtype != dtype ? convert(at, x, dtype, name) : clone(at, x, name);
}

/* ---- the calls ---- */

/* Where x goes; false after an error. */
static bool target_of(fy_site *at, const fy_tensor *x, const fy_target *t, fy_dtype option, fy_dev **to,
                      fy_dtype *dtype)
{
    *to = x->storage->dev;
    *dtype = x->dtype;
    if (t->is_like) {
        if (!fy_check(at, 1, t->like)) return false;
        *to = t->like->storage->dev;
        *dtype = t->like->dtype;
    } else if (t->dtype != FY_DTYPE_UNSET) {
        *dtype = t->dtype;
    } else if (!t->device) {
        return fy_fail(at, "device", "name a device, as \"cuda\", or a dtype, as FY_INT64",
                       "Device string must not be empty (it is NULL, or a dtype that is 0)");
    } else {
        *to = fy_dev_parse(at, t->device);
    }
    if (option != FY_DTYPE_UNSET) *dtype = option;
    return *to && fy_dtype_ok(at, *dtype);
}

fy_tensor *fy_to_at(fy_site *at, fy_tensor *x, fy_target target, fy_to_opts o)
{
    fy_dev *to;
    fy_dtype dtype;
    fy_session_start();
    if (!fy_check(at, 0, x) || !target_of(at, x, &target, o.dtype, &to, &dtype)) return NULL;
    bool same = to == x->storage->dev && dtype == x->dtype;
    if (same && !o.copy) return fy_hand_out(fy_tensor_again(x));
    fy_tensor *out = fy_move(at, x, to, dtype, fy_name_for(at, NULL));
    if (is_host(to) && !same) fy_narrate_flush();
    return fy_hand_out(out);
}

fy_tensor *fy_cuda_at(fy_site *at, fy_tensor *x, int device) { (void)device; return fy_to_at(at, x, fy_target_device("cuda"), (fy_to_opts){0}); }
fy_tensor *fy_cpu_at(fy_site *at, fy_tensor *x) { return fy_to_at(at, x, fy_target_device("cpu"), (fy_to_opts){0}); }

/* ---- looking from the host ---- */

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

/* Elements from the first of a view to its last, holes and all. */
static int64_t span_of(const fy_geometry *g)
{
    int64_t last = 0;
    for (int d = 0; d < g->shape.ndim; d++) last += (g->shape.dims[d] - 1) * g->strides[d];
    return fy_shape_numel(&g->shape) ? last + 1 : 0;
}

/* Copy what x spans to the host, and say so unless nobody asked. */
static bool fetch(fy_site *at, fy_tensor *x, void *to, size_t bytes, fy_word why)
{
    fy_dev *card = x->storage->dev;
    fy_copy_work w = {.dst = to, .src = data_of(x), .bytes = bytes, .dir = FY_WORD_d2h};
    int64_t before = fy_clock_now();
    if (bytes == 0) return true;
    if (!card->backend->copy(card, &w)) return fail_copy(at, card);
    if (why != FY_WORD_answer) emit_copy(at, card, &w, side_of(x), nowhere, why, before);
    return true;
}

static void *rows_of(fy_site *at, fy_tensor *x, fy_word why)
{
    fy_geometry g = fy_geometry_of(x);
    bool host = is_host(x->storage->dev);
    size_t span = (size_t)span_of(&g) * fy_dtype_size(x->dtype);
    char *rows = malloc(bytes_of(x) + 1), *block = host ? NULL : malloc(span + 1);
    if (!rows || (!host && !block)) {
        fy_fail_about(at, "oom", "look at a part of it: fy_narrow", 1, &x, "no memory for a copy of it on the host");
    } else if (host || fetch(at, x, block, span, why)) {
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
    fy_tensor *compact = clone(at, x, NULL);
    void *rows = compact ? rows_of(at, compact, why) : NULL;
    fy_tensor_drop(at, compact, FY_WORD_free);
    return rows;
}
