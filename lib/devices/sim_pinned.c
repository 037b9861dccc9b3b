/* sim_pinned.c: page-locked host memory that queued copies of the simulated card are still to touch.
 *
 * A copy to the card reads it when it is done, so whoever rewrites it early spoils the copy. A copy home leaves
 * poison there at the call, so whoever reads early gets that. Between the two: a copy to the card that is still to
 * read what a later copy home poisons has it kept aside first. */
#include <string.h>

#include "event.h"
#include "sim.h"

static fy_task *first, *last; /* in order of issue, all cards' */

static bool goes_home(const fy_task *t) { return t->copy.dir == FY_WORD_d2h; }
static char *host_side(const fy_task *t) { return goes_home(t) ? t->copy.dst : (char *)(uintptr_t)t->copy.src; }

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

/* The first copy home that was issued before `end` and touches these bytes, or has all of them. */
static fy_task *brings(const fy_task *end, bool (*how)(const fy_task *, const char *, size_t), const char *p, size_t n)
{
    fy_task *t = first;
    while (t != end && !(goes_home(t) && how(t, p, n))) t = t->pinned_next;
    return t != end ? t : NULL;
}

/* Make a copy to the card safe from poison in these bytes. What an earlier copy home will bring is not yet to be
 * kept; where that is a part of what is read, nothing can be done: false. */
static bool save_reader(fy_task *t, char *p, size_t bytes)
{
    char *own = host_side(t), *end = own + t->copy.bytes;
    char *from = own > p ? own : p, *to = end < p + bytes ? end : p + bytes;
    if (goes_home(t) || t->side || !touches(t, p, bytes) || brings(t, covers, from, (size_t)(to - from))) return true;
    return !brings(t, touches, own, t->copy.bytes) && fy_sim_task_keep(t);
}

static void poison(char *p, size_t bytes)
{
    for (fy_task *t = first; t; t = t->pinned_next)
        if (!save_reader(t, p, bytes)) return;
    memset(p, FY_SIM_POISON, bytes);
}

/* Poison, unless that is what is there. */
static void poison_new(const fy_task *t)
{
    if (!brings(NULL, covers, t->copy.dst, t->copy.bytes)) poison(t->copy.dst, t->copy.bytes);
}

void fy_sim_pinned_add(fy_task *t)
{
    if (goes_home(t)) poison_new(t);
    t->pinned_was = last;
    t->is_pinned = true;
    *(last ? &last->pinned_next : &first) = t;
    last = t;
}

/* What has come home is not to be seen where a later copy will overwrite it. */
static void poison_again(const fy_task *done)
{
    const char *from = host_side(done), *to = from + done->copy.bytes;
    for (fy_task *t = done->pinned_next; t; t = t->pinned_next) {
        char *own = host_side(t), *end = own + t->copy.bytes;
        if (!goes_home(t) || !touches(t, from, done->copy.bytes)) continue;
        if (own < from) own += from - own;
        poison(own, (size_t)((end < to ? end : to) - own));
    }
}

void fy_sim_pinned_drop(fy_task *t)
{
    fy_task *next = t->pinned_next;
    if (!t->is_pinned) return;
    *(t->pinned_was ? &t->pinned_was->pinned_next : &first) = next;
    *(next ? &next->pinned_was : &last) = t->pinned_was;
    t->is_pinned = false;
}

void fy_sim_pinned_done(fy_task *t)
{
    bool brought = t->is_pinned && goes_home(t);
    fy_sim_pinned_drop(t);
    if (brought) poison_again(t);
}

void fy_sim_pinned_end(const void *p, size_t bytes)
{
    for (fy_task *t = first; t;) {
        fy_task_place at = t->at;
        bool concerned = touches(t, p, bytes);
        if (concerned) fy_sim_do_until(fy_sim_card(at.card), at.stream, at.number);
        t = concerned ? first : t->pinned_next;
    }
}
