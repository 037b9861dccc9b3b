/* cuda.c: the real card as a back end: a thin layer over the CUDA runtime (linked statically) and the kernels compiled
 * by nvcc from the same sources as the simulated card's; times are measured.
 *
 * It never synchronizes unless the program does. While a log is open each piece of work is bracketed by two marks
 * (CUDA events, cuda_clock.h), from which its start and end are read later (completion.h); without a log there are
 * none. Streams are non-blocking (no implicit order with the default stream), as in PyTorch. Thread-safe.
 *
 * The runtime's current device is per thread, and set only where it differs: code of the program's own that sets it
 * must set it back, as CUDA asks of libraries.
 *
 * A kernel whose assertion fails writes the id of its work to pinned memory, which the host can still read after the
 * context is lost. Other faults cannot be attributed: CUDA reports them at whatever call comes next.
 *
 * Part of libferry-cuda.so, with the kernels and the runtime (cuda_library.h), not of libferry.a. The tests compile
 * this file against a recording fake of the runtime (tests/fake_cuda). */
#include <stdio.h>

#include "clock.h"
#include "cuda_cards.h"
#include "cuda_clock.h"
#include "device.h"
#include "kernel_table.h"
#include "op.h"
#include "run_work.h"

static __thread int current = -1; /* the thread's current device; -1: not set by any call here */

__thread fy_cuda_launch_target fy_cuda_launching;

/* ---- opening ------------------------------------------------------------------------------------ */

/* The reason, from the result of cudaGetDeviceCount, or NULL. Without a driver it leaves the count unwritten. */
static const char *why_no_card(cudaError_t e, int cards)
{
    int driver = 0;
    cudaDriverGetVersion(&driver);
    cudaGetLastError();
    if (e == cudaErrorInsufficientDriver) return driver ? "the NVIDIA driver is too old" : "no NVIDIA driver was found";
    if (e == cudaErrorNoDevice || (e == cudaSuccess && cards == 0)) return "no NVIDIA card was found";
    if (e == cudaErrorOperatingSystem) return "no permission to use the card";
    return e == cudaSuccess ? NULL : cudaGetErrorString(e);
}

static bool set_device(fy_dev *d)
{
    if (current == d->number - 1) return true;
    current = -1;
    if (failed(d, cudaSetDevice(d->number - 1), "cudaSetDevice")) return false;
    current = d->number - 1;
    return true;
}

static void cuda_close(fy_dev *d)
{
    cuda *c = d->state;
    if (!c) return;
    if (c->blame && set_device(d)) cudaDeviceSynchronize();
    for (int i = 1; i < FY_STREAMS; i++)
        if (c->streams[i]) cudaStreamDestroy(c->streams[i]);
    end_clock(c);
    if (c->blame) cudaFreeHost(c->blame);
    pthread_mutex_destroy(&c->lock);
    free(c);
    d->state = NULL;
    current = -1;
}

/* Makes the runtime load the kernels, and says why where that takes long. */
static bool load_kernels(fy_dev *d)
{
    struct cudaFuncAttributes a;
    const cuda *c = d->state;
    if (!has_machine_code(c->sm))
        fprintf(stderr,
                "ferry: this build has no machine code for %s, which is sm_%d: its driver compiles each kernel at its "
                "first use, and keeps it in ~/.nv/ComputeCache. Building Ferry on this machine makes it needless\n",
                d->card_name, c->sm);
    return !failed(d, cudaFuncGetAttributes(&a, fy_cuda_kernels().any), "cudaFuncGetAttributes");
}

/* ---- what marks add ---- */

enum { TRIES = 15, FILLS = 16, FILLED = 64 << 20 };

static int by_size(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Queues fills, which take a while, and behind them marks with an empty kernel between each two. False: the card got to
 * the first mark before all were queued, so that its stream was idle; or something failed. */
static bool queue_marks(cudaStream_t s, cudaEvent_t *marks, char *room)
{
    fy_cuda_built built = fy_cuda_kernels();
    bool ok = true;
    for (int i = 0; ok && i < FILLS; i++) ok = cudaMemsetAsync(room, 0, FILLED, s) == cudaSuccess;
    for (int i = 0; ok && i <= TRIES; i++) {
        if (i > 0) built.nothing();
        ok = cudaEventRecord(marks[i], s) == cudaSuccess;
    }
    bool busy = ok && cudaGetLastError() == cudaSuccess && cudaEventQuery(marks[0]) == cudaErrorNotReady;
    return cudaStreamSynchronize(s) == cudaSuccess && busy;
}

/* ns between two marks around an empty kernel, where all is queued: the one in the middle. 0: not known. */
static int64_t distance_of_marks(cudaStream_t s)
{
    cudaEvent_t marks[TRIES + 1] = {0};
    float ms[TRIES] = {0};
    void *room = NULL;
    bool ok = cudaMalloc(&room, FILLED) == cudaSuccess;
    for (int i = 0; ok && i <= TRIES; i++) ok = cudaEventCreate(&marks[i]) == cudaSuccess;
    ok = ok && (queue_marks(s, marks, room) || queue_marks(s, marks, room)); /* the first loads the kernel */
    for (int i = 0; ok && i < TRIES; i++) ok = cudaEventElapsedTime(&ms[i], marks[i], marks[i + 1]) == cudaSuccess;
    for (int i = 0; i <= TRIES; i++)
        if (marks[i]) cudaEventDestroy(marks[i]);
    if (room) cudaFree(room);
    qsort(ms, TRIES, sizeof *ms, by_size);
    return ok ? (int64_t)((double)ms[TRIES / 2] * 1e6) : 0;
}

/* Only for a log, which is told the times between marks. What fails here is no fault: it will be told without. */
static void measure_marks(fy_dev *d)
{
    cudaStream_t s = NULL;
    if (!fy_log_is_on() || !fy_cuda_kernels().nothing) return;
    if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) == cudaSuccess) {
        fy_cuda_launching = (fy_cuda_launch_target){s, NULL};
        d->marks = distance_of_marks(s);
        cudaStreamDestroy(s);
    }
    cudaGetLastError();
    fy_fault.text[0] = 0;
}

/* Makes the card the thread's current one. Its context, which costs time and memory on the card, is created at its
 * first use. */
static bool enter(fy_dev *d)
{
    cuda *c = d->state;
    if (!set_device(d)) return false;
    pthread_mutex_lock(&c->lock);
    if (!c->blame && load_kernels(d)) {
        void *word = NULL;
        if (!failed(d, cudaHostAlloc(&word, sizeof *c->blame, cudaHostAllocPortable), "cudaHostAlloc")) {
            *(uint32_t *)word = 0;
            c->blame = word;
            measure_marks(d);
        }
    }
    bool ready = c->blame != NULL;
    pthread_mutex_unlock(&c->lock);
    return ready;
}

/* Counts cards and creates no context: that costs time and memory, and most of what asks for a card's name or the clock
 * never uses it. */
static bool cuda_open(fy_dev *d, char *why, size_t room)
{
    int cards = 0;
    choose_loading();
    cudaError_t e = cudaGetDeviceCount(&cards);
    const char *reason = why_no_card(e, cards);
    if (!reason && d->number > cards) reason = "no such card";
    if (reason) return snprintf(why, room, "%s", reason), false;
    cuda *c = d->state = calloc(1, sizeof *c);
    if (!c) return snprintf(why, room, "no memory"), false;
    pthread_mutex_init(&c->lock, NULL);
    return true;
}

/* Does this build have code for a card of architecture sm? */
static bool has_kernels(const char *name, int sm, char *why, size_t room)
{
    int oldest = fy_cuda_kernels().oldest;
    if (sm >= oldest) return true;
    return snprintf(why, room, "card too old for this build: %.60s is sm_%d, and the oldest kernels are for sm_%d",
                    name, sm, oldest),
           false;
}

/* A card without a single thread is one that the driver has lost, or a stand-in: launches would divide by it. */
static bool cuda_info(fy_dev *d, char *why, size_t room)
{
    struct cudaDeviceProp p;
    int cards = 0, can = 0, own = d->number - 1;
    if (failed(d, cudaGetDeviceProperties(&p, own), "cudaGetDeviceProperties"))
        return snprintf(why, room, "%s", fy_fault.text), false;
    if (p.multiProcessorCount <= 0 || p.maxThreadsPerMultiProcessor <= 0)
        return snprintf(why, room,
                        "%.60s says that it has %d multiprocessors of %d threads, and a card has at least 1 of 1: "
                        "restart its driver, or hide it by CUDA_VISIBLE_DEVICES",
                        p.name, p.multiProcessorCount, p.maxThreadsPerMultiProcessor),
               false;
    ((cuda *)d->state)->sm = p.major * 10 + p.minor;
    if (!has_kernels(p.name, p.major * 10 + p.minor, why, room)) return false;
    snprintf(d->card_name, sizeof d->card_name, "%.120s", p.name);
    d->capacity = (int64_t)p.totalGlobalMem;
    d->threads = (int64_t)p.multiProcessorCount * p.maxThreadsPerMultiProcessor;

    d->peers = 0;
    if (cudaGetDeviceCount(&cards) != cudaSuccess) cards = 0;
    for (int i = 0; i < cards && i < 31; i++)
        if (i != own && cudaDeviceCanAccessPeer(&can, own, i) == cudaSuccess && can) d->peers |= (uint32_t)2 << i;
    cudaGetLastError(); /* clears it */
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------- */

static void *cuda_alloc(fy_dev *d, size_t bytes, fy_word mem, fy_time *t)
{
    void *p = NULL;
    bool pinned = mem == FY_WORD_pinned;
    *t = (fy_time){.start = fy_clock_now()};
    if (!enter(d)) return NULL;
    cudaError_t e = pinned ? cudaHostAlloc(&p, bytes, cudaHostAllocPortable) : cudaMalloc(&p, bytes);
    if (failed(d, e, pinned ? "cudaHostAlloc" : "cudaMalloc")) p = NULL;
    if (e == cudaErrorMemoryAllocation) fy_fault.text[0] = 0; /* out of memory is not a fault */
    t->end = fy_clock_now();
    t->held = t->overhead = t->end - t->start;
    return p;
}

/* cudaFree and cudaFreeHost wait for work that still uses the memory. */
static void cuda_release(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t)
{
    (void)bytes;
    *t = (fy_time){.start = fy_clock_now()};
    t->end = t->start;
    if (!p || !enter(d)) return;
    if (mem == FY_WORD_pinned) failed(d, cudaFreeHost(p), "cudaFreeHost");
    else failed(d, cudaFree(p), "cudaFree");
    t->end = fy_clock_now();
    t->held = t->overhead = t->end - t->start;
}

/* ---- streams and points ------------------------------------------------------------------------- */

static bool stream_of(fy_dev *d, int number, cudaStream_t *s)
{
    cuda *c = d->state;
    bool ok = true;
    pthread_mutex_lock(&c->lock);
    if (number > 0 && !c->streams[number])
        ok = !failed(d, cudaStreamCreateWithFlags(&c->streams[number], cudaStreamNonBlocking), "cudaStreamCreate");
    *s = c->streams[number];
    pthread_mutex_unlock(&c->lock);
    return ok;
}

static cudaEvent_t event_at(fy_dev *d, const mark *m)
{
    cuda *c = d->state;
    pthread_mutex_lock(&c->lock);
    cudaEvent_t event = m->event;
    pthread_mutex_unlock(&c->lock);
    return event;
}

static bool cuda_record(fy_dev *d, int stream, fy_point *p)
{
    cudaStream_t s;
    mark *m = p->native;
    if (stream < 0) {
        drop_mark(d, m);
        p->native = NULL;
        return true;
    }
    if (!enter(d) || !stream_of(d, stream, &s) || !(m = record_mark(d, m, NULL, s))) return false;
    *p = (fy_point){.stream = stream, .when = -1, .native = m};
    return true;
}

/* A point without a mark is the current end of its stream. */
static bool host_waits(fy_dev *d, const fy_point *p)
{
    cudaStream_t s;
    if (!p) return !failed(d, cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    if (p->native) return !failed(d, cudaEventSynchronize(event_at(d, p->native)), "cudaEventSynchronize");
    return stream_of(d, p->stream, &s) && !failed(d, cudaStreamSynchronize(s), "cudaStreamSynchronize");
}

static bool stream_waits(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream)
{
    cudaStream_t s;
    if (!enter(waiter) || !stream_of(waiter, stream, &s)) return false;
    return !failed(d, cudaStreamWaitEvent(s, event_at(d, p->native), 0), "cudaStreamWaitEvent");
}

/* For all work queued on stream `of` of d so far. */
static bool stream_waits_for_stream(fy_dev *d, int of, fy_dev *waiter, int stream)
{
    fy_point now = {0};
    bool ok = cuda_record(d, of, &now) && stream_waits(d, &now, waiter, stream);
    return cuda_record(d, -1, &now) && ok;
}

/* A stream that waits for a whole card never occurs; the host waits instead. */
static bool cuda_wait(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t)
{
    bool ok;
    *t = (fy_time){.start = fy_clock_now()};
    if (waiter && p && !p->native) ok = stream_waits_for_stream(d, p->stream, waiter, stream);
    else if (waiter && p) ok = stream_waits(d, p, waiter, stream);
    else ok = enter(d) && host_waits(d, p);
    t->end = fy_clock_now();
    t->held = t->end - t->start;
    return ok;
}

static bool is_over(fy_dev *d, cudaError_t e, const char *call)
{
    if (e == cudaErrorNotReady) return cudaGetLastError(), false;
    return !failed(d, e, call);
}

static bool cuda_done(fy_dev *d, const fy_point *p, int64_t *when)
{
    cudaStream_t s;
    mark *m = p->native;
    *when = -1;
    if (!enter(d)) return false;
    if (m && p->passed) return time_of(d, m, when);
    if (!m) return stream_of(d, p->stream, &s) && is_over(d, cudaStreamQuery(s), "cudaStreamQuery");
    return is_over(d, cudaEventQuery(event_at(d, m)), "cudaEventQuery") && time_of(d, m, when);
}

/* ---- work --------------------------------------------------------------------------------------- */

static const fy_time unknown = {.start = -1, .end = -1, .launched = -1};

/* Marks before and after a piece of work, read by completion.c. */
static bool mark_begin(fy_dev *d, fy_time *t, cudaStream_t s)
{
    mark *m = fy_log_is_on() ? record_mark(d, NULL, NULL, s) : NULL;
    t->begun = m;
    if (m) m->begins = true;
    return m || !fy_log_is_on();
}

static bool mark_end(fy_dev *d, fy_time *t, cudaStream_t s)
{
    return !t->begun || (t->ended = record_mark(d, NULL, t->begun, s));
}

/* The clocks of host and card are known to agree within the anchor's blur. */
static void note_launch(cuda *c, fy_time *t)
{
    const mark *m = t->begun;
    if (!m) return;
    int64_t now = fy_clock_now();
    t->launch = now - m->recorded;
    pthread_mutex_lock(&c->lock);
    t->launched = now + c->anchor->blur;
    pthread_mutex_unlock(&c->lock);
}

/* For work that failed, or whose times are known. */
static void drop_marks(fy_dev *d, fy_time *t)
{
    drop_mark(d, t->begun);
    drop_mark(d, t->ended);
    t->begun = t->ended = NULL;
}

/* Pinned memory is read or written asynchronously; pageable memory is read, or written, before the call returns. */
static bool copy(fy_dev *d, fy_copy_work *w, int64_t before)
{
    cudaStream_t s;
    fy_time *t = &w->time;
    bool within = w->dir == FY_WORD_d2d, waits = !within && (!w->async || (w->dir == FY_WORD_d2h && !w->pinned));
    enum cudaMemcpyKind kind = within                  ? cudaMemcpyDeviceToDevice
                               : w->dir == FY_WORD_h2d ? cudaMemcpyHostToDevice
                                                       : cudaMemcpyDeviceToHost;
    w->was_async = within || (w->async && w->pinned);
    w->route = w->pinned || within ? FY_WORD_direct : FY_WORD_staged;
    if (!stream_of(d, w->stream, &s) || !mark_begin(d, t, s)) return false;
    if (failed(d, cudaMemcpyAsync(w->dst, w->src, w->bytes, kind, s), "cudaMemcpyAsync")) return false;
    if (!mark_end(d, t, s)) return false;
    if (!waits) return true;

    if (failed(d, cudaStreamSynchronize(s), "cudaStreamSynchronize")) return false;
    t->start = before;
    t->end = fy_clock_now();
    bool ok = !t->ended || (time_of(d, t->ended, &t->end) && time_of(d, t->begun, &t->start));
    t->wire = t->end - t->start;
    drop_marks(d, t);
    return ok;
}

/* Without peer access CUDA copies through the host. */
static bool use_peer(fy_dev *d, int number)
{
    cuda *c = d->state;
    uint32_t bit = (uint32_t)1 << number;
    pthread_mutex_lock(&c->lock);
    bool asks = (d->peers & ~c->peers_on & bit) != 0;
    cudaError_t e = asks ? cudaDeviceEnablePeerAccess(number - 1, 0) : cudaSuccess;
    c->peers_on |= bit;
    pthread_mutex_unlock(&c->lock);
    if (e == cudaErrorPeerAccessAlreadyEnabled) return cudaGetLastError(), true;
    return !failed(d, e, "cudaDeviceEnablePeerAccess");
}

/* Runs in d's stream, after the earlier work of the other card's stream and before its later work. */
static bool copy_to_peer(fy_dev *d, fy_copy_work *w)
{
    struct cudaPointerAttributes where;
    cudaStream_t s;
    if (failed(d, cudaPointerGetAttributes(&where, w->dst), "cudaPointerGetAttributes")) return false;
    fy_dev *to = fy_dev_at(where.device + 1);
    if (!to || to == d)
        return snprintf(fy_fault.text, sizeof fy_fault.text, "invalid argument: not a copy between two cards"), false;
    w->was_async = true; /* never blocks the host, whatever was asked for */
    w->route = d->peers >> to->number & 1 ? FY_WORD_direct : FY_WORD_host;
    if (!use_peer(d, to->number) || !stream_of(d, w->stream, &s)) return false;

    if (!stream_waits_for_stream(to, w->to_stream, d, w->stream) || !enter(d)) return false;
    if (!mark_begin(d, &w->time, s)) return false;
    cudaError_t e = cudaMemcpyPeerAsync(w->dst, to->number - 1, w->src, d->number - 1, w->bytes, s);
    if (failed(d, e, "cudaMemcpyPeerAsync") || !mark_end(d, &w->time, s)) return false;
    return stream_waits_for_stream(d, w->stream, to, w->to_stream);
}

/* Ferry's own work: not logged. */
static bool fill(fy_dev *d, fy_copy_work *w)
{
    cudaStream_t s;
    w->was_async = true;
    w->route = FY_WORD_direct;
    w->time = (fy_time){.start = fy_clock_now(), .end = fy_clock_now()};
    return enter(d) && stream_of(d, w->stream, &s) &&
           !failed(d, cudaMemsetAsync(w->dst, w->fill_byte, w->bytes, s), "cudaMemsetAsync");
}

static bool cuda_copy(fy_dev *d, fy_copy_work *w)
{
    int64_t before = fy_clock_now();
    if (!w->src) return fill(d, w);
    w->time = unknown;
    bool ok = enter(d) && (w->dir == FY_WORD_p2p ? copy_to_peer(d, w) : copy(d, w, before));
    if (!ok) drop_marks(d, &w->time);
    w->time.held = fy_clock_now() - before;
    return ok;
}

/* Serialized per card: an op of two launches (kernels/reduce.h) passes data through scratch memory of its stream. */
static bool launch(fy_dev *d, const fy_kernel *k, fy_run_work *w)
{
    cudaStream_t s;
    cuda *c = d->state;
    if (!stream_of(d, w->stream, &s) || !mark_begin(d, &w->time, s)) return false;
    fy_cuda_launching = (fy_cuda_launch_target){s, c->blame};
    pthread_mutex_lock(&c->lock);
    k->launch(w);
    pthread_mutex_unlock(&c->lock);
    if (failed(d, cudaGetLastError(), w->kernel ? w->kernel : "a launch")) return false;
    note_launch(c, &w->time);
    return mark_end(d, &w->time, s);
}

static bool cuda_run(fy_dev *d, fy_run_work *w)
{
    int64_t before = fy_clock_now();
    const fy_kernel *k = fy_cuda_kernel(w->op);
    if (!k) return snprintf(fy_fault.text, sizeof fy_fault.text, "there is no kernel for op %d", w->op), false;
    w->time = unknown;
    bool ok = enter(d) && launch(d, k, w);
    if (!ok) drop_marks(d, &w->time);
    w->time.held = fy_clock_now() - before;
    return ok;
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
