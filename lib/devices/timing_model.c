/* timing_model.c: when a modelled card would execute its work: in-order streams, three engines, a bounded launch queue.
 *
 * Engines do not run work in issue order but as it becomes ready: work issued later to an idle stream may fill a gap
 * before work issued earlier to a stream that still waits. Within a stream work runs in issue order. Later calls never
 * move earlier bookings. */
#include "timing_model.h"

#include <math.h>
#include <stdlib.h>

#include "card_params.h"
#include "device.h"
#include "engine_schedule.h"
#include "event.h"
#include "run_work.h"
#include "out_of_memory.h"

typedef enum engine_kind { H2D, D2H, COMPUTE, ENGINES } engine_kind;

typedef struct stream_state {
    int64_t tail;  /* when all its work so far will have ended */
    int64_t *ends; /* end times of pending launches: a ring of card.launch_queue */
    int64_t first, n;
} stream_state;

struct fy_timing {
    fy_card card;
    fy_engine engine[ENGINES];
    stream_state stream[FY_STREAMS];
};

static int64_t max(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ns_for(int64_t amount, double rate) { return rate > 0 ? llround((double)amount * 1e9 / rate) : 0; }

/* Time for bytes [from, to) of a transfer; as a difference, so that the chunks add up exactly. */
static int64_t chunk_time(int64_t from, int64_t to, double rate) { return ns_for(to, rate) - ns_for(from, rate); }

fy_timing *fy_timing_make(const fy_card *card)
{
    fy_timing *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->card = *card;
    for (int i = 0; i < ENGINES; i++)
        if (!fy_engine_make(&t->engine[i])) return fy_timing_free(t), NULL;
    return t;
}

void fy_timing_free(fy_timing *t)
{
    if (!t) return;
    for (int i = 0; i < ENGINES; i++) fy_engine_free(&t->engine[i]);
    for (int i = 0; i < FY_STREAMS; i++) free(t->stream[i].ends);
    free(t);
}

/* ---- host time ------------------------------------------------------------------------------------ */

/* When is work issued that the host launches at `now`? After the call's overhead and, if the launch queue is full, not
 * before its oldest entry has ended. */
static int64_t issue(fy_timing *t, int64_t now, stream_state *s, int64_t overhead)
{
    int64_t at = now + overhead, most = t->card.launch_queue;
    for (int i = 0; i < ENGINES; i++) fy_engine_prune(&t->engine[i], now);
    while (s->n > 0 && (s->ends[s->first] <= at || s->n >= most)) {
        at = max(at, s->ends[s->first]);
        s->first = (s->first + 1) % most;
        s->n--;
    }
    return at;
}

/* Records work that was launched at `now`, issued at `issued` and ends at out->end; sets out->held. */
static void finish(fy_timing *t, stream_state *s, int64_t now, int64_t issued, bool async, fy_time *out)
{
    int64_t most = t->card.launch_queue;
    s->tail = max(s->tail, out->end);
    out->held = (async ? issued : max(issued, out->end)) - now;
    if (!async || most <= 0) return;
    if (!s->ends) s->ends = malloc((size_t)most * sizeof *s->ends);
    if (!s->ends) fy_out_of_memory("the launch queue of a simulated card");
    s->ends[(s->first + s->n++) % most] = s->tail;
}

static void set_cost(fy_time *out, int64_t now, int64_t held)
{
    *out = (fy_time){.start = now, .end = now + held, .held = held, .overhead = held};
}

void fy_timing_call(fy_timing *t, int64_t now, fy_time *out) { set_cost(out, now, t->card.call_overhead); }

void fy_timing_alloc(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out)
{
    const fy_card *card = &t->card;
    if (mem == FY_WORD_pinned) set_cost(out, now, card->pin_overhead + ns_for(bytes, card->pin_bandwidth));
    else set_cost(out, now, card->malloc_overhead);
}

/* As cudaFree and cudaFreeHost it waits for all work of the card first. */
void fy_timing_release(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out)
{
    const fy_card *card = &t->card;
    bool pinned = mem == FY_WORD_pinned;
    int64_t cost = card->free_overhead + (pinned ? ns_for(bytes, card->unpin_bandwidth) : 0);
    set_cost(out, now, max(now, fy_timing_tail(t, -1)) - now + cost);
    out->overhead = cost;
}

void fy_timing_host_wait(fy_timing *t, int64_t now, int64_t until, fy_time *out)
{
    int64_t overhead = t->card.call_overhead;
    set_cost(out, now, max(now + overhead, until) - now);
    out->overhead = overhead;
}

/* ---- streams -------------------------------------------------------------------------------------- */

int64_t fy_timing_tail(const fy_timing *t, int stream)
{
    if (stream >= 0) return t->stream[stream].tail;
    int64_t last = 0;
    for (int i = 0; i < FY_STREAMS; i++) last = max(last, t->stream[i].tail);
    return last;
}

void fy_timing_stream_wait(fy_timing *t, int stream, int64_t until)
{
    t->stream[stream].tail = max(t->stream[stream].tail, until);
}

/* ---- work ----------------------------------------------------------------------------------------- */

/* Books the first free interval from `ready` on; returns its start. */
static int64_t book(fy_engine *e, int64_t ready, int64_t length)
{
    int64_t start = fy_engine_find(e, ready, length);
    fy_engine_book(e, start, length);
    return start;
}

static double flops_of(const fy_card *card, fy_arithmetic units)
{
    double own = units == FY_DOUBLE ? card->flops_f64 : units == FY_TENSOR ? card->flops_f16 : 0;
    return own > 0 ? own : card->flops_f32;
}

/* Roofline: the slower of arithmetic and memory. */
void fy_timing_run(fy_timing *t, int64_t now, int stream, fy_arithmetic units, int64_t flops, int64_t bytes,
                   fy_time *out)
{
    const fy_card *card = &t->card;
    stream_state *s = &t->stream[stream];
    int64_t issued = issue(t, now, s, card->launch_overhead);
    int64_t work = max(ns_for(flops, flops_of(card, units)), ns_for(bytes, card->memory_bandwidth));
    int64_t length = card->kernel_latency + work;
    int64_t start = book(&t->engine[COMPUTE], max(issued, s->tail), length);
    *out = (fy_time){.start = start, .end = start + length, .overhead = card->launch_overhead + card->kernel_latency};
    finish(t, s, now, issued, true, out);
}

/* A staged copy that starts at `begin`: each chunk goes into a staging buffer and out of it. With two buffers, chunk
 * i+1 goes in while chunk i goes out:
 *
 *      memcpy   [ 0 ][ 1 ]     [ 2 ]            host to device; for device to host
 *      transfer      [   0   ][   1   ][  2  ]  the transfer comes first
 *
 * A transfer starts when the bus engine is free. */
static void staged(const fy_card *card, fy_engine *bus, fy_copy_work *w, int64_t begin)
{
    bool is_h2d = w->dir == FY_WORD_h2d;
    int64_t in_free = begin, out_free = begin, buffer_free[2] = {begin, begin}, bytes = (int64_t)w->bytes;
    fy_time *t = &w->time;
    t->start = t->end = begin;
    for (int64_t from = 0, i = 0; from < bytes; from += card->staging_chunk, i++) {
        int64_t to = bytes - from < card->staging_chunk ? bytes : from + card->staging_chunk;
        int64_t wire = chunk_time(from, to, card->bus_bandwidth), copy = chunk_time(from, to, card->staging_bandwidth);
        int64_t transfer = wire + card->bus_latency;
        int64_t in = max(in_free, buffer_free[i % 2]);
        if (!is_h2d) in = book(bus, in, transfer);
        in_free = in + (is_h2d ? copy : transfer);
        int64_t out = max(out_free, in_free);
        if (is_h2d) out = book(bus, out, transfer);
        out_free = out + (is_h2d ? transfer : copy);
        buffer_free[i % 2] = t->end = out_free;
        if (i == 0) t->start = in;
        t->wire += wire;
        t->staging += copy;
        t->overhead += card->bus_latency;
    }
}

/* From or to pinned memory, or within VRAM; rate: bytes per second. */
static void direct(const fy_card *card, fy_engine *e, fy_copy_work *w, int64_t ready, double rate)
{
    w->time.wire = ns_for((int64_t)w->bytes, rate);
    w->time.overhead += card->bus_latency;
    w->time.start = book(e, ready, card->bus_latency + w->time.wire);
    w->time.end = w->time.start + card->bus_latency + w->time.wire;
}

/* With pageable memory the host does the staging, so it blocks even if async. Copies within a card never block. */
void fy_timing_copy(fy_timing *t, int64_t now, fy_copy_work *w)
{
    const fy_card *card = &t->card;
    stream_state *s = &t->stream[w->stream];
    bool within = w->dir == FY_WORD_d2d, is_direct = within || w->pinned;
    fy_engine *e = &t->engine[within ? COMPUTE : w->dir == FY_WORD_h2d ? H2D : D2H];
    int64_t issued = issue(t, now, s, card->call_overhead), ready = max(issued, s->tail);
    w->time = (fy_time){.overhead = card->call_overhead};
    w->route = is_direct ? FY_WORD_direct : FY_WORD_staged;
    w->was_async = within || (w->pinned && w->async);
    if (is_direct) direct(card, e, w, ready, within ? card->memory_bandwidth / 2 : card->bus_bandwidth);
    else staged(card, e, w, ready);
    finish(t, s, now, issued, w->was_async, &w->time);
}

/* ---- between cards --------------------------------------------------------------------------------- */

static double peer_rate(const fy_card *card)
{
    return card->peer_bandwidth > 0 ? card->peer_bandwidth : card->bus_bandwidth;
}

/* Books both copy engines for the same interval, at the slower card's rate. */
static void direct_between(fy_timing *from, fy_timing *to, fy_copy_work *w, int64_t ready)
{
    fy_engine *out = &from->engine[D2H], *in = &to->engine[H2D];
    int64_t latency = from->card.bus_latency;
    w->time.wire = ns_for((int64_t)w->bytes, fmin(peer_rate(&from->card), peer_rate(&to->card)));
    w->time.overhead += latency;
    int64_t length = w->time.wire + latency, start = fy_engine_find(out, ready, length);
    for (int64_t other; (other = fy_engine_find(in, start, length)) != start;)
        start = fy_engine_find(out, other, length);
    fy_engine_book(out, start, length);
    fy_engine_book(in, start, length);
    w->time.start = start;
    w->time.end = start + length;
}

/* In chunks through two pinned host buffers: one is filled while the other is emptied. */
static void through_host(fy_timing *from, fy_timing *to, fy_copy_work *w, int64_t ready)
{
    int64_t chunk = from->card.staging_chunk, bytes = (int64_t)w->bytes;
    int64_t out_free = ready, in_free = ready, buffer_free[2] = {ready, ready};
    w->time.start = w->time.end = ready;
    for (int64_t at = 0, i = 0; at < bytes; at += chunk, i++) {
        int64_t end = bytes - at < chunk ? bytes : at + chunk;
        int64_t down = chunk_time(at, end, from->card.bus_bandwidth), up = chunk_time(at, end, to->card.bus_bandwidth);
        int64_t down_all = down + from->card.bus_latency, up_all = up + to->card.bus_latency;
        int64_t start = book(&from->engine[D2H], max(out_free, buffer_free[i % 2]), down_all);
        out_free = start + down_all;
        in_free = book(&to->engine[H2D], max(in_free, out_free), up_all) + up_all;
        buffer_free[i % 2] = w->time.end = in_free;
        if (i == 0) w->time.start = start;
        w->time.wire += down + up;
        w->time.wire_up += up;
        w->time.overhead += from->card.bus_latency + to->card.bus_latency;
    }
}

void fy_timing_copy_peer(fy_timing *from, fy_timing *to, int64_t now, bool peer, fy_copy_work *w)
{
    stream_state *s = &from->stream[w->stream];
    int64_t issued = issue(from, now, s, from->card.call_overhead);
    int64_t ready = max(issued, max(s->tail, to->stream[w->to_stream].tail));
    for (int i = 0; i < ENGINES; i++) fy_engine_prune(&to->engine[i], now);
    w->time = (fy_time){.overhead = from->card.call_overhead};
    w->route = peer ? FY_WORD_direct : FY_WORD_host;
    w->was_async = true; /* never blocks the host, whatever was asked for */
    if (peer) direct_between(from, to, w, ready);
    else through_host(from, to, w, ready);
    finish(from, s, now, issued, true, &w->time);
    fy_timing_stream_wait(to, w->to_stream, w->time.end);
}
