/* cuda.c: the real card, thin, on the same table as the simulated one: static CUDA runtime, the kernels
 * that nvcc made from the same sources, measured times.
 *
 * Times come from CUDA events, as distances from an event whose host time is known; that anchor moves
 * forward at every use, since the distance is a float in milliseconds and loses microseconds after
 * some seconds. While a log is open a launch is waited for, so that its times can be recorded with
 * it; without a log it is not. Launches and copies use the default stream. One lock: calls take turns.
 *
 * Without nvcc (FERRY_NO_NVCC) this is a back end that never opens. The tests compile this file
 * against a recording fake of the runtime (tests/fake_cuda). */
#include <stdio.h>

#include "device.h"
#include "op.h"

#ifdef FERRY_NO_NVCC

static bool absent_open(fy_dev *d, char *why, size_t room)
{
    (void)d;
    snprintf(why, room, "built without nvcc");
    return false;
}

const fy_backend fy_backend_cuda = {.kind = "real", .open = absent_open};

#else

#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdlib.h>

enum { FRESH = 0xff, FREED = 0xf5 };

typedef struct cuda {
    pthread_mutex_t lock;
    cudaEvent_t anchor, start, stop; /* anchor: an event that has passed */
    int64_t anchor_time;             /* and when, on the host's clock */
} cuda;

/* Is e an error? Then d->fault says in which call. The runtime's own memory of it is cleared. */
static bool failed(fy_dev *d, cudaError_t e, const char *call)
{
    if (e == cudaSuccess) return false;
    snprintf(d->fault, sizeof d->fault, "CUDA error: %s (%s, in %s)", cudaGetErrorString(e), cudaGetErrorName(e), call);
    cudaGetLastError();
    return true;
}

/* ---- opening ------------------------------------------------------------------------------------ */

/* What the count of cards tells, in a few words. Without a driver the count is left unwritten. */
static const char *why_no_card(cudaError_t e, int cards)
{
    int driver = 0;
    cudaDriverGetVersion(&driver);
    cudaGetLastError();
    if (e == cudaErrorInsufficientDriver) return driver ? "driver too old" : "no driver";
    if (e == cudaErrorNoDevice || (e == cudaSuccess && cards == 0)) return "no card";
    if (e == cudaErrorOperatingSystem) return "no permission";
    return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

static bool make_events(fy_dev *d, cuda *c)
{
    if (failed(d, cudaEventCreate(&c->anchor), "cudaEventCreate")) return false;
    if (failed(d, cudaEventCreate(&c->start), "cudaEventCreate")) return false;
    if (failed(d, cudaEventCreate(&c->stop), "cudaEventCreate")) return false;
    if (failed(d, cudaEventRecord(c->anchor, 0), "cudaEventRecord")) return false;
    if (failed(d, cudaEventSynchronize(c->anchor), "cudaEventSynchronize")) return false;
    c->anchor_time = 0; /* the clock starts when the card has opened: now */
    return true;
}

static void cuda_close(fy_dev *d)
{
    cuda *c = d->state;
    if (!c) return;
    cudaDeviceSynchronize();
    if (c->anchor) cudaEventDestroy(c->anchor);
    if (c->start) cudaEventDestroy(c->start);
    if (c->stop) cudaEventDestroy(c->stop);
    pthread_mutex_destroy(&c->lock);
    free(c);
    d->state = NULL;
}

static bool cuda_open(fy_dev *d, char *why, size_t room)
{
    int cards = 0;
    cudaError_t e = cudaGetDeviceCount(&cards);
    const char *reason = why_no_card(e, cards);
    if (!reason && d->number > cards) reason = "no such card";
    if (reason) return snprintf(why, room, "%s", reason), false;
    cuda *c = d->state = calloc(1, sizeof *c);
    if (!c) return snprintf(why, room, "no memory"), false;
    pthread_mutex_init(&c->lock, NULL);
    if (!failed(d, cudaSetDevice(d->number - 1), "cudaSetDevice") && make_events(d, c)) return true;
    snprintf(why, room, "%s", d->fault);
    cuda_close(d);
    return false;
}

static void cuda_info(fy_dev *d)
{
    struct cudaDeviceProp p;
    if (failed(d, cudaGetDeviceProperties(&p, d->number - 1), "cudaGetDeviceProperties")) return;
    snprintf(d->card_name, sizeof d->card_name, "%.120s", p.name);
    d->capacity = (int64_t)p.totalGlobalMem;
}

/* The runtime's current card is per thread. */
static bool enter(fy_dev *d)
{
    if (failed(d, cudaSetDevice(d->number - 1), "cudaSetDevice")) return false;
    pthread_mutex_lock(&((cuda *)d->state)->lock);
    return true;
}

static bool leave(fy_dev *d, bool result)
{
    pthread_mutex_unlock(&((cuda *)d->state)->lock);
    return result;
}

/* ---- times -------------------------------------------------------------------------------------- */

/* When an event that has passed did so; it is the anchor from now on, and the old one is free. */
static bool time_of(fy_dev *d, cudaEvent_t *event, int64_t *t)
{
    cuda *c = d->state;
    float ms = 0;
    if (failed(d, cudaEventElapsedTime(&ms, c->anchor, *event), "cudaEventElapsedTime")) return false;
    cudaEvent_t passed = *event;
    *t = c->anchor_time += (int64_t)((double)ms * 1e6);
    *event = c->anchor;
    c->anchor = passed;
    return true;
}

/* Wait for the work between start and stop and fill its times, none of them in the future. */
static bool finish(fy_dev *d, fy_time *t)
{
    cuda *c = d->state;
    if (failed(d, cudaEventSynchronize(c->stop), "cudaEventSynchronize")) return false;
    int64_t now = fy_clock_now();
    if (!time_of(d, &c->start, &t->start) || !time_of(d, &c->stop, &t->end)) return false;
    if (t->end > now) {
        t->start -= t->end - now;
        t->end = c->anchor_time = now;
    }
    return true;
}

/* ---- the table ---------------------------------------------------------------------------------- */

static void *take(fy_dev *d, size_t bytes, fy_word mem)
{
    void *p = NULL;
    bool pinned = mem == FY_WORD_pinned;
    cudaError_t e = pinned ? cudaHostAlloc(&p, bytes, cudaHostAllocPortable) : cudaMalloc(&p, bytes);
    if (failed(d, e, pinned ? "cudaHostAlloc" : "cudaMalloc")) p = NULL;
    else if (!pinned && failed(d, cudaMemsetAsync(p, FRESH, bytes, 0), "cudaMemset")) cudaFree(p), p = NULL;
    if (e == cudaErrorMemoryAllocation) d->fault[0] = 0; /* full, and nothing else is wrong */
    return p;
}

static void *cuda_alloc(fy_dev *d, size_t bytes, fy_word mem, fy_time *t)
{
    int64_t before = fy_clock_now();
    if (!enter(d)) return NULL;
    void *p = take(d, bytes, mem);
    *t = (fy_time){.start = before, .end = fy_clock_now()};
    t->held = t->overhead = t->end - before;
    leave(d, true);
    return p;
}

/* The runtime waits for work that still uses it. */
static void cuda_release(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t)
{
    int64_t before = fy_clock_now();
    *t = (fy_time){.start = before, .end = before};
    if (!p || !enter(d)) return;
    if (mem == FY_WORD_pinned) {
        failed(d, cudaFreeHost(p), "cudaFreeHost");
    } else {
        failed(d, cudaMemsetAsync(p, FREED, bytes, 0), "cudaMemset");
        failed(d, cudaFree(p), "cudaFree");
    }
    t->end = fy_clock_now();
    t->held = t->overhead = t->end - before;
    leave(d, true);
}

/* Waited for, unless that was not asked and the host's side is page-locked. The time it then takes is waited
 * for while a log is open, as a launch's, and is not counted as the host's. */
static bool copy(fy_dev *d, fy_copy_work *w, int64_t before)
{
    cuda *c = d->state;
    enum cudaMemcpyKind kind = w->dir == FY_WORD_h2d   ? cudaMemcpyHostToDevice
                               : w->dir == FY_WORD_d2h ? cudaMemcpyDeviceToHost
                                                       : cudaMemcpyDeviceToDevice;
    bool timed = !w->was_async || fy_log_is_on();
    if (timed && failed(d, cudaEventRecord(c->start, 0), "cudaEventRecord")) return false;
    if (failed(d, cudaMemcpyAsync(w->dst, w->src, w->bytes, kind, 0), "cudaMemcpyAsync")) return false;
    w->time.end = fy_clock_now();
    w->time.held = w->time.end - before;
    if (!timed) return true;
    if (failed(d, cudaEventRecord(c->stop, 0), "cudaEventRecord")) return false;
    bool ok = finish(d, &w->time);
    if (!w->was_async) w->time.held = fy_clock_now() - before;
    return ok;
}

static bool cuda_copy(fy_dev *d, fy_copy_work *w)
{
    int64_t before = fy_clock_now();
    bool within = w->dir == FY_WORD_d2d || w->dir == FY_WORD_p2p;
    w->time = (fy_time){.start = before};
    w->was_async = w->async && w->pinned;
    w->route = w->pinned || within ? FY_WORD_direct : FY_WORD_staged;
    if (!enter(d)) return false;
    bool ok = copy(d, w, before);
    w->time.wire = w->time.end - w->time.start;
    return leave(d, ok);
}

static bool launch(fy_dev *d, const fy_kernel *k, fy_run_work *w)
{
    cuda *c = d->state;
    bool timed = fy_log_is_on();
    if (timed && failed(d, cudaEventRecord(c->start, 0), "cudaEventRecord")) return false;
    k->launch(w);
    if (failed(d, cudaGetLastError(), w->kernel ? w->kernel : fy_ops[w->op].name)) return false;
    w->time.end = fy_clock_now();
    w->time.held = w->time.end - w->time.start;
    if (!timed) return true;
    if (failed(d, cudaEventRecord(c->stop, 0), "cudaEventRecord")) return false;
    return finish(d, &w->time);
}

static bool cuda_run(fy_dev *d, fy_run_work *w)
{
    const fy_kernel *k = fy_cuda_kernel(w->op);
    if (!k) {
        snprintf(d->fault, sizeof d->fault, "there is no kernel for %s", fy_ops[w->op].name);
        return false;
    }
    if (!enter(d)) return false;
    w->time = (fy_time){.start = fy_clock_now()};
    return leave(d, launch(d, k, w));
}

static bool cuda_record(fy_dev *d, int stream, fy_point *p)
{
    cudaEvent_t event = p->native;
    if (!enter(d)) return false;
    if (stream < 0) {
        if (event) failed(d, cudaEventDestroy(event), "cudaEventDestroy");
        p->native = NULL;
        return leave(d, true);
    }
    if (!event && failed(d, cudaEventCreate(&event), "cudaEventCreate")) return leave(d, false);
    p->native = event;
    p->stream = stream;
    p->when = -1;
    return leave(d, !failed(d, cudaEventRecord(event, 0), "cudaEventRecord"));
}

static bool cuda_wait(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t)
{
    (void)waiter, (void)stream;
    *t = (fy_time){.start = fy_clock_now()};
    if (!enter(d)) return false;
    cudaError_t e = p ? cudaEventSynchronize(p->native) : cudaDeviceSynchronize();
    bool ok = !failed(d, e, p ? "cudaEventSynchronize" : "cudaDeviceSynchronize");
    t->end = fy_clock_now();
    t->held = t->end - t->start;
    return leave(d, ok);
}

static bool cuda_done(fy_dev *d, const fy_point *p, int64_t *when)
{
    *when = -1;
    if (!enter(d)) return false;
    cudaError_t e = cudaEventQuery(p->native);
    bool yes = e == cudaSuccess;
    if (e != cudaErrorNotReady) failed(d, e, "cudaEventQuery");
    return leave(d, yes);
}

const fy_backend fy_backend_cuda = {
    .kind = "real",
    .open = cuda_open,
    .close = cuda_close,
    .info = cuda_info,
    .alloc = cuda_alloc,
    .release = cuda_release,
    .copy = cuda_copy,
    .run = cuda_run,
    .record = cuda_record,
    .wait = cuda_wait,
    .done = cuda_done,
};

#endif
