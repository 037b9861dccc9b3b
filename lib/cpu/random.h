/* random.h: the generators. The host's is MT19937, each card's is a counter. */
#ifndef FERRY_RANDOM_H
#define FERRY_RANDOM_H

#include <stdint.h>

typedef struct fy_philox {
    uint64_t seed, offset;
} fy_philox;
fy_philox fy_random_take(int device, uint64_t counters);         /* advances the card's counter */
void fy_random_give(int device, fy_philox p, uint64_t counters); /* and back, if nobody has drawn since */

#endif
