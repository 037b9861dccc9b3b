/* cuda_clock.h: part of cuda.c: marks (recorded CUDA events), and when the card reached them on the session's clock.
 *
 * CUDA only reports the time between two events, as a float in milliseconds: accurate to a microsecond for a few
 * seconds, not beyond. So one event, the anchor, has a known time, and a mark counts from the anchor of the moment at
 * which it was recorded, whatever becomes the anchor later; the mark that ends a piece of work counts from the one that
 * begins it. The clocks of card and host drift apart, but a mark is reached after it was recorded and before it was
 * seen to be reached: a computed time that violates that is moved, and its mark is then the next anchor, as is a mark
 * far from its own. */
#ifndef FERRY_CUDA_CLOCK_H
#define FERRY_CUDA_CLOCK_H

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.h"

typedef struct anchor {
    cudaEvent_t event; /* complete */
    int64_t when;      /* ns when the card reached it */
    int64_t blur;      /* ns by which that may be wrong */
    int users;         /* marks that count from it, and the clock; freed with the last */
} anchor;

/* A recorded event: fy_point's `native`. */
typedef struct mark {
    cudaEvent_t event;
    int64_t recorded;   /* ns, host clock */
    int64_t when;       /* ns when the card reached it; -1: unknown */
    anchor *from;       /* what it counts from; NULL: no longer needed, or it is the end of work */
    struct mark *begin; /* of the work that it ends; NULL: none */
    bool begins;        /* work: another mark counts from its event */
    struct mark *next;
} mark;

typedef struct cuda {
    pthread_mutex_t lock;             /* for all of this */
    cudaStream_t streams[FY_STREAMS]; /* created at first use; the default stream, 0, is NULL in CUDA too */
    mark *unused;                     /* free list */
    anchor *anchor;                   /* of the marks that are recorded now; NULL: no time was needed yet */
    int sm;                           /* the card's architecture: 90 */
    uint32_t peers_on;                /* bit i: peer access to the device with number i is enabled */
    uint32_t *blame; /* pinned: the work whose assertion failed, written by its kernel; NULL: card not used yet */
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

/* ---- the anchor ----------------------------------------------------------------------------------- */

static void let_go(anchor *a)
{
    if (!a || --a->users > 0) return;
    cudaEventDestroy(a->event);
    free(a);
}

/* Takes over the event. */
static bool set_anchor(cuda *c, cudaEvent_t event, int64_t when, int64_t blur)
{
    anchor *a = malloc(sizeof *a);
    if (!a) return false;
    *a = (anchor){.event = event, .when = when, .blur = blur, .users = 1};
    let_go(c->anchor);
    c->anchor = a;
    return true;
}

/* Sets the first anchor, in a new stream, so that it does not wait for other work. */
static bool start_clock(fy_dev *d)
{
    cuda *c = d->state;
    cudaStream_t s = NULL;
    cudaEvent_t event = NULL;
    if (c->anchor) return true;
    if (failed(d, cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking), "cudaStreamCreate")) return false;
    bool ok = !failed(d, cudaEventCreate(&event), "cudaEventCreate");
    int64_t before = fy_clock_now();
    ok = ok && !failed(d, cudaEventRecord(event, s), "cudaEventRecord") &&
         !failed(d, cudaEventSynchronize(event), "cudaEventSynchronize");
    int64_t half = (fy_clock_now() - before) / 2;
    cudaStreamDestroy(s);
    if (ok && !set_anchor(c, event, before + half, half)) {
        snprintf(fy_fault.text, sizeof fy_fault.text, "out of host memory for the clock");
        ok = false;
    }
    if (!ok && event) cudaEventDestroy(event);
    return ok;
}

/* The mark, which has been reached, is the next anchor; it gets a new event, which is complete, too. */
static void anchor_at(cuda *c, mark *m)
{
    cudaEvent_t fresh;
    if (cudaEventCreate(&fresh) != cudaSuccess) {
        cudaGetLastError();
        return;
    }
    if (set_anchor(c, m->event, m->when, c->anchor->blur)) m->event = fresh;
    else cudaEventDestroy(fresh);
}

/* ---- times ---------------------------------------------------------------------------------------- */

/* A float has 24 bits: from 1024 ms on it resolves 0.12 us at best. */
static const float farthest = 1024;

static bool time_from_anchor(fy_dev *d, mark *m)
{
    cuda *c = d->state;
    float ms = 0;
    if (failed(d, cudaEventElapsedTime(&ms, m->from->event, m->event), "cudaEventElapsedTime")) return false;
    int64_t computed = m->from->when + (int64_t)((double)ms * 1e6), now = fy_clock_now();
    m->when = computed < m->recorded ? m->recorded : computed > now ? now : computed;
    let_go(m->from);
    m->from = NULL;
    if (!m->begins && (m->when != computed || ms >= farthest)) anchor_at(c, m);
    return true;
}

/* The end of work, from its begin: their distance is what CUDA measured, wherever the anchor is. */
static bool time_from_begin(fy_dev *d, mark *m)
{
    cuda *c = d->state;
    mark *b = m->begin;
    float ms = 0;
    if (b->when < 0 && !time_from_anchor(d, b)) return false;
    if (failed(d, cudaEventElapsedTime(&ms, b->event, m->event), "cudaEventElapsedTime")) return false;
    int64_t took = (int64_t)((double)ms * 1e6), now = fy_clock_now(), late = b->when + took - now;
    if (late > 0) b->when = b->when - late < b->recorded ? b->recorded : b->when - late;
    m->when = b->when + took < now ? b->when + took : now;
    if (late > 0 || m->when - c->anchor->when >= (int64_t)farthest * 1000000) anchor_at(c, m);
    return true;
}

/* The time of a mark that has been reached. */
static bool time_of(fy_dev *d, mark *m, int64_t *when)
{
    cuda *c = d->state;
    pthread_mutex_lock(&c->lock);
    bool ok = m->when >= 0 || (m->begin ? time_from_begin(d, m) : time_from_anchor(d, m));
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
    let_go(m->from);
    m->from = NULL;
    m->next = c->unused;
    c->unused = m;
    pthread_mutex_unlock(&c->lock);
}

/* Records `reuse`, or a new mark if NULL, in a stream; begin: of the work that it ends, or NULL. NULL: the card
 * failed. */
static mark *record_mark(fy_dev *d, mark *reuse, mark *begin, cudaStream_t s)
{
    cuda *c = d->state;
    mark *m = reuse ? reuse : take_mark(d);
    if (!m) return NULL;
    pthread_mutex_lock(&c->lock);
    let_go(m->from);
    m->from = begin ? NULL : c->anchor;
    if (m->from) m->from->users++;
    m->begin = begin;
    m->begins = false;
    m->recorded = fy_clock_now();
    m->when = -1;
    pthread_mutex_unlock(&c->lock);
    if (!failed(d, cudaEventRecord(m->event, s), "cudaEventRecord")) return m;
    if (!reuse) drop_mark(d, m);
    return NULL;
}

static void end_clock(cuda *c)
{
    for (mark *m; (m = c->unused);) {
        c->unused = m->next;
        let_go(m->from);
        cudaEventDestroy(m->event);
        free(m);
    }
    let_go(c->anchor);
    c->anchor = NULL;
}

#endif
