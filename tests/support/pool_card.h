/* pool_card.h: a card without memory for tests of the caching allocator. Its streams advance only when the test
 * advances them. */
#ifndef POOL_CARD_H
#define POOL_CARD_H

#include "caching_allocator.h"
#include "device.h"
#include "event.h"

enum { MIB = 1 << 20 };

typedef struct card {
    int64_t capacity, taken;
    int64_t now[FY_POOL_PLACES]; /* the progress of each stream */
    int64_t issued;
    int queries, waits, freed_for_room, freed_segments;
    bool broken;
    char holes[64]; /* segments in use; segment i is at (i + 1) GiB */
} card;

fy_pool *pool_on(card *c, fy_word mem);

#endif
