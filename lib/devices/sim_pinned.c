/* sim_pinned.c: pinned host memory that queued copies of the simulated card will access.
 *
 * A host-to-device copy reads its source when it executes, so writing there early corrupts the copy. A device-to-host
 * copy poisons its destination at the call, so reading there early yields poison. Where both meet, a queued
 * host-to-device copy snapshots its source before a later device-to-host copy poisons it. */
#include <string.h>

#include "event.h"
#include "sim.h"

static fy_task *first, *last; /* of all cards, in issue order */

static bool is_d2h(const fy_task *t) { return t->copy.dir == FY_WORD_d2h; }
static char *host_side(const fy_task *t) { return is_d2h(t) ? t->copy.dst : (char *)(uintptr_t)t->copy.src; }

static bool touches(const fy_task *t, const char *p, size_t bytes)
{
    const char *own = host_side(t);
    return own < p + bytes && p < own + t->copy.bytes;
}

static bool covers(const fy_task *t, const char *p, size_t bytes)
{
    const char *own = host_side(t);
    return own <= p && p + bytes <= own + t->copy.bytes;
}

/* The first device-to-host copy issued before `end` that matches: touches, or covers, these bytes. */
static fy_task *find_d2h(const fy_task *end, bool (*matches)(const fy_task *, const char *, size_t), const char *p,
                         size_t n)
{
    fy_task *t = first;
    while (t != end && !(is_d2h(t) && matches(t, p, n))) t = t->pinned_next;
    return t != end ? t : NULL;
}

/* Protects a queued host-to-device copy from poison in these bytes, by a snapshot of its source. Not needed where an
 * earlier device-to-host copy will overwrite them all. False: impossible, one will overwrite a part of the source. */
static bool protect_reader(fy_task *t, char *p, size_t bytes)
{
    char *own = host_side(t), *end = own + t->copy.bytes;
    char *from = own > p ? own : p, *to = end < p + bytes ? end : p + bytes;
    if (is_d2h(t) || t->side || !touches(t, p, bytes) || find_d2h(t, covers, from, (size_t)(to - from))) return true;
    return !find_d2h(t, touches, own, t->copy.bytes) && fy_sim_task_snapshot(t);
}

static void poison(char *p, size_t bytes)
{
    for (fy_task *t = first; t; t = t->pinned_next)
        if (!protect_reader(t, p, bytes)) return;
    memset(p, FY_SIM_POISON, bytes);
}

void fy_sim_pinned_add(fy_task *t)
{
    /* bytes that a queued device-to-host copy will write are poisoned already */
    if (is_d2h(t) && !find_d2h(NULL, covers, t->copy.dst, t->copy.bytes)) poison(t->copy.dst, t->copy.bytes);
    t->pinned_was = last;
    t->is_pinned = true;
    *(last ? &last->pinned_next : &first) = t;
    last = t;
}

void fy_sim_pinned_drop(fy_task *t)
{
    fy_task *next = t->pinned_next;
    if (!t->is_pinned) return;
    *(t->pinned_was ? &t->pinned_was->pinned_next : &first) = next;
    *(next ? &next->pinned_was : &last) = t->pinned_was;
    t->is_pinned = false;
}

/* Where a later queued copy will overwrite what this one wrote, it must not be visible in between. */
void fy_sim_pinned_done(fy_task *done)
{
    bool wrote_host = done->is_pinned && is_d2h(done);
    fy_sim_pinned_drop(done);
    if (!wrote_host) return;

    const char *from = host_side(done), *to = from + done->copy.bytes;
    for (fy_task *t = done->pinned_next; t; t = t->pinned_next) {
        char *own = host_side(t), *end = own + t->copy.bytes;
        if (!is_d2h(t) || !touches(t, from, done->copy.bytes)) continue;
        if (own < from) own += from - own;
        poison(own, (size_t)((end < to ? end : to) - own));
    }
}

void fy_sim_pinned_end(const void *p, size_t bytes)
{
    for (fy_task *t = first; t;) {
        fy_task_point at = t->at;
        bool affected = touches(t, p, bytes);
        if (affected) fy_sim_run_until(fy_sim_card(at.card), at.stream, at.number);
        t = affected ? first : t->pinned_next;
    }
}
