/* transfer.c: copies between memories, and their events. The only caller of a back end's copy and the only emitter of
 * copy. The bytes sent are contiguous: move.c, copy.c and to_host.c ensure that. */
#include "transfer.h"

#include "clock.h"
#include "completion.h"
#include "contents.h"
#include "device.h"
#include "dispatch.h"
#include "event.h"
#include "launch_record.h"
#include "race_detector.h"
#include "shape.h"
#include "storage.h"
#include "stream.h"
#include "tensor.h"
#include "tensor_access.h"
#include "vector_clock.h"

static fy_side side_of(const fy_tensor *x, uint32_t version)
{
    const fy_storage *s = x->storage;
    return (fy_side){.addr = s->addr ? s->addr + (uint64_t)x->offset * x->element_size : 0,
                     .tensor = x->id,
                     .storage = s->id,
                     .version = version,
                     .device = (uint8_t)s->dev->number,
                     .mem = (uint8_t)s->mem};
}

/* Ferry's internal host buffer, which receives an item or a print. */
static const fy_side internal_buffer = {.device = 0, .mem = FY_WORD_pageable};

static uint64_t emit_copy(fy_site *at, fy_dev *card, const fy_copy_work *w, fy_side src, fy_side dst,
                          const fy_transfer_opts *o, int64_t before)
{
    if (!fy_log_is_on()) return 0;
    bool waits = w->dir == FY_WORD_d2h && !w->was_async;
    int64_t wait = 0; /* for earlier work on the GPU: reported by the sync event, the rest of the time by the copy */
    if (waits) {
        int64_t ns = w->time.start - before - (card->card ? card->card->call_overhead : 0);
        wait = ns < 0 ? 0 : ns < w->time.held ? ns : w->time.held;
    }
    uint64_t seq =
        FY_EMIT(at, copy, .id = w->id, .src = src, .dst = dst, .bytes = (int64_t)w->bytes, .dir = (uint8_t)w->dir,
                .stream = w->stream, .dst_stream = w->dir == FY_WORD_p2p ? w->to_stream : FY_ABSENT, .async = w->async,
                .was_async = w->was_async, .route = (uint8_t)w->route, .cast = (uint8_t)o->cast, .why = (uint8_t)o->why,
                .held = w->time.held - wait);
    fy_completion_add(at, &(fy_completion){.dev = card,
                                           .stream = w->stream,
                                           .id = w->id,
                                           .engine = w->dir == FY_WORD_d2d ? FY_WORD_compute : w->dir,
                                           .is_copy = true,
                                           .time = w->time});
    if (waits)
        FY_EMIT(at, sync, .scope = FY_WORD_copy, .device = (uint8_t)card->number, .stream = w->stream,
                .why = o->why == FY_WORD_user ? FY_WORD_copy : (uint8_t)o->why, .cause = seq + 1, .held = wait);
    return seq;
}

static bool fail_copy(fy_site *at, fy_dev *card, const fy_copy_work *w, fy_launch *launch)
{
    fy_launch_failed(launch);
    return fy_fail_launch(at, card, w->id, "copy");
}

bool fy_transfer(fy_site *at, const fy_tensor *src, fy_tensor *dst, const fy_transfer_opts *o)
{
    fy_storage *from = src->storage, *to = dst->storage;
    bool from_host = from->dev->number == 0, to_host = to->dev->number == 0;
    fy_dev *card = from_host ? to->dev : from->dev;
    int64_t before = fy_clock_now();
    fy_copy_work w = {.id = fy_work_id(),
                      .stream = fy_stream_current(card),
                      .to_stream = fy_stream_current(to->dev), /* as in PyTorch: the destination's current one */
                      .async = o->async};
    w.dir = from_host              ? (to_host ? FY_WORD_h2h : FY_WORD_h2d)
            : to_host              ? FY_WORD_d2h
            : from->dev == to->dev ? FY_WORD_d2d
                                   : FY_WORD_p2p;
    /* Pageable memory is staged by the host; page-locked memory is read and written by the card, in its stream. */
    int reader = fy_agent_of(from->mem == FY_WORD_pinned ? card : from->dev, w.stream);
    int writer = w.dir == FY_WORD_p2p ? fy_agent_of(to->dev, w.to_stream)
                                      : fy_agent_of(to->mem == FY_WORD_pinned ? card : to->dev, w.stream);
    fy_contents contents = {0};
    fy_launch launch;
    fy_launch_begin(&launch, w.id);
    fy_geometry g = fy_geometry_of(dst);
    w.bytes = (size_t)fy_shape_numel(&g.shape) * dst->element_size;
    w.dst = fy_first_element(dst);
    w.src = fy_first_element(src);
    w.pinned = from->mem == FY_WORD_pinned || to->mem == FY_WORD_pinned; /* never set between GPUs */
    fy_launch_tensor(&launch, reader, src, false, 1, 0);
    fy_launch_tensor(&launch, writer, dst, true, FY_RACE_OUT, 0);
    fy_launch_check(&launch, &w.races);
    /* What the host waits for is logged here; the rest by the simulated card, when it executes the copy. */
    bool values = fy_results_are_logged, later = !to_host || (o->async && w.pinned);
    if (values) contents = fy_contents_of(at, dst, fy_storage_version(to) + 1);
    if (values && later) w.contents = contents;
    if (!card->backend->copy(card, &w)) return fail_copy(at, card, &w, &launch);
    uint32_t read = fy_storage_version(from), written = fy_storage_written(to);
    /* Has the host synchronized with the stream? A non_blocking upload from pageable memory was only staged: the source
     * may be reused, but the stream has not finished. */
    bool waited = !w.was_async && !(w.async && from_host);
    if (waited) fy_order_join(FY_HOST, fy_agent_of(card, w.stream));
    if (w.was_async) fy_storage_record_pinned(from_host ? from : to, card, w.stream);
    uint64_t seq = emit_copy(at, card, &w, side_of(src, read), side_of(dst, written), o, before);
    fy_launch_done(&launch, at, seq);
    contents.version = written;
    if (values && !later) fy_result_emit(&contents, w.id);
    return waited || fy_launch_record_issued(at, card, w.stream, w.id, seq);
}

/* Reading an answer does not count as a copy by the program: it orders nothing and is not recorded. */
bool fy_fetch(fy_site *at, const fy_tensor *x, void *to, size_t bytes, fy_word why)
{
    fy_dev *card = x->storage->dev;
    fy_copy_work w = {.dst = to, .src = fy_first_element(x), .bytes = bytes, .dir = FY_WORD_d2h};
    fy_launch launch;
    w.stream = fy_stream_current(card);
    int64_t before = fy_clock_now();
    if (bytes == 0) return true;
    fy_launch_begin(&launch, w.id = why == FY_WORD_answer ? 0 : fy_work_id());
    fy_launch_tensor(&launch, fy_agent_of(card, w.stream), x, false, 1, 0);
    fy_launch_check(&launch, &w.races);
    if (!card->backend->copy(card, &w)) return fail_copy(at, card, &w, &launch);
    if (why == FY_WORD_answer) {
        fy_launch_failed(&launch);
        return true;
    }
    fy_order_join(FY_HOST, fy_agent_of(card, w.stream));
    fy_launch_done(&launch, at,
                   emit_copy(at, card, &w, side_of(x, fy_storage_version(x->storage)), internal_buffer,
                             &(fy_transfer_opts){.why = why}, before));
    return true;
}
