/* race_detector.h: data races. Before work is launched, its reads and writes are compared with earlier accesses to the
 * same bytes. It is a data race if either writes and nothing orders the two: the agent's clock (vector_clock.h) has not
 * reached the earlier access.
 *
 * A host access is never the earlier one, because the host issues everything that follows. So only accesses by streams
 * are kept (access_history.h), per storage; a storage that no stream has touched costs one test.
 *
 * Each pair of works is reported once, and an earlier access is not reported where a later one supersedes it: is
 * ordered after it, covers its bytes and conflicts with everything that it conflicts with. */
#ifndef FERRY_RACE_DETECTOR_H
#define FERRY_RACE_DETECTOR_H

#include "byte_range.h"
#include "event.h"
#include "run_work.h"

typedef struct fy_access {
    struct fy_access_history **history; /* of the storage */
    uint32_t storage, tensor;
    const char *name; /* the tensor's, or NULL */
    int agent;        /* who accesses it; each end of a copy between cards is its own card's */
    uint32_t epoch;
    bool write;
    uint8_t bit;  /* of fy_races: 1 << input, or FY_RACE_OUT */
    uint8_t item; /* of the work's list; 0 if it has none */
    fy_byte_range bytes;
} fy_access;

enum { FY_MOST_ACCESSES = FY_MAX_INPUTS + 1 };

/* One launch: its accesses, and the races found. */
typedef struct fy_launch {
    uint32_t id;
    int n, nfound;
    struct fy_data_race *found;
    fy_access *access; /* `own`, or the caller's: FY_MOST_ACCESSES of each item of a list */
    fy_access own[FY_MOST_ACCESSES];
} fy_launch;

/* Call in this order: begin; add each access to access[] (fy_launch_tensor); check, before the work is launched: ticks
 * the streams' clocks, finds races (races may be NULL; else one for each item), adds the accesses to the histories;
 * then done, with the seq of the work's event (emits data_race), or failed, if it has none. */
static inline void fy_launch_begin(fy_launch *w, uint32_t id)
{
    w->id = id;
    w->n = w->nfound = 0;
    w->found = NULL;
    w->access = w->own;
}
void fy_launch_check(fy_launch *w, fy_races *races);
void fy_launch_done(fy_launch *w, fy_site *at, uint64_t seq);
void fy_launch_failed(fy_launch *w);

/* An access logged as host_read or host_write `seq`: by the host or, for an answer on a card, by the card's current
 * stream. Ticks no clock. */
void fy_host_access(fy_site *at, const fy_access *a, uint64_t seq);

/* One data race, from check to done. */
typedef struct fy_data_race {
    uint32_t id;          /* of the earlier work */
    int later;            /* which of access[] */
    fy_word type;         /* FY_WORD_race ... */
    bool written;         /* did the earlier one write? */
    bool same_stream;     /* reuse: the stream that owned the freed block made the earlier access */
    int agent;            /* of the earlier one */
    uint64_t seq;         /* of its event, plus 1; 0: not logged yet */
    int64_t first, bytes; /* touched by both */
    const char *name;     /* of the tensor that the earlier one touched; NULL */
    uint32_t tensor;
} fy_data_race;

/* Writes into buf, and returns, the call that would order the two, with the program's own names; at: call site of the
 * later access, NULL if unknown. (race_advice.c) */
const char *fy_race_advice(const fy_data_race *f, const fy_access *later, const fy_site *at, char *buf, size_t room);

#endif
