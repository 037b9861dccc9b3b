/* hazard.h: accesses that nothing orders. Every work's reads and writes are held against those of earlier works on
 * the same bytes, before the work is done; an earlier one that the agent's clock (order.h) does not reach, where
 * either writes, is a hazard.
 *
 * What the host did is never the earlier one: whatever is issued later comes after it. So only accesses by streams
 * are remembered, each with its storage, until the host has waited for it or a later one stands for it: one that
 * comes after it, covers its bytes, and writes (or both read). A storage that no stream has touched costs one test.
 *
 * An access is the bytes from the first to the last element of a view, holes included, except where the holes repeat
 * at an even distance (columns of a matrix): those are told apart by their place within that distance. */
#ifndef FERRY_HAZARD_H
#define FERRY_HAZARD_H

#include "order.h"
#include "tensor.h"

/* Bytes of a storage. step: `run` bytes at every `step`-th from first on; 0: all of them. */
typedef struct fy_reach {
    int64_t first, end;
    int64_t step, run;
} fy_reach;

typedef struct fy_access {
    const fy_tensor *tensor;
    fy_reach bytes;
    int agent; /* who does it: of a copy between cards each end is its own card's */
    bool write;
    uint8_t bit; /* of fy_races: 1 << input, or FY_RACE_OUT */
} fy_access;

enum { FY_MOST_ACCESSES = FY_MAX_INPUTS + 1 };

/* A work that is about to be done, and what was found about it. Filled from zeros. */
typedef struct fy_deed {
    uint32_t id;
    int n, nfound;
    uint32_t epochs[FY_MOST_ACCESSES];
    fy_access access[FY_MOST_ACCESSES];
    struct fy_found {
        uint32_t storage, id; /* of the later access; of the earlier work */
        uint8_t later;        /* which of access[] */
        uint8_t type;         /* FY_WORD_race ... */
        bool written;         /* the earlier one wrote */
        int agent;            /* which did it */
        uint64_t seq;         /* of its event */
        int64_t first, bytes; /* touched by both */
        const char *name;     /* of the tensor that the earlier one touched; NULL */
        uint32_t tensor;
    } *found, few[4];
} fy_deed;

/* The whole of x, by an agent. The first forms cost one test for host memory that no stream has touched. */
void fy_deed_read(fy_deed *w, int agent, const fy_tensor *x, uint8_t bit);
void fy_deed_write(fy_deed *w, int agent, const fy_tensor *x);
void fy_deed_check(fy_deed *w, fy_races *races);     /* before it is done; races may be NULL */
void fy_deed_done(fy_deed *w, fy_site *at, uint64_t seq); /* its event has that seq: hazard events, and remember */
void fy_deed_failed(fy_deed *w);                     /* it was not done */

/* The host's own, at once: a host_read or host_write has that seq. */
void fy_host_access(fy_site *at, const fy_tensor *x, bool write, uint64_t seq);

/* For the allocator. leave: s dies and its bytes go back to blocks of `stream`; what other streams may still do
 * there stays with the card's addresses, for the next that gets them. recorded: bit i: stream i of the card was
 * waited for (fy_record_stream), and leaves nothing. To be called when the bytes may be taken anew, s->addr still
 * its own; for host memory as well, which leaves nothing. inherit: s, which has just got its address, takes over
 * what the dead left there; the first unordered use is a hazard of type reuse. The block's own junk fillings are
 * no accesses. */
void fy_hazard_leave(fy_storage *s, int stream, uint64_t recorded);
void fy_hazard_inherit(fy_storage *s);

#endif
