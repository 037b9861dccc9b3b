/* sim_copy.c: copies of the simulated card: what they move, and when they would have done so.
 *
 * Each direction of the bus is one engine. Copies of pageable memory go through two page-locked buffers, the
 * copy of one chunk beside the transfer of another. */
#include <stdio.h>

#include "sim.h"

/* When byte n has passed at `rate`. Chunks take differences of this, so that their sum is exact. */
static int64_t part(int64_t from, int64_t to, double rate) { return fy_ns_for(to, rate) - fy_ns_for(from, rate); }

/* A staged copy that begins at `begin`: two stages a chunk (into the buffer, out of the buffer) and
 * two buffers, so that chunk i+1 enters one while chunk i leaves the other:
 *
 *      memcpy   [ 0 ][ 1 ]     [ 2 ]            host to device; the other way round the transfer
 *      transfer      [   0   ][   1   ][  2  ]  comes first
 *
 * Fills start, end, staging, wire and the latencies in overhead; returns when the bus is free. */
static int64_t staged(const fy_card *card, fy_copy_work *w, int64_t begin, int64_t bus_free)
{
    bool up = w->dir == FY_WORD_h2d;
    int64_t in_free = up ? begin : fy_later(begin, bus_free), out_free = up ? fy_later(begin, bus_free) : begin;
    int64_t buffer_free[2] = {begin, begin}, bytes = (int64_t)w->bytes;
    fy_time *t = &w->time;
    t->start = t->end = begin;
    for (int64_t from = 0, i = 0; from < bytes; from += card->staging_chunk, i++) {
        int64_t to = bytes - from < card->staging_chunk ? bytes : from + card->staging_chunk;
        int64_t wire = part(from, to, card->bus_bandwidth), copy = part(from, to, card->staging_bandwidth);
        int64_t transfer = wire + card->bus_latency;
        in_free = fy_later(in_free, buffer_free[i % 2]) + (up ? copy : transfer);
        out_free = fy_later(out_free, in_free) + (up ? transfer : copy);
        buffer_free[i % 2] = t->end = out_free;
        t->wire += wire;
        t->staging += copy;
        t->overhead += card->bus_latency;
    }
    return up ? out_free : in_free;
}

/* Straight from or to page-locked memory, or within VRAM (`rate` is then what a copy there makes). */
static int64_t direct(const fy_card *card, fy_copy_work *w, int64_t begin, double rate)
{
    w->time.start = begin;
    w->time.wire = fy_ns_for((int64_t)w->bytes, rate);
    w->time.overhead += card->bus_latency;
    return w->time.end = begin + card->bus_latency + w->time.wire;
}

static void schedule(fy_sim *s, const fy_card *card, fy_copy_work *w)
{
    int64_t *engine = w->dir == FY_WORD_h2d ? &s->to_device : w->dir == FY_WORD_d2h ? &s->to_host : &s->compute;
    int64_t before = fy_clock_now();
    w->time = (fy_time){.overhead = card->call_overhead};
    fy_clock_spend(card->call_overhead);
    if (w->dir == FY_WORD_d2d) {
        w->route = FY_WORD_direct;
        w->was_async = true; /* within one card the host never waits, asked or not */
        *engine = direct(card, w, fy_later(fy_later(fy_clock_now(), s->tail), *engine), card->memory_bandwidth / 2);
    } else if (w->pinned) {
        w->route = FY_WORD_direct;
        w->was_async = w->async;
        *engine = direct(card, w, fy_later(fy_later(fy_clock_now(), s->tail), *engine), card->bus_bandwidth);
    } else {
        w->route = FY_WORD_staged;
        w->was_async = false; /* pageable memory: the host does the staging, whatever was asked */
        *engine = staged(card, w, fy_later(fy_clock_now(), s->tail), *engine);
    }
    s->tail = fy_later(s->tail, w->time.end);
    if (!w->was_async) fy_clock_at_least(w->time.end);
    w->time.held = fy_clock_now() - before;
}

/* Over the bus, on the first card's account; both cards have done their earlier work before. */
static void schedule_peers(fy_sim *from, fy_sim *to, const fy_card *card, fy_copy_work *w)
{
    int64_t before = fy_clock_now();
    w->time = (fy_time){.overhead = card->call_overhead};
    fy_clock_spend(card->call_overhead);
    w->route = FY_WORD_direct;
    w->was_async = true; /* the host has no part in it */
    int64_t begin =
        fy_later(fy_later(fy_clock_now(), fy_later(from->tail, to->tail)), fy_later(from->to_host, to->to_device));
    from->tail = to->tail = from->to_host = to->to_device = direct(card, w, begin, card->bus_bandwidth);
    w->time.held = fy_clock_now() - before;
}

/* Is each end where the direction says? */
static bool ends_fit(fy_dev *d, const fy_copy_work *w)
{
    const fy_sim *s = d->state;
    bool src = fy_sim_inside(s, w->src, w->bytes) == (w->dir != FY_WORD_h2d);
    bool dst = fy_sim_inside(s, w->dst, w->bytes) == (w->dir != FY_WORD_d2h);
    if (w->bytes == 0 || (src && dst)) return true;
    bool in_vram = w->dir != (src ? FY_WORD_d2h : FY_WORD_h2d);
    snprintf(d->fault, sizeof d->fault, "invalid argument: the %s of this copy is not %s",
             src ? "destination" : "source", in_vram ? "in VRAM" : "host memory");
    return false;
}

/* From d to another card. Both are locked, always in the same order. */
static bool copy_to_peer(fy_dev *d, fy_copy_work *w)
{
    fy_sim *from = d->state, *to = fy_sim_owner(w->dst, w->bytes);
    if (!fy_sim_inside(from, w->src, w->bytes) || !to || to == from)
        return snprintf(d->fault, sizeof d->fault, "invalid argument: not a copy between two cards"), false;
    if (!fy_sim_enter(d)) return false;
    fy_sim_leave(d);
    fy_sim *first = from < to ? from : to, *second = from < to ? to : from;
    pthread_mutex_lock(&first->lock);
    pthread_mutex_lock(&second->lock);
    atomic_store_explicit(&to->used, true, memory_order_relaxed);
    schedule_peers(from, to, d->card, w);
    memcpy(fy_sim_alias(to, w->dst), fy_sim_alias(from, w->src), w->bytes);
    pthread_mutex_unlock(&second->lock);
    pthread_mutex_unlock(&first->lock);
    return true;
}

bool fy_sim_copy(fy_dev *d, fy_copy_work *w)
{
    if (w->dir == FY_WORD_p2p) return copy_to_peer(d, w);
    fy_sim *s = d->state;
    if (!ends_fit(d, w) || !fy_sim_enter(d)) return false;
    schedule(s, d->card, w);
    if (w->bytes)
        memmove(w->dir == FY_WORD_d2h ? w->dst : fy_sim_alias(s, w->dst),
                w->dir == FY_WORD_h2d ? w->src : fy_sim_alias(s, w->src), w->bytes);
    fy_sim_leave(d);
    return true;
}
