/* sim.h: a simulated card, for the two files that make it: sim.c and sim_copy.c. */
#ifndef FERRY_SIM_H
#define FERRY_SIM_H

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>

#include "device.h"

typedef struct fy_sim {
    pthread_mutex_t lock;
    char *window, *alias;
    size_t bytes;
    _Atomic bool used; /* there is, or was, something in VRAM, or work */
    struct fy_ranges *holes;
    int64_t tail;                            /* when the work queued so far will have ended */
    int64_t to_device, to_host, compute;     /* when each engine is free */
} fy_sim;

bool fy_sim_enter(fy_dev *d); /* take the card's lock; false in a forked child, which has no card */
void fy_sim_leave(fy_dev *d);
fy_sim *fy_sim_owner(const void *p, size_t bytes); /* the card in whose VRAM all of it lies, or NULL */
bool fy_sim_copy(fy_dev *d, fy_copy_work *w);

static inline bool fy_sim_inside(const fy_sim *s, const void *p, size_t bytes)
{
    const char *at = p;
    return at >= s->window && at <= s->window + s->bytes && bytes <= (size_t)(s->window + s->bytes - at);
}

/* The address under which the simulator may touch what a device pointer names. */
static inline void *fy_sim_alias(const fy_sim *s, const void *p) { return s->alias + ((const char *)p - s->window); }

static inline int64_t fy_later(int64_t a, int64_t b) { return a > b ? a : b; }
static inline int64_t fy_ns_for(int64_t amount, double rate) { return llround((double)amount * 1e9 / rate); }

#endif
