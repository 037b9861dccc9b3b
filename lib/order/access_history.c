/* access_history.c: accesses by streams to a storage's bytes that may still be in flight. */
#include "access_history.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "byte_range.h"
#include "device.h"
#include "out_of_memory.h"
#include "run_work.h"
#include "vector_clock.h"

enum { CHUNK = 64, MAX_SAME_STREAM = 32 };

/* ---- the pool of histories ---- */

static fy_access_history *unused;

/* Histories are allocated in chunks, which are never freed, like those of storages. */
static fy_access_history *get_or_create(fy_access_history **h)
{
    if (*h) return *h;
    if (!unused) {
        fy_access_history *chunk = malloc(CHUNK * sizeof *chunk);
        if (!chunk) fy_out_of_memory("the accesses by streams");
        for (int i = 0; i < CHUNK; i++) {
            chunk[i].next = unused;
            unused = &chunk[i];
        }
    }
    fy_access_history *made = unused;
    unused = made->next;
    made->n = 0;
    made->room = FY_LOCAL_ACCESSES;
    made->list = made->local;
    __atomic_store_n(h, made, __ATOMIC_RELAXED);
    return made;
}

static void append(fy_access_history *s, const fy_prior_access *p)
{
    if (s->n == s->room) {
        bool is_local = s->list == s->local;
        fy_prior_access *list = realloc(is_local ? NULL : s->list, 2 * s->room * sizeof *list);
        if (!list) fy_out_of_memory("the accesses by streams"); /* dropping one could miss a race */
        if (is_local) memcpy(list, s->local, sizeof s->local);
        s->list = list;
        s->room *= 2;
    }
    s->list[s->n++] = *p;
}

/* ---- pruning ---- */

static bool is_over(const fy_prior_access *p) { return fy_order_reaches_locked(FY_HOST, p->agent, p->epoch); }

/* A range that is not exact (a view with gaps in several dimensions) is only known to cover the same tensor. */
static bool supersedes(const fy_prior_access *p, const fy_prior_access *earlier)
{
    if (!p->write && earlier->write) return false;
    bool same_tensor = p->tensor == earlier->tensor && !earlier->freed;
    if (!same_tensor && !fy_byte_range_covers(&p->bytes, &earlier->bytes)) return false;
    return fy_order_reaches_locked(p->agent, earlier->agent, earlier->epoch);
}

void fy_history_add(fy_access_history **h, const fy_prior_access *p)
{
    fy_access_history *history = get_or_create(h);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < history->n; i++) {
        const fy_prior_access *earlier = &history->list[i];
        if (supersedes(p, earlier) || is_over(earlier)) continue;
        if (kept != i) history->list[kept] = *earlier;
        kept++;
    }
    history->n = kept;
    append(history, p);
}

/* Newest first: an agent's epochs ascend, so its first older epoch ends the search. */
void fy_history_settle(fy_access_history *s, int agent, uint32_t epoch, uint64_t seq)
{
    bool keep = seq && !fy_order_reaches_locked(FY_HOST, agent, epoch);
    for (uint32_t i = s->n; i-- > 0;) {
        fy_prior_access *p = &s->list[i];
        if (p->freed || p->agent != agent || p->epoch > epoch) continue;
        if (p->epoch < epoch) return;
        p->seq = seq;
        if (keep) continue;
        memmove(p, p + 1, (s->n - i - 1) * sizeof *p);
        s->n--;
    }
}

/* ---- freed memory ---- */

/* Per device; byte ranges are modelled addresses here, not offsets in a storage. */
static fy_access_history freed[1 + FY_MOST_CARDS];
static _Atomic uint32_t freed_count[1 + FY_MOST_CARDS]; /* their lengths: nearly always 0, so read without the lock */

static void shift(fy_prior_access *p, int64_t by)
{
    p->bytes.first += by;
    p->bytes.end += by;
}

/* A stream's accesses to its own blocks matter only if another stream gets such a block. In a program that never
 * synchronizes they would pile up without limit, so the oldest is dropped. */
static void drop_oldest_same_stream(fy_access_history *f)
{
    uint32_t n = 0, oldest = 0;
    for (uint32_t i = f->n; i-- > 0;) {
        if (!f->list[i].same_stream) continue;
        n++;
        oldest = i;
    }
    if (n <= MAX_SAME_STREAM) return;
    memmove(f->list + oldest, f->list + oldest + 1, (f->n - oldest - 1) * sizeof *f->list);
    f->n--;
}

static void keep_freed(fy_access_history *f, const fy_prior_access *p)
{
    uint32_t kept = 0;
    if (!f->list) *f = (fy_access_history){.list = f->local, .room = FY_LOCAL_ACCESSES}; /* first use */
    for (uint32_t i = 0; i < f->n; i++) {
        const fy_prior_access *old = &f->list[i];
        bool same_bytes = p->bytes.first == old->bytes.first && p->bytes.end == old->bytes.end;
        bool same = p->agent == old->agent && p->epoch == old->epoch && p->write == old->write && same_bytes;
        if (same || supersedes(p, old) || is_over(old)) continue;
        if (kept != i) f->list[kept] = *old;
        kept++;
    }
    f->n = kept;
    append(f, p);
    if (p->same_stream) drop_oldest_same_stream(f);
}

/* Has one of these streams (bit i: stream i) already been ordered after it? */
static bool is_waited_for(const fy_prior_access *p, const fy_dev *d, uint64_t streams)
{
    for (int i = 0; i < FY_STREAMS && streams >> i; i++)
        if ((streams >> i & 1) && fy_order_reaches_locked(fy_agent_of(d, i), p->agent, p->epoch)) return true;
    return false;
}

/* Only device memory is reused while work may still access it: a pinned block waits until that work is over. */
void fy_history_free(fy_access_history **h, const fy_dev *d, uint64_t addr, int stream, uint64_t recorded)
{
    fy_access_history *history = *h;
    if (!history) return;
    fy_order_lock();
    for (uint32_t i = 0; i < history->n && d->number > 0; i++) {
        fy_prior_access p = history->list[i];
        if (is_over(&p) || is_waited_for(&p, d, recorded)) continue;
        p.same_stream = fy_order_reaches_locked(fy_agent_of(d, stream), p.agent, p.epoch);
        p.freed = true;
        shift(&p, (int64_t)addr);
        keep_freed(&freed[d->number], &p);
    }
    atomic_store_explicit(&freed_count[d->number], freed[d->number].n, memory_order_relaxed);
    *h = NULL;
    if (history->list != history->local) free(history->list);
    history->next = unused;
    unused = history;
    fy_order_unlock();
}

bool fy_history_is_over(const fy_access_history *h)
{
    bool over = true;
    fy_order_lock();
    for (uint32_t i = 0; i < h->n && over; i++) over = is_over(&h->list[i]);
    fy_order_unlock();
    return over;
}

/* Accesses inside the storage move to it; those that extend beyond it also stay for its neighbours. */
void fy_history_inherit(fy_access_history **h, const fy_dev *d, uint64_t addr, uint64_t bytes)
{
    fy_access_history *f = &freed[d->number];
    int64_t first = (int64_t)addr, end = first + (int64_t)bytes;
    uint32_t kept = 0;
    if (!atomic_load_explicit(&freed_count[d->number], memory_order_relaxed)) return;
    fy_order_lock();
    for (uint32_t i = 0; i < f->n; i++) {
        fy_prior_access p = f->list[i];
        if (is_over(&p)) continue;
        bool meets = p.bytes.first < end && p.bytes.end > first;
        if (!meets || p.bytes.first < first || p.bytes.end > end) f->list[kept++] = p;
        if (!meets) continue;
        shift(&p, -first);
        append(get_or_create(h), &p);
    }
    f->n = kept;
    atomic_store_explicit(&freed_count[d->number], kept, memory_order_relaxed);
    fy_order_unlock();
}
