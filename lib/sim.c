/* sim.c: the simulated card, a back end whose VRAM, copy engines and clock are modelled and whose
 * kernels are the real ones of kernels/, run on the CPU.
 *
 * VRAM is reserved twice. Device pointers lie in the window, which nobody may touch: a program that
 * dereferences one is stopped and told why (guard.c). The memory itself is the alias, a fixed
 * distance away; only copies and kernels use it. Fresh VRAM is filled with one junk and freed VRAM
 * with another, as far as POISON_MOST, so that a large allocation eats no RAM.
 *
 * Work is done at the call; when it would have been done on a card is the timetable's business:
 * one stream in order, one engine for each direction of the bus, one for kernels. Copies of pageable
 * memory go through two page-locked buffers, the copy of one chunk beside the transfer of another.
 * One lock a card: calls of several threads take turns. */
#define _GNU_SOURCE 1 /* MAP_FIXED_NOREPLACE */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "device.h"
#include "op.h"

enum { GRANULE = 512, FRESH = 0xff, FREED = 0xf5, POINTS = 1024, PAGE = 65536, HOST_PAGE = 4096 };
static const size_t poison_most = (size_t)64 << 20;

typedef struct sim {
    pthread_mutex_t lock;
    char *window, *alias;
    size_t bytes;
    _Atomic bool used; /* there is, or was, something in VRAM, or work */
    struct fy_ranges *holes;
    int64_t tail;                        /* when the work queued so far will have ended */
    int64_t to_device, to_host, compute; /* when each engine is free */
    int64_t points[POINTS], recorded;    /* the last points and where they stand in time */
} sim;

/* For the guard's signal handler and for forks. One simulated card. */
static _Atomic(char *) guarded_from, guarded_to;
static sim *the_card;
static _Atomic bool forked; /* from a process that used the card */

bool fy_sim_owns(const void *p)
{
    return (const char *)p >= atomic_load(&guarded_from) && (const char *)p < atomic_load(&guarded_to);
}

static int64_t later(int64_t a, int64_t b) { return a > b ? a : b; }
static int64_t ns_for(int64_t amount, double rate) { return llround((double)amount * 1e9 / rate); }

/* ---- opening ------------------------------------------------------------------------------------ */

static char *reserve(size_t bytes, int protection, int sharing)
{
    void *p = mmap(NULL, bytes, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    madvise(p, bytes, MADV_DONTFORK); /* a child must not write into its parent's VRAM */
    return p;
}

/* In a child: the card stays with its parent if that has used it; else it is as new here too, but for the
 * addresses, which the fork took away. */
static void note_fork(void)
{
    sim *s = the_card;
    if (!s || atomic_load(&s->used)) {
        atomic_store(&forked, true);
        return;
    }
    int flags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    bool window = mmap(s->window, s->bytes, PROT_NONE, MAP_PRIVATE | flags, -1, 0) == s->window;
    bool alias = mmap(s->alias, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, -1, 0) == s->alias;
    if (!window || !alias) atomic_store(&forked, true);
    else {
        madvise(s->window, s->bytes, MADV_DONTFORK);
        madvise(s->alias, s->bytes, MADV_DONTFORK);
    }
}

static void sim_close(fy_dev *d)
{
    sim *s = d->state;
    if (!s) return;
    if (the_card == s) the_card = NULL;
    atomic_store(&guarded_to, NULL);
    if (s->window) munmap(s->window, s->bytes);
    if (s->alias) munmap(s->alias, s->bytes);
    fy_ranges_free(s->holes);
    pthread_mutex_destroy(&s->lock);
    free(s);
    d->state = NULL;
}

/* d->card and d->capacity say which card and how much VRAM. The alias is shared memory because pages
 * of that can be given back in parts (MADV_REMOVE). */
static bool sim_open(fy_dev *d, char *why, size_t room)
{
    sim *s = d->state = calloc(1, sizeof *s);
    if (!s) return snprintf(why, room, "no memory"), false;
    s->bytes = ((size_t)d->capacity + PAGE - 1) / PAGE * PAGE;
    pthread_mutex_init(&s->lock, NULL);
    s->window = reserve(s->bytes, PROT_NONE, MAP_PRIVATE);
    s->alias = reserve(s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    if (s->window) s->holes = fy_ranges_make((uint64_t)(uintptr_t)s->window, (uint64_t)d->capacity, GRANULE);
    if (!s->alias || !s->holes) {
        sim_close(d);
        snprintf(why, room, "cannot reserve %lld MiB of addresses", (long long)(d->capacity >> 20));
        return false;
    }
    atomic_store(&guarded_from, s->window);
    atomic_store(&guarded_to, s->window + s->bytes);
    the_card = s;
    pthread_atfork(NULL, NULL, note_fork);
    return true;
}

static void sim_info(fy_dev *d) { snprintf(d->card_name, sizeof d->card_name, "%s (simulated)", d->card->name); }

/* Take the card's lock; false in a forked child, which has no card. */
static bool enter(fy_dev *d)
{
    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        snprintf(d->fault, sizeof d->fault,
                 "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, start the "
                 "process anew (exec) instead of forking it");
        return false;
    }
    sim *s = d->state;
    atomic_store_explicit(&s->used, true, memory_order_relaxed);
    pthread_mutex_lock(&s->lock);
    return true;
}

static void leave(fy_dev *d) { pthread_mutex_unlock(&((sim *)d->state)->lock); }

/* ---- memory ------------------------------------------------------------------------------------- */

static bool inside(const sim *s, const void *p, size_t bytes)
{
    const char *at = p;
    return at >= s->window && at <= s->window + s->bytes && bytes <= (size_t)(s->window + s->bytes - at);
}

/* The address under which the simulator may touch what a device pointer names. */
static void *alias_of(const sim *s, const void *p) { return s->alias + ((const char *)p - s->window); }

static void *sim_alloc(fy_dev *d, size_t bytes, fy_time *t)
{
    sim *s = d->state;
    if (!enter(d)) return NULL;
    int64_t before = fy_clock_now();
    fy_clock_spend(d->card->call_overhead);
    void *p = (void *)(uintptr_t)fy_ranges_take(s->holes, bytes, NULL);
    d->fault[0] = 0;
    if (p) memset(alias_of(s, p), FRESH, bytes < poison_most ? bytes : poison_most);
    *t = (fy_time){.start = before, .end = fy_clock_now(), .overhead = d->card->call_overhead};
    t->held = t->end - before;
    leave(d);
    return p;
}

/* Junk over the front; whole pages behind it go back to the system. */
static void sim_release(fy_dev *d, void *p, size_t bytes)
{
    sim *s = d->state;
    if (!p || !enter(d)) return;
    char *at = alias_of(s, p), *end = at + bytes;
    memset(at, FREED, bytes < poison_most ? bytes : poison_most);
    if (bytes > poison_most) {
        size_t from = (size_t)(at + poison_most - s->alias + PAGE - 1) / PAGE * PAGE;
        size_t to = (size_t)(end - s->alias) / PAGE * PAGE;
        if (to > from) madvise(s->alias + from, to - from, MADV_REMOVE);
    }
    fy_ranges_give(s->holes, (uint64_t)(uintptr_t)p);
    leave(d);
}

/* Ordinary memory: the timetable alone treats it otherwise. */
static void *sim_pin(fy_dev *d, size_t bytes)
{
    if (!enter(d)) return NULL;
    fy_clock_spend(d->card->call_overhead);
    d->fault[0] = 0;
    void *p = aligned_alloc(HOST_PAGE, (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE);
    leave(d);
    return p;
}

static void sim_unpin(fy_dev *d, void *p)
{
    (void)d;
    free(p);
}

/* ---- the timetable of copies -------------------------------------------------------------------- */

/* When byte n has passed at `rate`. Chunks take differences of this, so that their sum is exact. */
static int64_t part(int64_t from, int64_t to, double rate) { return ns_for(to, rate) - ns_for(from, rate); }

/* A staged copy that begins at `begin`: two stages a chunk (into the buffer, out of the buffer) and
 * two buffers, so that chunk i+1 enters one while chunk i leaves the other:
 *
 *      memcpy   [ 0 ][ 1 ]     [ 2 ]            host to device; the other way round the transfer
 *      transfer      [   0   ][   1   ][  2  ]  comes first
 *
 * Fills start, end, staging, wire and the latencies in overhead; returns when the bus is free. */
static int64_t staged(const fy_card *card, fy_copy_work *w, int64_t begin, int64_t bus_free)
{
    bool up = w->dir == FY_WORD_h2d;
    int64_t in_free = up ? begin : later(begin, bus_free), out_free = up ? later(begin, bus_free) : begin;
    int64_t buffer_free[2] = {begin, begin}, bytes = (int64_t)w->bytes;
    fy_time *t = &w->time;
    t->start = t->end = begin;
    for (int64_t from = 0, i = 0; from < bytes; from += card->staging_chunk, i++) {
        int64_t to = bytes - from < card->staging_chunk ? bytes : from + card->staging_chunk;
        int64_t wire = part(from, to, card->bus_bandwidth), copy = part(from, to, card->staging_bandwidth);
        int64_t transfer = wire + card->bus_latency;
        in_free = later(in_free, buffer_free[i % 2]) + (up ? copy : transfer);
        out_free = later(out_free, in_free) + (up ? transfer : copy);
        buffer_free[i % 2] = t->end = out_free;
        t->wire += wire;
        t->staging += copy;
        t->overhead += card->bus_latency;
    }
    return up ? out_free : in_free;
}

/* Straight from or to page-locked memory, or within VRAM (`rate` is then what a copy there makes). */
static int64_t direct(const fy_card *card, fy_copy_work *w, int64_t begin, double rate)
{
    w->time.start = begin;
    w->time.wire = ns_for((int64_t)w->bytes, rate);
    w->time.overhead += card->bus_latency;
    return w->time.end = begin + card->bus_latency + w->time.wire;
}

static void schedule(sim *s, const fy_card *card, fy_copy_work *w)
{
    int64_t *engine = w->dir == FY_WORD_h2d ? &s->to_device : w->dir == FY_WORD_d2h ? &s->to_host : &s->compute;
    int64_t before = fy_clock_now();
    w->time = (fy_time){.overhead = card->call_overhead};
    fy_clock_spend(card->call_overhead);
    if (w->dir == FY_WORD_d2d) {
        w->route = FY_WORD_direct;
        w->was_async = true; /* within one card the host never waits, asked or not */
        *engine = direct(card, w, later(later(fy_clock_now(), s->tail), *engine), card->memory_bandwidth / 2);
    } else if (w->pinned) {
        w->route = FY_WORD_direct;
        w->was_async = w->async;
        *engine = direct(card, w, later(later(fy_clock_now(), s->tail), *engine), card->bus_bandwidth);
    } else {
        w->route = FY_WORD_staged;
        w->was_async = false; /* pageable memory: the host does the staging, whatever was asked */
        *engine = staged(card, w, later(fy_clock_now(), s->tail), *engine);
    }
    s->tail = later(s->tail, w->time.end);
    if (!w->was_async) fy_clock_at_least(w->time.end);
    w->time.held = fy_clock_now() - before;
}

/* Is each end where the direction says? */
static bool ends_fit(fy_dev *d, const fy_copy_work *w)
{
    const sim *s = d->state;
    bool src = inside(s, w->src, w->bytes) == (w->dir != FY_WORD_h2d);
    bool dst = inside(s, w->dst, w->bytes) == (w->dir != FY_WORD_d2h);
    if (w->bytes == 0 || (src && dst)) return true;
    bool in_vram = w->dir != (src ? FY_WORD_d2h : FY_WORD_h2d);
    snprintf(d->fault, sizeof d->fault, "invalid argument: the %s of this copy is not %s",
             src ? "destination" : "source", in_vram ? "in VRAM" : "host memory");
    return false;
}

static bool sim_copy(fy_dev *d, fy_copy_work *w)
{
    sim *s = d->state;
    if (!ends_fit(d, w) || !enter(d)) return false;
    schedule(s, d->card, w);
    if (w->bytes)
        memmove(w->dir == FY_WORD_d2h ? w->dst : alias_of(s, w->dst),
                w->dir == FY_WORD_h2d ? w->src : alias_of(s, w->src), w->bytes);
    leave(d);
    return true;
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/* Bytes from an operand's element 0 to the end of its last. */
static size_t extent(const fy_operand *o)
{
    int64_t last = 0;
    for (int i = 0; i < o->layout.ndim; i++) last += (o->layout.shape[i] - 1) * o->layout.strides[i];
    return (size_t)(last + 1) * fy_dtype_size(o->dtype);
}

/* Turn a device pointer into one that the kernel may use here; anything else is a fault. */
static bool map(fy_dev *d, const char *kernel, const char *role, int number, fy_operand *o)
{
    sim *s = d->state;
    if (o->layout.numel == 0) return true;
    if (!inside(s, o->data, extent(o))) {
        snprintf(d->fault, sizeof d->fault, "an illegal memory access was encountered: kernel %s was given %s as %s %d",
                 kernel, inside(s, o->data, 0) ? "more than VRAM holds" : "a host pointer", role, number);
        return false;
    }
    o->data = alias_of(s, o->data);
    return true;
}

static bool launch(fy_dev *d, const fy_kernel *k, fy_run_work *w)
{
    fy_run_work mapped = *w;
    for (int i = 0; i < w->nin; i++)
        if (!map(d, fy_ops[k->op].name, "input", i, &mapped.in[i])) return false;
    if (!map(d, fy_ops[k->op].name, "output", 0, &mapped.out)) return false;
    k->launch(&mapped);
    w->kernel = mapped.kernel;
    memcpy(w->grid, mapped.grid, sizeof w->grid);
    memcpy(w->block, mapped.block, sizeof w->block);
    const char *fault = fy_sim_kernel_fault();
    if (fault) snprintf(d->fault, sizeof d->fault, "%s", fault);
    return !fault;
}

static bool sim_run(fy_dev *d, fy_run_work *w)
{
    sim *s = d->state;
    const fy_card *card = d->card;
    const fy_kernel *k = fy_sim_kernel(w->op);
    if (!k) {
        snprintf(d->fault, sizeof d->fault, "there is no kernel for %s", fy_ops[w->op].name);
        return false;
    }
    if (!enter(d)) return false;
    int64_t before = fy_clock_now();
    bool ok = launch(d, k, w);
    fy_clock_spend(card->launch_overhead);
    int64_t begin = later(later(fy_clock_now(), s->tail), s->compute);
    int64_t work = later(ns_for(w->flops, card->flops_f32), ns_for(w->bytes, card->memory_bandwidth));
    w->time = (fy_time){.start = begin,
                        .end = begin + card->kernel_latency + work,
                        .overhead = card->launch_overhead + card->kernel_latency};
    w->time.held = fy_clock_now() - before;
    s->tail = s->compute = w->time.end;
    leave(d);
    return ok;
}

/* ---- order -------------------------------------------------------------------------------------- */

static int64_t sim_record(fy_dev *d, int stream)
{
    sim *s = d->state;
    (void)stream;
    if (!enter(d)) return -1;
    int64_t point = s->recorded++;
    s->points[point % POINTS] = s->tail;
    leave(d);
    return point;
}

/* When a point is reached; one older than the table remembers counts as its oldest. -1: everything. */
static int64_t time_of(const sim *s, int64_t point)
{
    if (point < 0 || point >= s->recorded) return s->tail;
    if (point < s->recorded - POINTS) point = s->recorded - POINTS;
    return s->points[point % POINTS];
}

static bool sim_wait(fy_dev *d, int64_t point, fy_time *t)
{
    sim *s = d->state;
    if (!enter(d)) return false;
    t->start = fy_clock_now();
    fy_clock_spend(d->card->call_overhead);
    fy_clock_at_least(time_of(s, point));
    t->end = fy_clock_now();
    t->held = t->end - t->start;
    t->wire = t->staging = 0;
    t->overhead = d->card->call_overhead;
    leave(d);
    return true;
}

/* Asking costs a call, so that a program that asks in a loop gets its answer. */
static bool sim_done(fy_dev *d, int64_t point)
{
    sim *s = d->state;
    if (!enter(d)) return false;
    fy_clock_spend(d->card->call_overhead);
    bool yes = fy_clock_now() >= time_of(s, point);
    leave(d);
    return yes;
}

const fy_backend fy_backend_sim = {
    .kind = "sim",
    .open = sim_open,
    .close = sim_close,
    .info = sim_info,
    .alloc = sim_alloc,
    .release = sim_release,
    .pin = sim_pin,
    .unpin = sim_unpin,
    .copy = sim_copy,
    .run = sim_run,
    .record = sim_record,
    .wait = sim_wait,
    .done = sim_done,
};
