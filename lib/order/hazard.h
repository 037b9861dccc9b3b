/* hazard.h: accesses that nothing orders. Every work's reads and writes are held against those of earlier works on
 * the same bytes, before the work is done; an earlier one that the agent's clock (order.h) does not reach, where
 * either writes, is a hazard.
 *
 * What the host did is never the earlier one: whatever is issued later comes after it. So only accesses by streams
 * are remembered (seen.h), each with its storage. A storage that no stream has touched costs one test.
 *
 * A pair of works is told once. Of several earlier works only the last ones count: none is told of where a later one
 * stands for it, that comes after it, covers its bytes and conflicts with whatever it would conflict with. */
#ifndef FERRY_HAZARD_H
#define FERRY_HAZARD_H

#include "order.h"
#include "tensor.h"

/* Bytes of a storage: from the first to the last element of a view, holes included, except where holes repeat at an
 * even distance: then `run` bytes at every `step`-th from first on (columns of a matrix). Two reaches that are
 * said to meet may still miss each other, if views of three or more dimensions interleave. (reach.c) */
typedef struct fy_reach {
    int64_t first, end;
    int64_t step, run; /* step 0: no holes are known of */
    bool exact;        /* are all these bytes touched? */
} fy_reach;

fy_reach fy_reach_of(const fy_tensor *x); /* of a tensor with elements */
bool fy_reach_meet(const fy_reach *a, const fy_reach *b, int64_t *first, int64_t *bytes);
bool fy_reach_covers(const fy_reach *a, const fy_reach *b); /* is all of b for certain in a? */

typedef struct fy_access {
    const fy_tensor *tensor;
    int agent; /* who does it: of a copy between cards each end is its own card's */
    uint32_t epoch;
    bool write;
    uint8_t bit; /* of fy_races: 1 << input, or FY_RACE_OUT */
    fy_reach bytes;
} fy_access;

enum { FY_MOST_ACCESSES = FY_MAX_INPUTS + 1 };

/* A work that is about to be done, and what was found about it. */
typedef struct fy_deed {
    uint32_t id;
    int n, nfound;
    struct fy_found *found;
    fy_access access[FY_MOST_ACCESSES];
} fy_deed;

/* In this order: begin; read and write, what each agent does with the whole of x; check, before it is done: the
 * streams' clocks tick, hazards are looked for (races may be NULL), the accesses remembered; and in the end done,
 * when its event has a seq (hazard events are emitted), or failed, when there is none. */
static inline void fy_deed_begin(fy_deed *w, uint32_t id)
{
    w->id = id;
    w->n = w->nfound = 0;
    w->found = NULL;
}
static inline bool fy_is_seen(const fy_tensor *x) { return __atomic_load_n(&x->storage->seen, __ATOMIC_RELAXED); }
void fy_deed_add(fy_deed *w, int agent, const fy_tensor *x, bool write, uint8_t bit);
static inline void fy_deed_read(fy_deed *w, int agent, const fy_tensor *x, uint8_t bit)
{
    if (agent != FY_HOST || fy_is_seen(x)) fy_deed_add(w, agent, x, false, bit);
}
static inline void fy_deed_write(fy_deed *w, int agent, const fy_tensor *x)
{
    if (agent != FY_HOST || fy_is_seen(x)) fy_deed_add(w, agent, x, true, FY_RACE_OUT);
}
void fy_deed_check(fy_deed *w, fy_races *races);
void fy_deed_done(fy_deed *w, fy_site *at, uint64_t seq);
void fy_deed_failed(fy_deed *w);

/* An access that a host_read or host_write with that seq tells of: by the host, or, of an answer on a card, by
 * its current stream. It changes no clock. */
void fy_host_access(fy_site *at, const fy_tensor *x, bool write, uint64_t seq);

/* For the allocator, once for each storage of a card or of page-locked memory.
 * leave: s dies and its bytes go back to blocks of `stream`; what may still be done there stays with the card's
 * addresses. recorded: bit i: stream i of the card was told of (fy_record_stream), and the bytes will not be taken
 * anew before it has got here: what comes before that leaves nothing. Call it when s dies, s->addr still its own.
 * inherit: s, which has just got its address, takes over what is there: the first use without an order is a hazard
 * of type reuse. Memory that goes back to the card itself leaves nothing if the host has waited for the card by
 * then (fy_order_wait_card), as the real calls do. Ferry's own fillings of fresh and freed memory are no accesses;
 * alone: is all that was done with s over before the stream's next work? A filling then spoils nothing. */
bool fy_hazard_alone(const fy_storage *s, int stream);
bool fy_hazard_over(const fy_storage *s); /* has the host waited for all that was done with s? */
void fy_hazard_leave(fy_storage *s, int stream, uint64_t recorded);
void fy_hazard_inherit(fy_storage *s);

/* One hazard, from check to done. */
typedef struct fy_found {
    uint32_t id;          /* of the earlier work */
    int later;            /* which of access[] */
    fy_word type;         /* FY_WORD_race ... */
    bool written;         /* did the earlier one write? */
    bool home;            /* reuse: of a block of the very stream that did the earlier one */
    int agent;            /* which did it */
    uint64_t seq;         /* of its event, and one more; 0: not told yet */
    int64_t first, bytes; /* touched by both */
    const char *name;     /* of the tensor that the earlier one touched; NULL */
    uint32_t tensor;
} fy_found;

/* The call that would order them, with the program's own names, before the later access at `at` (NULL: unknown); valid
 * until the buffer goes. (remedy.c) */
const char *fy_remedy(const fy_found *f, const fy_access *later, const fy_site *at, char *buf, size_t room);

#endif
