/* lock.h: a lock for a few instructions at a time, taken by every call: one atomic exchange where nobody
 * else holds it, half of what a mutex takes. Whoever waits lets others run. */
#ifndef FERRY_LOCK_H
#define FERRY_LOCK_H

#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

typedef struct fy_lock {
    atomic_bool held;
} fy_lock;

static inline void fy_lock_take(fy_lock *l)
{
    while (atomic_exchange_explicit(&l->held, true, memory_order_acquire)) sched_yield();
}

static inline void fy_lock_give(fy_lock *l) { atomic_store_explicit(&l->held, false, memory_order_release); }

#endif
