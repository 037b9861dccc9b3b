/* clock.c: the session's clock, in ns since the start.
 *
 * Modelled time is a counter that only Ferry's own calls advance, so that a program takes the same time on every
 * machine. Once a real card is used it is CLOCK_MONOTONIC, and advancing modelled time has no effect. Threads share
 * one counter, except lanes (lane.h), which have their own. Thread-safe, lock-free. */
#include "clock.h"

#include <stdatomic.h>
#include <time.h>

static _Atomic int64_t modelled;
static _Thread_local _Atomic int64_t *own = &modelled; /* or a lane's */
static _Atomic int64_t started;                        /* CLOCK_MONOTONIC at fy_clock_measure; 0: modelled */

static int64_t monotonic(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void fy_clock_measure(void)
{
    int64_t unset = 0;
    atomic_compare_exchange_strong(&started, &unset, monotonic());
}

_Atomic int64_t *fy_clock_modelled(void) { return own; }
void fy_clock_use(_Atomic int64_t *clock) { own = clock ? clock : &modelled; }

int64_t fy_clock_now(void)
{
    int64_t start = atomic_load_explicit(&started, memory_order_relaxed);
    return start ? monotonic() - start : atomic_load_explicit(own, memory_order_relaxed);
}

void fy_clock_advance(int64_t ns)
{
    if (ns > 0) atomic_fetch_add_explicit(own, ns, memory_order_relaxed);
}

void fy_clock_at_least(int64_t t)
{
    int64_t now = atomic_load_explicit(own, memory_order_relaxed);
    while (now < t && !atomic_compare_exchange_weak(own, &now, t)) continue;
}
