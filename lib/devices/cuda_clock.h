/* cuda_clock.h: a part of cuda.c: places in the real card's streams, and when the card passed them.
 *
 * The card tells distances alone, from one CUDA event to another, as a float in milliseconds: exact to a
 * microsecond for some seconds, no longer. So one event, the anchor, has a known time, and an event that turns out
 * to lie far from it is the next anchor. The two machines' clocks also drift apart; no time is sent across to
 * mend that. A mark passes after it was put and before it was seen to have passed: where the distance says
 * otherwise, the anchor's time is wrong by the difference, and is moved. */
#ifndef FERRY_CUDA_CLOCK_H
#define FERRY_CUDA_CLOCK_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

/* A place in a stream: the native of a point. */
typedef struct mark {
    cudaEvent_t event;
    int64_t put;  /* when, by the host's clock */
    int64_t when; /* passed; -1: not known */
    struct mark *next;
} mark;

typedef struct cuda {
    pthread_mutex_t lock;             /* for all of this */
    cudaStream_t streams[FY_STREAMS]; /* made when first used; the default stream, 0, is NULL to CUDA too */
    mark *unused;
    cudaEvent_t anchor; /* has passed; NULL: no time was ever asked for */
    int64_t anchor_time;
    uint32_t peers_on; /* bit i: access to the card with number i was switched on */
    uint32_t *blame;   /* page-locked: where a kernel says whose assertion failed; NULL: the card was not used yet */
} cuda;

/* Is e an error? Then fy_fault.text says in which call, and fy_fault.work whose work it was where that work could say
 * so. The runtime's own memory of it is cleared. */
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

/* The first anchor, in a stream of its own, so that it waits for nobody's work. */
static bool drop_anchor(fy_dev *d, cudaStream_t s)
{
    cuda *c = d->state;
    int64_t before = fy_clock_now();
    if (failed(d, cudaEventRecord(c->anchor, s), "cudaEventRecord")) return false;
    if (failed(d, cudaEventSynchronize(c->anchor), "cudaEventSynchronize")) return false;
    c->anchor_time = before + (fy_clock_now() - before) / 2;
    return true;
}

static bool start_clock(fy_dev *d)
{
    cuda *c = d->state;
    cudaStream_t s = NULL;
    if (c->anchor) return true;
    if (failed(d, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate")) return false;
    bool ok = !failed(d, cudaEventCreate(&c->anchor), "cudaEventCreate") && drop_anchor(d, s);
    cudaStreamDestroy(s);
    if (!ok && c->anchor) cudaEventDestroy(c->anchor);
    if (!ok) c->anchor = NULL;
    return ok;
}

/* A mark lies `ms` behind the anchor. A float has 24 bits: from 1024 ms on less than ten are left for parts of one. */
static void set_time(cuda *c, mark *m, double ms)
{
    int64_t found = c->anchor_time + (int64_t)(ms * 1e6), now = fy_clock_now();
    m->when = found < m->put ? m->put : found > now ? now : found;
    c->anchor_time += m->when - found;
    if (ms < 1024) return;
    cudaEvent_t old = c->anchor;
    c->anchor = m->event;
    c->anchor_time = m->when;
    m->event = old; /* it has passed, too */
}

/* Of a mark that has passed. */
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

static mark *new_mark(fy_dev *d)
{
    mark *m = calloc(1, sizeof *m);
    if (!m) snprintf(fy_fault.text, sizeof fy_fault.text, "no memory for an event");
    if (!m || !failed(d, cudaEventCreate(&m->event), "cudaEventCreate")) return m;
    free(m);
    return NULL;
}

static mark *take_mark(fy_dev *d)
{
    cuda *c = d->state;
    pthread_mutex_lock(&c->lock);
    mark *m = start_clock(d) ? c->unused : NULL;
    bool make = !m && c->anchor;
    if (m) c->unused = m->next;
    pthread_mutex_unlock(&c->lock);
    return make ? new_mark(d) : m;
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

/* Put `again`, or a new mark, into a stream; NULL: the card failed. */
static mark *put_mark(fy_dev *d, mark *again, cudaStream_t s)
{
    mark *m = again ? again : take_mark(d);
    if (!m) return NULL;
    m->put = fy_clock_now();
    m->when = -1;
    if (!failed(d, cudaEventRecord(m->event, s), "cudaEventRecord")) return m;
    if (!again) drop_mark(d, m);
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
