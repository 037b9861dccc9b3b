/* pool_card.h: a card of numbers for tests of the caching allocator. Its streams stand still until they are told. */
#ifndef POOL_CARD_H
#define POOL_CARD_H

#include "caching_allocator.h"
#include "device.h"
#include "event.h"

enum { MIB = 1 << 20 };

typedef struct card {
    int64_t capacity, taken;
    int64_t now[FY_POOL_PLACES]; /* how far each stream has got */
    int64_t issued;
    int asked, waited, given_for_room, given;
    bool broken;
    char holes[64]; /* places for segments of any size, each 1 GiB apart */
} card;

fy_pool *pool_on(card *c, fy_word mem);

#endif
