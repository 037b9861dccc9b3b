/* access_history.h: accesses by streams to a storage's bytes that may still be in flight.
 *
 * An access is dropped when the host has waited for it, or when a later one supersedes it: it is ordered after it,
 * covers its bytes, and writes (or both read). What is left when the storage is freed is kept by address. */
#ifndef FERRY_ACCESS_HISTORY_H
#define FERRY_ACCESS_HISTORY_H

#include "byte_range.h"
#include "device.h"

typedef struct fy_prior_access {
    fy_byte_range bytes; /* offsets in the storage; in freed memory: modelled addresses */
    uint64_t seq;        /* of its event, plus 1; 0: not logged yet */
    const char *name;
    uint32_t id, epoch, tensor;
    uint16_t agent;
    bool write;
    bool freed;       /* accessed a freed storage that had these bytes before */
    bool same_stream; /* freed, and ordered before the next work of the stream that owns the block */
    uint8_t bit;      /* of fy_races */
    uint8_t item;     /* of the work's list; 0 if it has none */
} fy_prior_access;

enum { FY_LOCAL_ACCESSES = 2 };

typedef struct fy_access_history {
    uint32_t n, room;
    fy_prior_access *list;          /* oldest first */
    struct fy_access_history *next; /* in the free list */
    fy_prior_access local[FY_LOCAL_ACCESSES];
} fy_access_history;

/* For race_detector.c, all with vector_clock.h's lock held. The first access allocates *h. */
void fy_history_add(fy_access_history **h, const fy_prior_access *p); /* and drop what it supersedes */
/* Sets seq (of the event, plus 1) in the accesses of one launch; those that the host has waited for are dropped.
 * seq 0: the launch failed, and all its accesses are dropped. */
void fy_history_settle(fy_access_history *h, int agent, uint32_t epoch, uint64_t seq);

/* For the allocator, once for each device or pinned storage; addr, bytes: its modelled address range.
 * free: the storage is freed and its block returns to `stream`; accesses that may be in flight are kept by address.
 * recorded: bit i: fy_record_stream named stream i of the card, so the block is not reused before that stream gets
 * here; accesses ordered before that are dropped.
 * inherit: a newly allocated storage takes over the accesses at its addresses: its first use that is not ordered after
 * them is a race of type reuse. Memory returned to the card (cudaFree) leaves none, provided that the host has waited
 * for the card by then (fy_order_wait_card). Filling fresh and freed memory with a pattern is not an access. */
bool fy_history_is_over(const fy_access_history *h); /* has the host waited for all of them? */
void fy_history_free(fy_access_history **h, const fy_dev *d, uint64_t addr, int stream, uint64_t recorded);
void fy_history_inherit(fy_access_history **h, const fy_dev *d, uint64_t addr, uint64_t bytes);

#endif
