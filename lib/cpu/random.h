/* random.h: the generators: MT19937 on the host, a counter per GPU. Thread-safe. */
#ifndef FERRY_RANDOM_H
#define FERRY_RANDOM_H

#include <stdint.h>

typedef struct fy_philox {
    uint64_t seed, offset;
} fy_philox;
fy_philox fy_random_take(int device, uint64_t counters);         /* reserves counters of the GPU's generator */
void fy_random_give(int device, fy_philox p, uint64_t counters); /* returns them, unless others were reserved since */

/* A generator of a thread's own, on the host, in place of the session's: a sampler's, a loader's worker's. */
typedef struct fy_generator fy_generator;
fy_generator *fy_generator_make(uint64_t seed); /* NULL: out of memory */
void fy_generator_free(fy_generator *generator);
/* The thread draws from it from now on, and fy_manual_seed seeds it; NULL: the session's. Returns the one before. */
fy_generator *fy_generator_use(fy_generator *generator);
int64_t fy_generator_draw(void); /* 63 bits from the thread's generator: torch.empty((), dtype=torch.int64).random_() */

/* Sixteen uniform numbers (0 <= x < 1) become sixteen normal ones, to PyTorch's bit. */
void fy_sixteen_normal(float *x, float mean, float std);

#endif
