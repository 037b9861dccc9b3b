/* access_history.c: what streams did with a storage's bytes and may still be doing: remembered, forgotten, inherited. */
#include "access_history.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "byte_range.h"
#include "device.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "vector_clock.h"

enum { CHUNK = 64, MOST_HOME = 32 };

/* ---- places ---- */

static fy_access_history *unused;

/* Kept for good, as slots of storages are. */
static void add_unused(void)
{
    fy_access_history *chunk = malloc(CHUNK * sizeof *chunk);
    if (!chunk) fy_out_of_memory("the accesses by streams");
    for (int i = 0; i < CHUNK; i++) {
        chunk[i].next = unused;
        unused = &chunk[i];
    }
}

static fy_access_history *started(fy_access_history **h)
{
    if (*h) return *h;
    if (!unused) add_unused();
    fy_access_history *made = unused;
    unused = made->next;
    made->n = 0;
    made->room = FY_FEW;
    made->list = made->few;
    __atomic_store_n(h, made, __ATOMIC_RELAXED);
    return made;
}

static void give_back(fy_access_history *s)
{
    if (s->list != s->few) free(s->list);
    s->next = unused;
    unused = s;
}

static void append(fy_access_history *s, const fy_prior_access *p)
{
    if (s->n == s->room) {
        bool few = s->list == s->few;
        fy_prior_access *list = realloc(few ? NULL : s->list, 2 * s->room * sizeof *list);
        if (!list) fy_out_of_memory("the accesses by streams"); /* a race could be missed */
        if (few) memcpy(list, s->few, sizeof s->few);
        s->list = list;
        s->room *= 2;
    }
    s->list[s->n++] = *p;
}

/* ---- forgetting ---- */

static bool is_over(const fy_prior_access *p) { return fy_order_reaches_locked(FY_HOST, p->agent, p->epoch); }

/* A view of several dimensions with holes is known to cover itself alone. */
static bool covers(const fy_prior_access *p, const fy_prior_access *earlier)
{
    return fy_byte_range_covers(&p->bytes, &earlier->bytes) || (p->tensor == earlier->tensor && !earlier->dead);
}

static bool stands_for(const fy_prior_access *p, const fy_prior_access *earlier)
{
    return (p->write || !earlier->write) && covers(p, earlier) &&
           fy_order_reaches_locked(p->agent, earlier->agent, earlier->epoch);
}

void fy_history_add(fy_access_history **h, const fy_prior_access *p)
{
    fy_access_history *history = started(h);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < history->n; i++) {
        const fy_prior_access *earlier = &history->list[i];
        if (stands_for(p, earlier) || is_over(earlier)) continue;
        if (kept != i) history->list[kept] = *earlier;
        kept++;
    }
    history->n = kept;
    append(history, p);
}

/* From the newest back as far as the work's accesses may lie. */
void fy_history_settle(fy_access_history *s, int agent, uint32_t epoch, uint64_t seq)
{
    bool keep = seq && !fy_order_reaches_locked(FY_HOST, agent, epoch);
    for (uint32_t i = s->n; i-- > 0;) {
        fy_prior_access *p = &s->list[i];
        if (p->dead || p->agent != agent || p->epoch > epoch) continue;
        if (p->epoch < epoch) return;
        p->seq = seq;
        if (keep) continue;
        memmove(p, p + 1, (s->n - i - 1) * sizeof *p);
        s->n--;
    }
}

/* ---- freed memory ---- */

/* By device; addresses in place of bytes of a storage. */
static fy_access_history freed[1 + FY_MOST_CARDS];
static _Atomic uint32_t
    kept_freed[1 + FY_MOST_CARDS]; /* how many each holds: nearly always none, asked without the lock */

static bool is_same(const fy_prior_access *a, const fy_prior_access *b)
{
    return a->agent == b->agent && a->epoch == b->epoch && a->write == b->write && a->bytes.first == b->bytes.first &&
           a->bytes.end == b->bytes.end;
}

static void shift(fy_prior_access *p, int64_t by)
{
    p->bytes.first += by;
    p->bytes.end += by;
}

/* What one stream did in blocks of its own matters where another stream gets such a block. A program that never
 * waits would heap that up for good: the oldest is forgotten then. */
static void forget_oldest_home(fy_access_history *f)
{
    uint32_t homes = 0, oldest = 0;
    for (uint32_t i = f->n; i-- > 0;) {
        if (!f->list[i].home) continue;
        homes++;
        oldest = i;
    }
    if (homes <= MOST_HOME) return;
    memmove(f->list + oldest, f->list + oldest + 1, (f->n - oldest - 1) * sizeof *f->list);
    f->n--;
}

static void keep_freed(fy_access_history *f, const fy_prior_access *p)
{
    uint32_t kept = 0;
    if (!f->list) *f = (fy_access_history){.list = f->few, .room = FY_FEW};
    for (uint32_t i = 0; i < f->n; i++) {
        const fy_prior_access *old = &f->list[i];
        if (is_same(p, old) || stands_for(p, old) || is_over(old)) continue;
        if (kept != i) f->list[kept] = *old;
        kept++;
    }
    f->n = kept;
    append(f, p);
    if (p->home) forget_oldest_home(f);
}

/* Is it over before one of these streams gets to where it stands? */
static bool is_waited_for(const fy_prior_access *p, const fy_dev *d, uint64_t streams)
{
    for (int i = 0; i < FY_STREAMS && streams >> i; i++)
        if ((streams >> i & 1) && fy_order_reaches_locked(fy_agent_of(d, i), p->agent, p->epoch)) return true;
    return false;
}

/* Only a card's memory is taken anew while work in it may go on: page-locked memory waits for it. */
void fy_history_leave(fy_access_history **h, const fy_dev *d, uint64_t addr, int stream, uint64_t recorded)
{
    fy_access_history *history = *h;
    if (!history) return;
    fy_order_lock();
    for (uint32_t i = 0; i < history->n && d->number > 0; i++) {
        fy_prior_access p = history->list[i];
        if (is_over(&p) || is_waited_for(&p, d, recorded)) continue;
        p.home = fy_order_reaches_locked(fy_agent_of(d, stream), p.agent, p.epoch);
        p.dead = true;
        shift(&p, (int64_t)addr);
        keep_freed(&freed[d->number], &p);
    }
    atomic_store_explicit(&kept_freed[d->number], freed[d->number].n, memory_order_relaxed);
    *h = NULL;
    give_back(history);
    fy_order_unlock();
}

bool fy_history_over(const fy_access_history *h)
{
    bool over = true;
    fy_order_lock();
    for (uint32_t i = 0; i < h->n && over; i++) over = is_over(&h->list[i]);
    fy_order_unlock();
    return over;
}

/* What lies within the storage moves to it; what reaches beyond stays for the others as well. */
void fy_history_inherit(fy_access_history **h, const fy_dev *d, uint64_t addr, uint64_t bytes)
{
    fy_access_history *f = &freed[d->number];
    int64_t first = (int64_t)addr, end = first + (int64_t)bytes;
    uint32_t kept = 0;
    if (!atomic_load_explicit(&kept_freed[d->number], memory_order_relaxed)) return;
    fy_order_lock();
    for (uint32_t i = 0; i < f->n; i++) {
        fy_prior_access p = f->list[i];
        if (is_over(&p)) continue;
        bool meets = p.bytes.first < end && p.bytes.end > first;
        if (!meets || p.bytes.first < first || p.bytes.end > end) f->list[kept++] = p;
        if (!meets) continue;
        shift(&p, -first);
        append(started(h), &p);
    }
    f->n = kept;
    atomic_store_explicit(&kept_freed[d->number], kept, memory_order_relaxed);
    fy_order_unlock();
}
