/* access_history.h: what streams did with a storage's bytes and may still be doing, for race_detector.c. All with vector_clock.h's lock held.
 *
 * An access is forgotten when the host has waited for it, or when a later one stands for it: it comes after it,
 * covers its bytes, and writes (or both read). What is left when the storage dies stays with its addresses. */
#ifndef FERRY_SEEN_H
#define FERRY_SEEN_H

#include "race_detector.h"

typedef struct fy_past {
    fy_reach bytes; /* within the storage; of the dead: modelled addresses */
    uint64_t seq;   /* of its event, and one more; 0: not told yet */
    const char *name;
    uint32_t id, epoch, tensor;
    uint16_t agent;
    bool write;
    bool dead;   /* done with an earlier tenant of the bytes */
    bool home;   /* and that in the order of the block's own stream */
    uint8_t bit; /* of fy_races */
} fy_past;

enum { FY_FEW = 2 };

typedef struct fy_seen {
    uint32_t n, room;
    fy_past *list;        /* oldest first */
    struct fy_seen *next; /* among those not in use */
    fy_past few[FY_FEW];
} fy_seen;

void fy_seen_add(fy_storage *s, const fy_past *p); /* and drop what it stands for */
/* The accesses of one work's agent have an event with that seq and one more; those that the host has waited for go. */
void fy_seen_tell(fy_seen *s, int agent, uint32_t epoch, uint64_t seq);
void fy_seen_undo(fy_seen *s, int agent, uint32_t epoch);

#endif
