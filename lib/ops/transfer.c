/* transfer.c: bytes from one memory to another, and what the log says of it. The only caller of a back end's
 * copy, and the only emitter of copy. What crosses is one piece: move.c and to_host.c see to that. */
#include "transfer.h"

#include "clock.h"
#include "completion.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "launch_record.h"
#include "race_detector.h"
#include "storage.h"
#include "stream.h"
#include "tensor.h"
#include "tensor_access.h"
#include "vector_clock.h"

static bool is_host(const fy_dev *d) { return d->number == 0; }

static size_t bytes_of(const fy_tensor *x) { return (size_t)fy_numel(x) * fy_dtype_size(x->dtype); }

static fy_side side_of(const fy_tensor *x)
{
    const fy_storage *s = x->storage;
    return (fy_side){.addr = s->addr ? s->addr + (uint64_t)x->offset * fy_dtype_size(x->dtype) : 0,
                     .tensor = x->id,
                     .storage = s->id,
                     .version = fy_storage_version(s),
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

static uint64_t emit_copy(fy_site *at, fy_dev *card, const fy_copy_work *w, fy_side src, fy_side dst,
                          const fy_crossing *how, int64_t before)
{
    if (!fy_log_is_on()) return 0;
    bool home = w->dir == FY_WORD_d2h;
    int64_t wait = home && !w->was_async ? waited(card, w, before) : 0;
    uint64_t seq =
        FY_EMIT(at, copy, .id = w->id, .src = src, .dst = dst, .bytes = (int64_t)w->bytes, .dir = (uint8_t)w->dir,
                .stream = w->stream, .async = w->async, .was_async = w->was_async, .route = (uint8_t)w->route,
                .cast = (uint8_t)how->cast, .why = (uint8_t)how->why, .held = w->time.held - wait);
    fy_work_ended(at, &(fy_ended){.dev = card,
                                  .stream = w->stream,
                                  .id = w->id,
                                  .engine = w->dir == FY_WORD_d2d ? FY_WORD_compute : w->dir,
                                  .is_copy = true,
                                  .time = w->time});
    if (home && !w->was_async)
        FY_EMIT(at, sync, .scope = FY_WORD_copy, .device = (uint8_t)card->number, .stream = w->stream,
                .why = how->why == FY_WORD_user ? FY_WORD_copy : (uint8_t)how->why, .cause = seq + 1, .held = wait);
    return seq;
}

static fy_word direction(const fy_dev *from, const fy_dev *to)
{
    if (is_host(from)) return is_host(to) ? FY_WORD_h2h : FY_WORD_h2d;
    return is_host(to) ? FY_WORD_d2h : from == to ? FY_WORD_d2d : FY_WORD_p2p;
}

/* Is the host's side of the way page-locked? Between cards there is none. */
static bool is_pinned_way(const fy_storage *src, const fy_storage *dst)
{
    return src->mem == FY_WORD_pinned || dst->mem == FY_WORD_pinned;
}

/* Pageable memory is staged by the host; page-locked memory is read and written by the card, in the stream's order. */
static int agent_of(const fy_tensor *x, const fy_dev *card, int stream)
{
    const fy_storage *s = x->storage;
    if (!is_host(s->dev)) return fy_agent_of(s->dev, stream);
    return s->mem == FY_WORD_pinned ? fy_agent_of(card, stream) : FY_HOST;
}

/* Has the host waited for the stream? Memory that was staged unasked to wait is the host's again, no more. */
static bool has_waited(const fy_copy_work *w) { return !w->was_async && !(w->async && w->dir == FY_WORD_h2d); }

static bool copy(fy_site *at, fy_dev *card, fy_copy_work *w, fy_launch *launch)
{
    fy_launch_check(launch, &w->races);
    if (!card->backend->copy(card, w)) {
        fy_launch_failed(launch);
        return fy_fail_work(at, card, w->id, "copy");
    }
    return true;
}

bool fy_cross(fy_site *at, const fy_tensor *src, fy_tensor *dst, const fy_crossing *how)
{
    fy_dev *from = src->storage->dev, *to = dst->storage->dev, *card = is_host(from) ? to : from;
    fy_copy_work w = {
        .dst = fy_first_element(dst), .src = fy_first_element(src), .bytes = bytes_of(dst), .dir = direction(from, to)};
    fy_launch launch;
    w.async = how->async;
    w.stream = fy_stream_current(card);
    w.pinned = is_pinned_way(src->storage, dst->storage);
    int64_t before = fy_clock_now();
    if (w.bytes == 0) return true;
    fy_launch_begin(&launch, w.id = fy_work_id());
    fy_launch_read(&launch, agent_of(src, card, w.stream), src, 1);
    fy_launch_write(&launch, agent_of(dst, card, w.stream), dst);
    if (!copy(at, card, &w, &launch)) return false;
    fy_side there = side_of(dst);
    there.version = fy_storage_written(dst->storage);
    if (has_waited(&w)) fy_order_join(FY_HOST, fy_agent_of(card, w.stream));
    if (w.was_async) fy_storage_record_pinned(is_host(from) ? src->storage : dst->storage, card, w.stream);
    uint64_t seq = emit_copy(at, card, &w, side_of(src), there, how, before);
    fy_launch_done(&launch, at, seq);
    return has_waited(&w) || fy_work_issued(at, card, w.stream, w.id, seq);
}

/* An answer is looked at, and that is no copy of the program's: it orders nothing and is not remembered. */
bool fy_fetch(fy_site *at, const fy_tensor *x, void *to, size_t bytes, fy_word why)
{
    fy_dev *card = x->storage->dev;
    fy_copy_work w = {.dst = to, .src = fy_first_element(x), .bytes = bytes, .dir = FY_WORD_d2h};
    fy_launch launch;
    w.stream = fy_stream_current(card);
    int64_t before = fy_clock_now();
    if (bytes == 0) return true;
    fy_launch_begin(&launch, w.id = why == FY_WORD_answer ? 0 : fy_work_id());
    fy_launch_read(&launch, fy_agent_of(card, w.stream), x, 1);
    if (!copy(at, card, &w, &launch)) return false;
    if (why == FY_WORD_answer) {
        fy_launch_failed(&launch);
        return true;
    }
    fy_order_join(FY_HOST, fy_agent_of(card, w.stream));
    fy_launch_done(&launch, at, emit_copy(at, card, &w, side_of(x), nowhere, &(fy_crossing){.why = why}, before));
    return true;
}
