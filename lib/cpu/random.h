/* random.h: the generators: MT19937 on the host, a counter per GPU. Thread-safe. */
#ifndef FERRY_RANDOM_H
#define FERRY_RANDOM_H

#include <stdint.h>

typedef struct fy_philox {
    uint64_t seed, offset;
} fy_philox;
fy_philox fy_random_take(int device, uint64_t counters);         /* reserves counters of the GPU's generator */
void fy_random_give(int device, fy_philox p, uint64_t counters); /* returns them, unless others were reserved since */

#endif
