/* cuda_clock.h: part of cuda.c: marks (recorded CUDA events), and when the card reached them on the session's clock.
 *
 * CUDA only reports the time between two events, as a float in milliseconds: accurate to a microsecond for a few
 * seconds, not beyond. So one event, the anchor, has a known time, and an event far from it becomes the next anchor.
 * The clocks of card and host drift apart, but a mark is reached after it was recorded and before it was seen to be
 * reached: where the computed time violates that, the anchor's time is corrected by the difference. */
#ifndef FERRY_CUDA_CLOCK_H
#define FERRY_CUDA_CLOCK_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

/* A recorded event: fy_point's `native`. */
typedef struct mark {
    cudaEvent_t event;
    int64_t recorded; /* ns, host clock */
    int64_t when;     /* ns when the card reached it; -1: unknown */
    struct mark *next;
} mark;

typedef struct cuda {
    pthread_mutex_t lock;             /* for all of this */
    cudaStream_t streams[FY_STREAMS]; /* created at first use; the default stream, 0, is NULL in CUDA too */
    mark *unused;                     /* free list */
    cudaEvent_t anchor;               /* complete; NULL: no time was needed yet */
    int64_t anchor_time;
    uint32_t peers_on; /* bit i: peer access to the device with number i is enabled */
    uint32_t *blame;   /* pinned: the work whose assertion failed, written by its kernel; NULL: card not used yet */
} cuda;

/* Is e an error? Then it sets fy_fault.text to the error and its call, and fy_fault.work to the work that failed, if
 * that is known; and clears the runtime's last error. */
static bool failed(fy_dev *d, cudaError_t e, const char *call)
{
    const cuda *c = d->state;
    if (e == cudaSuccess) return false;
    snprintf(fy_fault.text, sizeof fy_fault.text, "CUDA error: %s (%s, in %s)", cudaGetErrorString(e),
             cudaGetErrorName(e), call);
    fy_fault.work = c && c->blame ? __atomic_load_n(c->blame, __ATOMIC_RELAXED) : 0;
    cudaGetLastError();
    return true;
}

/* ---- the clock ------------------------------------------------------------------------------------ */

/* Sets the first anchor, in a new stream, so that it does not wait for other work. */
static bool start_clock(fy_dev *d)
{
    cuda *c = d->state;
    cudaStream_t s = NULL;
    if (c->anchor) return true;
    if (failed(d, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate")) return false;
    bool ok = !failed(d, cudaEventCreate(&c->anchor), "cudaEventCreate");
    int64_t before = fy_clock_now();
    ok = ok && !failed(d, cudaEventRecord(c->anchor, s), "cudaEventRecord") &&
         !failed(d, cudaEventSynchronize(c->anchor), "cudaEventSynchronize");
    c->anchor_time = before + (fy_clock_now() - before) / 2;
    cudaStreamDestroy(s);
    if (!ok && c->anchor) cudaEventDestroy(c->anchor);
    if (!ok) c->anchor = NULL;
    return ok;
}

/* The card reached m `ms` after the anchor. A float has 24 bits: from 1024 ms on it resolves 0.12 us at best. */
static void set_time(cuda *c, mark *m, double ms)
{
    int64_t computed = c->anchor_time + (int64_t)(ms * 1e6), now = fy_clock_now();
    m->when = computed < m->recorded ? m->recorded : computed > now ? now : computed;
    c->anchor_time += m->when - computed;
    if (ms < 1024) return;
    cudaEvent_t old = c->anchor;
    c->anchor = m->event;
    c->anchor_time = m->when;
    m->event = old; /* complete, too */
}

/* The time of a mark that has been reached. */
static bool time_of(fy_dev *d, mark *m, int64_t *when)
{
    cuda *c = d->state;
    float ms = 0;
    pthread_mutex_lock(&c->lock);
    bool known = m->when >= 0;
    bool ok = known || !failed(d, cudaEventElapsedTime(&ms, c->anchor, m->event), "cudaEventElapsedTime");
    if (ok && !known) set_time(c, m, (double)ms);
    *when = m->when;
    pthread_mutex_unlock(&c->lock);
    return ok;
}

/* ---- marks ---------------------------------------------------------------------------------------- */

/* An unused mark, or a new one; NULL: the card failed, or there is no memory. */
static mark *take_mark(fy_dev *d)
{
    cuda *c = d->state;
    pthread_mutex_lock(&c->lock);
    bool started = start_clock(d);
    mark *m = started ? c->unused : NULL;
    if (m) c->unused = m->next;
    pthread_mutex_unlock(&c->lock);
    if (m || !started) return m;

    m = calloc(1, sizeof *m);
    if (!m) snprintf(fy_fault.text, sizeof fy_fault.text, "out of host memory for an event");
    if (!m || !failed(d, cudaEventCreate(&m->event), "cudaEventCreate")) return m;
    free(m);
    return NULL;
}

static void drop_mark(fy_dev *d, mark *m)
{
    cuda *c = d->state;
    if (!m) return;
    pthread_mutex_lock(&c->lock);
    m->next = c->unused;
    c->unused = m;
    pthread_mutex_unlock(&c->lock);
}

/* Records `reuse`, or a new mark if NULL, in a stream; NULL: the card failed. */
static mark *record_mark(fy_dev *d, mark *reuse, cudaStream_t s)
{
    mark *m = reuse ? reuse : take_mark(d);
    if (!m) return NULL;
    m->recorded = fy_clock_now();
    m->when = -1;
    if (!failed(d, cudaEventRecord(m->event, s), "cudaEventRecord")) return m;
    if (!reuse) drop_mark(d, m);
    return NULL;
}

static void end_clock(cuda *c)
{
    for (mark *m; (m = c->unused);) {
        c->unused = m->next;
        cudaEventDestroy(m->event);
        free(m);
    }
    if (c->anchor) cudaEventDestroy(c->anchor);
}

#endif
