/* timing_model.h: when a modelled card would do its work. Pure: it knows figures, queues and engines, and nothing of
 * tensors, memory or the session's clock, so that `ferry whatif` can work out a log anew under other figures.
 *
 * A card has streams, each a queue in order; one engine for each direction of the bus and one that computes. Work
 * begins when its stream has got there, its engine has room, and the host has issued it. An engine takes work of
 * several streams as it becomes ready: a gap that is long enough is filled. The host is held by call overheads,
 * by the copying of pageable memory into and out of the staging buffer, by waits, and by a full launch queue.
 *
 * `now` is the host's time at the call; afterwards the host's time is now + held. All in ns. */
#ifndef FERRY_TIMETABLE_H
#define FERRY_TIMETABLE_H

#include "card_params.h"
#include "device.h"
#include "event.h"
#include "run_work.h"

typedef struct fy_timing fy_timing; /* one card's */

fy_timing *fy_timing_make(const fy_card *card); /* the figures are copied; NULL: no memory */
void fy_timing_free(fy_timing *t);

/* Fill w->time, route and was_async from w's stream, dir, bytes, pinned and async. p2p: fy_timing_copy_peer. */
void fy_timing_copy(fy_timing *t, int64_t now, fy_copy_work *w);
/* Card to card: direct where peer is true, else through page-locked memory of the host (route host). In the
 * streams w->stream of both; begins when both have got there, and holds both. */
void fy_timing_copy_peer(fy_timing *from, fy_timing *to, int64_t now, bool peer, fy_copy_work *w);
void fy_timing_run(fy_timing *t, int64_t now, int stream, int64_t flops, int64_t bytes, fy_time *out);
/* A call that takes memory, pinned or device; or gives it back, which waits for all the card's work first. */
void fy_timing_alloc(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out);
void fy_timing_release(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out);

int64_t fy_timing_tail(const fy_timing *t, int stream); /* when what is queued there will have ended; -1: in all */
void fy_timing_stream_waits(fy_timing *t, int stream, int64_t until); /* later work there begins no sooner */
void fy_timing_host_waits(fy_timing *t, int64_t now, int64_t until, fy_time *out); /* sync: overhead, then until */
void fy_timing_call(fy_timing *t, int64_t now, fy_time *out);                      /* record, query: overhead alone */

#endif
