/* timing_model.h: when a modelled card would execute its work. Pure: it knows model parameters, queues and engines, and
 * nothing of tensors, memory or the session's clock, so that `ferry whatif` can replay a log with other parameters.
 *
 * A card has in-order streams, one copy engine for each direction and one compute engine. Work starts once it is
 * issued, the earlier work of its stream has ended, and its engine is free. An engine runs work of several streams as
 * it becomes ready and fills gaps that are long enough. The host is blocked by call overheads, by staging copies of
 * pageable memory, by waits, and by a full launch queue.
 *
 * `now` is the host's time at the call; afterwards it is now + held. All times in ns. Not thread-safe. */
#ifndef FERRY_TIMING_MODEL_H
#define FERRY_TIMING_MODEL_H

#include "card_params.h"
#include "device.h"
#include "event.h"
#include "op.h"
#include "run_work.h"

typedef struct fy_timing fy_timing; /* one card's */

fy_timing *fy_timing_make(const fy_card *card); /* copies *card; NULL: no memory */
void fy_timing_free(fy_timing *t);

/* Sets w->time, route and was_async from w's stream, dir, bytes, pinned and async. For p2p: fy_timing_copy_peer. */
void fy_timing_copy(fy_timing *t, int64_t now, fy_copy_work *w);
/* Card to card: direct if peer, else through pinned host memory (route host). In stream w->stream of both cards: starts
 * when both have reached it, and occupies both until it ends. */
void fy_timing_copy_peer(fy_timing *from, fy_timing *to, int64_t now, bool peer, fy_copy_work *w);
void fy_timing_run(fy_timing *t, int64_t now, int stream, fy_arithmetic units, int64_t flops, int64_t bytes,
                   fy_time *out);
/* Allocates or frees memory, pinned or device; freeing waits for all work of the card first. */
void fy_timing_alloc(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out);
void fy_timing_release(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out);

int64_t fy_timing_tail(const fy_timing *t, int stream); /* when all its work so far will have ended; -1: all streams */
void fy_timing_stream_wait(fy_timing *t, int stream, int64_t until); /* later work there starts no earlier */
void fy_timing_host_wait(fy_timing *t, int64_t now, int64_t until, fy_time *out); /* overhead, or until if later */
void fy_timing_call(fy_timing *t, int64_t now, fy_time *out);                     /* record, query: overhead alone */

#endif
