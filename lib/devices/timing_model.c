/* timing_model.c: when a modelled card would do its work: streams' tails, three engines, a bounded queue.
 *
 * Not first come, first served: an engine takes what becomes ready first, so that work issued later to an idle
 * stream may run in a gap before work that was issued earlier to a stream that still waits. Within a stream the
 * order is that of issue. What was booked once stays: a later call never moves it. */
#include "timing_model.h"

#include <math.h>
#include <stdlib.h>

#include "card_params.h"
#include "device.h"
#include "engine_schedule.h"
#include "event.h"
#include "run_work.h"
#include "out_of_memory.h"

typedef enum way { UP, DOWN, COMPUTE, WAYS } way;

/* A stream: when it gets to its end, and the ends of what the host has issued to it and may still be to come. */
typedef struct line {
    int64_t tail;
    int64_t *ends; /* a ring of card.launch_queue */
    int64_t first, n;
} line;

struct fy_timing {
    fy_card card;
    fy_engine engine[WAYS];
    line stream[FY_STREAMS];
};

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ns_for(int64_t amount, double rate) { return rate > 0 ? llround((double)amount * 1e9 / rate) : 0; }

/* When byte n has passed at `rate`. Chunks take differences of this, so that their sum is exact. */
static int64_t part(int64_t from, int64_t to, double rate) { return ns_for(to, rate) - ns_for(from, rate); }

fy_timing *fy_timing_make(const fy_card *card)
{
    fy_timing *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->card = *card;
    for (int i = 0; i < WAYS; i++)
        if (!fy_engine_make(&t->engine[i])) return fy_timing_free(t), NULL;
    return t;
}

void fy_timing_free(fy_timing *t)
{
    if (!t) return;
    for (int i = 0; i < WAYS; i++) fy_engine_free(&t->engine[i]);
    for (int i = 0; i < FY_STREAMS; i++) free(t->stream[i].ends);
    free(t);
}

/* ---- the host's part ------------------------------------------------------------------------------ */

/* The host calls at `now`, with a piece of work for a stream. When is it issued? After the call's own cost, and
 * where the queue is full not before the oldest piece in it has ended. */
static int64_t issue(fy_timing *t, int64_t now, line *s, int64_t overhead)
{
    int64_t at = now + overhead, most = t->card.launch_queue;
    for (int i = 0; i < WAYS; i++) fy_engine_forget(&t->engine[i], now);
    while (s->n > 0 && (s->ends[s->first] <= at || s->n >= most)) {
        at = later(at, s->ends[s->first]);
        s->first = (s->first + 1) % most;
        s->n--;
    }
    return at;
}

/* The work of a call at `now`, issued at `issued`, ends at out->end. How long was the host held? */
static void settle(fy_timing *t, line *s, int64_t now, int64_t issued, bool async, fy_time *out)
{
    int64_t most = t->card.launch_queue;
    s->tail = later(s->tail, out->end);
    out->held = (async ? issued : later(issued, out->end)) - now;
    if (!async || most <= 0) return;
    if (!s->ends) s->ends = malloc((size_t)most * sizeof *s->ends);
    if (!s->ends) fy_out_of_memory("the launch queue of a simulated card");
    s->ends[(s->first + s->n++) % most] = s->tail;
}

static void spend(fy_time *out, int64_t now, int64_t held)
{
    *out = (fy_time){.start = now, .end = now + held, .held = held, .overhead = held};
}

void fy_timing_call(fy_timing *t, int64_t now, fy_time *out) { spend(out, now, t->card.call_overhead); }

void fy_timing_alloc(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out)
{
    const fy_card *card = &t->card;
    if (mem == FY_WORD_pinned) spend(out, now, card->pin_overhead + ns_for(bytes, card->pin_bandwidth));
    else spend(out, now, card->malloc_overhead);
}

/* cudaFree and cudaFreeHost wait for all the card's work first. */
void fy_timing_release(fy_timing *t, int64_t now, int64_t bytes, fy_word mem, fy_time *out)
{
    const fy_card *card = &t->card;
    bool pinned = mem == FY_WORD_pinned;
    int64_t cost = card->free_overhead + (pinned ? ns_for(bytes, card->unpin_bandwidth) : 0);
    spend(out, now, later(now, fy_timing_tail(t, -1)) - now + cost);
    out->overhead = cost;
}

void fy_timing_host_waits(fy_timing *t, int64_t now, int64_t until, fy_time *out)
{
    int64_t overhead = t->card.call_overhead;
    spend(out, now, later(now + overhead, until) - now);
    out->overhead = overhead;
}

/* ---- streams -------------------------------------------------------------------------------------- */

int64_t fy_timing_tail(const fy_timing *t, int stream)
{
    if (stream >= 0) return t->stream[stream].tail;
    int64_t last = 0;
    for (int i = 0; i < FY_STREAMS; i++) last = later(last, t->stream[i].tail);
    return last;
}

void fy_timing_stream_waits(fy_timing *t, int stream, int64_t until)
{
    t->stream[stream].tail = later(t->stream[stream].tail, until);
}

/* ---- work ----------------------------------------------------------------------------------------- */

/* The first time from `ready` on at which the engine has room; it is taken. */
static int64_t book(fy_engine *e, int64_t ready, int64_t length)
{
    int64_t start = fy_engine_gap(e, ready, length);
    fy_engine_take(e, start, length);
    return start;
}

/* The slower of arithmetic and memory decides. */
void fy_timing_run(fy_timing *t, int64_t now, int stream, int64_t flops, int64_t bytes, fy_time *out)
{
    const fy_card *card = &t->card;
    line *s = &t->stream[stream];
    int64_t issued = issue(t, now, s, card->launch_overhead);
    int64_t work = later(ns_for(flops, card->flops_f32), ns_for(bytes, card->memory_bandwidth));
    int64_t length = card->kernel_latency + work;
    int64_t start = book(&t->engine[COMPUTE], later(issued, s->tail), length);
    *out = (fy_time){.start = start, .end = start + length, .overhead = card->launch_overhead + card->kernel_latency};
    settle(t, s, now, issued, true, out);
}

/* A staged copy that begins at `begin`: two stages a chunk (into the buffer, out of the buffer) and
 * two buffers, so that chunk i+1 enters one while chunk i leaves the other:
 *
 *      memcpy   [ 0 ][ 1 ]     [ 2 ]            host to device; the other way round the transfer
 *      transfer      [   0   ][   1   ][  2  ]  comes first
 *
 * A transfer begins when the bus has room for it. */
static void staged(const fy_card *card, fy_engine *bus, fy_copy_work *w, int64_t begin)
{
    bool up = w->dir == FY_WORD_h2d;
    int64_t in_free = begin, out_free = begin, buffer_free[2] = {begin, begin}, bytes = (int64_t)w->bytes;
    fy_time *t = &w->time;
    t->start = t->end = begin;
    for (int64_t from = 0, i = 0; from < bytes; from += card->staging_chunk, i++) {
        int64_t to = bytes - from < card->staging_chunk ? bytes : from + card->staging_chunk;
        int64_t wire = part(from, to, card->bus_bandwidth), copy = part(from, to, card->staging_bandwidth);
        int64_t transfer = wire + card->bus_latency;
        int64_t in = later(in_free, buffer_free[i % 2]);
        if (!up) in = book(bus, in, transfer);
        in_free = in + (up ? copy : transfer);
        int64_t out = later(out_free, in_free);
        if (up) out = book(bus, out, transfer);
        out_free = out + (up ? transfer : copy);
        buffer_free[i % 2] = t->end = out_free;
        if (i == 0) t->start = in;
        t->wire += wire;
        t->staging += copy;
        t->overhead += card->bus_latency;
    }
}

/* Straight from or to page-locked memory, or within VRAM (`rate` is then what a copy there makes). */
static void direct(const fy_card *card, fy_engine *e, fy_copy_work *w, int64_t ready, double rate)
{
    w->time.wire = ns_for((int64_t)w->bytes, rate);
    w->time.overhead += card->bus_latency;
    w->time.start = book(e, ready, card->bus_latency + w->time.wire);
    w->time.end = w->time.start + card->bus_latency + w->time.wire;
}

/* Pageable memory: the host does the staging, whatever was asked. Within one card it never waits. */
void fy_timing_copy(fy_timing *t, int64_t now, fy_copy_work *w)
{
    const fy_card *card = &t->card;
    line *s = &t->stream[w->stream];
    bool within = w->dir == FY_WORD_d2d, straight = within || w->pinned;
    fy_engine *e = &t->engine[within ? COMPUTE : w->dir == FY_WORD_h2d ? UP : DOWN];
    int64_t issued = issue(t, now, s, card->call_overhead), ready = later(issued, s->tail);
    w->time = (fy_time){.overhead = card->call_overhead};
    w->route = straight ? FY_WORD_direct : FY_WORD_staged;
    w->was_async = within || (w->pinned && w->async);
    if (straight) direct(card, e, w, ready, within ? card->memory_bandwidth / 2 : card->bus_bandwidth);
    else staged(card, e, w, ready);
    settle(t, s, now, issued, w->was_async, &w->time);
}

/* ---- from card to card ----------------------------------------------------------------------------- */

static double peer_rate(const fy_card *card)
{
    return card->peer_bandwidth > 0 ? card->peer_bandwidth : card->bus_bandwidth;
}

/* Both engines at once, at the slower card's rate. */
static void straight_across(fy_timing *from, fy_timing *to, fy_copy_work *w, int64_t ready)
{
    fy_engine *out = &from->engine[DOWN], *in = &to->engine[UP];
    int64_t latency = from->card.bus_latency;
    w->time.wire = ns_for((int64_t)w->bytes, fmin(peer_rate(&from->card), peer_rate(&to->card)));
    w->time.overhead += latency;
    int64_t length = w->time.wire + latency, start = fy_engine_gap(out, ready, length);
    for (int64_t other; (other = fy_engine_gap(in, start, length)) != start;) start = fy_engine_gap(out, other, length);
    fy_engine_take(out, start, length);
    fy_engine_take(in, start, length);
    w->time.start = start;
    w->time.end = start + length;
}

/* In chunks through two page-locked buffers of the host, one being filled while the other is emptied. */
static void by_way_of_host(fy_timing *from, fy_timing *to, fy_copy_work *w, int64_t ready)
{
    int64_t chunk = from->card.staging_chunk, bytes = (int64_t)w->bytes;
    int64_t out_free = ready, in_free = ready, buffer_free[2] = {ready, ready};
    w->time.start = w->time.end = ready;
    for (int64_t at = 0, i = 0; at < bytes; at += chunk, i++) {
        int64_t end = bytes - at < chunk ? bytes : at + chunk;
        int64_t down = part(at, end, from->card.bus_bandwidth), up = part(at, end, to->card.bus_bandwidth);
        int64_t down_all = down + from->card.bus_latency, up_all = up + to->card.bus_latency;
        int64_t start = book(&from->engine[DOWN], later(out_free, buffer_free[i % 2]), down_all);
        out_free = start + down_all;
        in_free = book(&to->engine[UP], later(in_free, out_free), up_all) + up_all;
        buffer_free[i % 2] = w->time.end = in_free;
        if (i == 0) w->time.start = start;
        w->time.wire += down + up;
        w->time.overhead += from->card.bus_latency + to->card.bus_latency;
    }
}

void fy_timing_copy_peer(fy_timing *from, fy_timing *to, int64_t now, bool peer, fy_copy_work *w)
{
    line *s = &from->stream[w->stream];
    int64_t issued = issue(from, now, s, from->card.call_overhead);
    int64_t ready = later(issued, later(s->tail, to->stream[w->stream].tail));
    for (int i = 0; i < WAYS; i++) fy_engine_forget(&to->engine[i], now);
    w->time = (fy_time){.overhead = from->card.call_overhead};
    w->route = peer ? FY_WORD_direct : FY_WORD_host;
    w->was_async = true; /* the host has no part in it, whatever was asked */
    if (peer) straight_across(from, to, w, ready);
    else by_way_of_host(from, to, w, ready);
    settle(from, s, now, issued, true, &w->time);
    fy_timing_stream_waits(to, w->stream, w->time.end);
}
