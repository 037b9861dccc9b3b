/* lock.h: fork-safe locks. A forked child has one thread: a lock held by another thread at the fork would stay locked
 * forever, with inconsistent data behind it. So fork acquires all of these first (pthread_atfork), in any order: no
 * code takes a second lock or emits an event while it holds one.
 *
 * FY_LOCK is a spin lock that yields, for short critical sections in every call: one atomic exchange if uncontended,
 * half the cost of a mutex. FY_LONG_LOCK is a mutex. */
#ifndef FERRY_LOCK_H
#define FERRY_LOCK_H

#include <pthread.h>
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

#define FY_LOCK(name) \
    static fy_lock name; \
    FY_LOCK_WATCHED(name, fy_lock_take, fy_lock_give)
#define FY_LONG_LOCK(name) \
    static pthread_mutex_t name = PTHREAD_MUTEX_INITIALIZER; \
    FY_LOCK_WATCHED(name, pthread_mutex_lock, pthread_mutex_unlock)
#define FY_LOCK_WATCHED(name, take, give) \
    static void name##_take(void) { take(&name); } \
    static void name##_give(void) { give(&name); } \
    __attribute__((constructor(102))) static void name##_watch(void) \
    { \
        pthread_atfork(name##_take, name##_give, name##_give); \
    }

#endif
