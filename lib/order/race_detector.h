/* race_detector.h: accesses that nothing orders. Every work's reads and writes are held against those of earlier works
 * on the same bytes, before the work is done; an earlier one that the agent's clock (vector_clock.h) does not reach,
 * where either writes, is a data race.
 *
 * What the host did is never the earlier one: whatever is issued later comes after it. So only accesses by streams
 * are remembered (access_history.h), each with its storage. A storage that no stream has touched costs one test.
 *
 * A pair of works is told once. Of several earlier works only the last ones count: none is told of where a later one
 * stands for it, that comes after it, covers its bytes and conflicts with whatever it would conflict with. */
#ifndef FERRY_RACE_DETECTOR_H
#define FERRY_RACE_DETECTOR_H

#include "byte_range.h"
#include "event.h"
#include "run_work.h"

typedef struct fy_access {
    struct fy_access_history **history; /* of the storage */
    uint32_t storage, tensor;
    const char *name; /* the tensor's; NULL */
    int agent;        /* who does it: of a copy between cards each end is its own card's */
    uint32_t epoch;
    bool write;
    uint8_t bit; /* of fy_races: 1 << input, or FY_RACE_OUT */
    fy_byte_range bytes;
} fy_access;

enum { FY_MOST_ACCESSES = FY_MAX_INPUTS + 1 };

/* A work that is about to be done, and what was found about it. */
typedef struct fy_launch {
    uint32_t id;
    int n, nfound;
    struct fy_data_race *found;
    fy_access access[FY_MOST_ACCESSES];
} fy_launch;

/* In this order: begin; what each agent reads and writes, into access[] (fy_launch_tensor); check, before it is done:
 * the streams' clocks tick, data races are looked for (races may be NULL), the accesses remembered; and in the end
 * done, when its event has a seq (data_race events are emitted), or failed, when there is none. */
static inline void fy_launch_begin(fy_launch *w, uint32_t id)
{
    w->id = id;
    w->n = w->nfound = 0;
    w->found = NULL;
}
void fy_launch_check(fy_launch *w, fy_races *races);
void fy_launch_done(fy_launch *w, fy_site *at, uint64_t seq);
void fy_launch_failed(fy_launch *w);

/* An access that a host_read or host_write with that seq tells of: by the host, or, of an answer on a card, by
 * its current stream. It changes no clock. */
void fy_host_access(fy_site *at, const fy_access *a, uint64_t seq);

/* One data race, from check to done. */
typedef struct fy_data_race {
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
} fy_data_race;

/* The call that would order them, with the program's own names, before the later access at `at` (NULL: unknown); valid
 * until the buffer goes. (race_advice.c) */
const char *fy_race_advice(const fy_data_race *f, const fy_access *later, const fy_site *at, char *buf, size_t room);

#endif
