/* access_history.h: what streams did with a storage's bytes and may still be doing.
 *
 * An access is forgotten when the host has waited for it, or when a later one stands for it: it comes after it,
 * covers its bytes, and writes (or both read). What is left when the storage dies stays with its addresses. */
#ifndef FERRY_ACCESS_HISTORY_H
#define FERRY_ACCESS_HISTORY_H

#include "byte_range.h"
#include "device.h"

typedef struct fy_prior_access {
    fy_byte_range bytes; /* within the storage; of the dead: modelled addresses */
    uint64_t seq;        /* of its event, and one more; 0: not told yet */
    const char *name;
    uint32_t id, epoch, tensor;
    uint16_t agent;
    bool write;
    bool dead;   /* done with an earlier tenant of the bytes */
    bool home;   /* and that in the order of the block's own stream */
    uint8_t bit; /* of fy_races */
} fy_prior_access;

enum { FY_FEW = 2 };

typedef struct fy_access_history {
    uint32_t n, room;
    fy_prior_access *list;          /* oldest first */
    struct fy_access_history *next; /* among those not in use */
    fy_prior_access few[FY_FEW];
} fy_access_history;

/* For race_detector.c, all with vector_clock.h's lock held. The first access makes a history. */
void fy_history_add(fy_access_history **h, const fy_prior_access *p); /* and drop what it stands for */
/* The accesses of one launch of an agent have an event with that seq and one more; those that the host has waited for
 * go. seq 0: the launch was not done, and all go. */
void fy_history_settle(fy_access_history *h, int agent, uint32_t epoch, uint64_t seq);

/* For the allocator, once for each storage of a card or of page-locked memory; addr, bytes: its modelled addresses.
 * leave: the storage dies and its bytes go back to blocks of `stream`; what may still be done there stays with the
 * card's addresses. recorded: bit i: stream i of the card was told of (fy_record_stream), and the bytes will not be
 * taken anew before it has got here: what comes before that leaves nothing.
 * inherit: a storage that has just got its address takes over what is there: the first use without an order is a race
 * of type reuse. Memory that goes back to the card itself leaves nothing if the host has waited for the card by
 * then (fy_order_wait_card), as the real calls do. Ferry's own fillings of fresh and freed memory are no accesses. */
bool fy_history_over(const fy_access_history *h); /* has the host waited for all of it? */
void fy_history_leave(fy_access_history **h, const fy_dev *d, uint64_t addr, int stream, uint64_t recorded);
void fy_history_inherit(fy_access_history **h, const fy_dev *d, uint64_t addr, uint64_t bytes);

#endif
