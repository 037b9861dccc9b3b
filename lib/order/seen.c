/* seen.c: what streams did with a storage's bytes and may still be doing: remembered, forgotten, inherited. */
#include "seen.h"

#include <stdlib.h>

#include "out_of_memory.h"

enum { CHUNK = 64, MOST_HOME = 32 };

/* ---- places ---- */

static fy_seen *unused;

/* Kept for good, as slots of storages are. */
static void add_unused(void)
{
    fy_seen *chunk = malloc(CHUNK * sizeof *chunk);
    if (!chunk) fy_out_of_memory("the accesses by streams");
    for (int i = 0; i < CHUNK; i++) {
        chunk[i].next = unused;
        unused = &chunk[i];
    }
}

static fy_seen *seen_of(fy_storage *s)
{
    if (s->seen) return s->seen;
    if (!unused) add_unused();
    fy_seen *made = unused;
    unused = made->next;
    made->n = 0;
    made->room = FY_FEW;
    made->list = made->few;
    __atomic_store_n(&s->seen, made, __ATOMIC_RELAXED);
    return made;
}

static void give_back(fy_seen *s)
{
    if (s->list != s->few) free(s->list);
    s->next = unused;
    unused = s;
}

static void append(fy_seen *s, const fy_past *p)
{
    if (s->n == s->room) {
        bool few = s->list == s->few;
        fy_past *list = realloc(few ? NULL : s->list, 2 * s->room * sizeof *list);
        if (!list) fy_out_of_memory("the accesses by streams"); /* a hazard could be missed */
        if (few) memcpy(list, s->few, sizeof s->few);
        s->list = list;
        s->room *= 2;
    }
    s->list[s->n++] = *p;
}

/* ---- forgetting ---- */

static bool is_over(const fy_past *p) { return fy_order_reaches_locked(FY_HOST, p->agent, p->epoch); }

/* A view of several dimensions with holes is known to cover itself alone. */
static bool covers(const fy_past *p, const fy_past *earlier)
{
    return fy_reach_covers(&p->bytes, &earlier->bytes) || (p->tensor == earlier->tensor && !earlier->dead);
}

static bool stands_for(const fy_past *p, const fy_past *earlier)
{
    return (p->write || !earlier->write) && covers(p, earlier) &&
           fy_order_reaches_locked(p->agent, earlier->agent, earlier->epoch);
}

void fy_seen_add(fy_storage *s, const fy_past *p)
{
    fy_seen *seen = seen_of(s);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < seen->n; i++) {
        const fy_past *earlier = &seen->list[i];
        if (stands_for(p, earlier) || is_over(earlier)) continue;
        if (kept != i) seen->list[kept] = *earlier;
        kept++;
    }
    seen->n = kept;
    append(seen, p);
}

/* From the newest back as far as the work's accesses may lie; keep them or not. */
static void settle(fy_seen *s, int agent, uint32_t epoch, uint64_t seq, bool keep)
{
    for (uint32_t i = s->n; i-- > 0;) {
        fy_past *p = &s->list[i];
        if (p->dead || p->agent != agent || p->epoch > epoch) continue;
        if (p->epoch < epoch) return;
        p->seq = seq;
        if (keep) continue;
        memmove(p, p + 1, (s->n - i - 1) * sizeof *p);
        s->n--;
    }
}

void fy_seen_tell(fy_seen *s, int agent, uint32_t epoch, uint64_t seq)
{
    settle(s, agent, epoch, seq, !fy_order_reaches_locked(FY_HOST, agent, epoch));
}

void fy_seen_undo(fy_seen *s, int agent, uint32_t epoch) { settle(s, agent, epoch, 0, false); }

/* ---- the dead ---- */

/* By device; addresses in place of bytes of a storage. */
static fy_seen graves[1 + FY_MOST_CARDS];

static bool is_same(const fy_past *a, const fy_past *b)
{
    return a->agent == b->agent && a->epoch == b->epoch && a->write == b->write && a->bytes.first == b->bytes.first &&
           a->bytes.end == b->bytes.end;
}

static void shift(fy_past *p, int64_t by)
{
    p->bytes.first += by;
    p->bytes.end += by;
}

/* What one stream did in blocks of its own matters where another stream gets such a block. A program that never
 * waits would heap that up for good: the oldest is forgotten then. */
static void forget_oldest_home(fy_seen *grave)
{
    uint32_t homes = 0, oldest = 0;
    for (uint32_t i = grave->n; i-- > 0;) {
        if (!grave->list[i].home) continue;
        homes++;
        oldest = i;
    }
    if (homes <= MOST_HOME) return;
    memmove(grave->list + oldest, grave->list + oldest + 1, (grave->n - oldest - 1) * sizeof *grave->list);
    grave->n--;
}

static void bury(fy_seen *grave, const fy_past *p)
{
    uint32_t kept = 0;
    if (!grave->list) *grave = (fy_seen){.list = grave->few, .room = FY_FEW};
    for (uint32_t i = 0; i < grave->n; i++) {
        const fy_past *old = &grave->list[i];
        if (is_same(p, old) || stands_for(p, old) || is_over(old)) continue;
        if (kept != i) grave->list[kept] = *old;
        kept++;
    }
    grave->n = kept;
    append(grave, p);
    if (p->home) forget_oldest_home(grave);
}

bool fy_hazard_alone(const fy_storage *s, int stream)
{
    const fy_seen *seen = s->seen;
    bool alone = true;
    if (!seen) return true;
    fy_order_lock();
    for (uint32_t i = 0; i < seen->n && alone; i++)
        alone = fy_order_reaches_locked(fy_agent_of(s->dev, stream), seen->list[i].agent, seen->list[i].epoch);
    fy_order_unlock();
    return alone;
}

/* Is it over before one of these streams gets to where it stands? */
static bool is_waited_for(const fy_past *p, const fy_dev *d, uint64_t streams)
{
    for (int i = 0; i < FY_STREAMS && streams >> i; i++)
        if ((streams >> i & 1) && fy_order_reaches_locked(fy_agent_of(d, i), p->agent, p->epoch)) return true;
    return false;
}

/* Only a card's memory is taken anew while work in it may go on: page-locked memory waits for it. */
void fy_hazard_leave(fy_storage *s, int stream, uint64_t recorded)
{
    fy_seen *seen = s->seen;
    if (!seen) return;
    fy_order_lock();
    for (uint32_t i = 0; i < seen->n && s->dev->number > 0; i++) {
        fy_past p = seen->list[i];
        if (is_over(&p) || is_waited_for(&p, s->dev, recorded)) continue;
        p.home = fy_order_reaches_locked(fy_agent_of(s->dev, stream), p.agent, p.epoch);
        p.dead = true;
        shift(&p, (int64_t)s->addr);
        bury(&graves[s->dev->number], &p);
    }
    s->seen = NULL;
    give_back(seen);
    fy_order_unlock();
}

bool fy_hazard_over(const fy_storage *s)
{
    const fy_seen *seen = s->seen;
    bool over = true;
    if (!seen) return true;
    fy_order_lock();
    for (uint32_t i = 0; i < seen->n && over; i++) over = is_over(&seen->list[i]);
    fy_order_unlock();
    return over;
}

/* What lies within s moves to it; what reaches beyond stays for the others as well. */
void fy_hazard_inherit(fy_storage *s)
{
    fy_seen *grave = &graves[s->dev->number];
    int64_t first = (int64_t)s->addr, end = first + (int64_t)s->bytes;
    uint32_t kept = 0;
    if (!__atomic_load_n(&grave->n, __ATOMIC_RELAXED)) return;
    fy_order_lock();
    for (uint32_t i = 0; i < grave->n; i++) {
        fy_past p = grave->list[i];
        if (is_over(&p)) continue;
        bool meets = p.bytes.first < end && p.bytes.end > first;
        if (!meets || p.bytes.first < first || p.bytes.end > end) grave->list[kept++] = p;
        if (!meets) continue;
        shift(&p, -first);
        append(seen_of(s), &p);
    }
    __atomic_store_n(&grave->n, kept, __ATOMIC_RELAXED);
    fy_order_unlock();
}
