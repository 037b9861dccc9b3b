/* sim.c: the simulated card, a back end whose VRAM, copy engines and clock are modelled and whose
 * kernels are the real ones of kernels/, run on the CPU.
 *
 * VRAM is reserved twice. Device pointers lie in the window, which nobody may touch: a program that
 * dereferences one is stopped and told why (guard.c). The memory itself is the alias, a fixed
 * distance away; only copies and kernels use it. Fresh VRAM is filled with one junk and freed VRAM
 * with another, as far as POISON_MOST, so that a large allocation eats no RAM.
 *
 * Work is done at the call; when it would have been done on a card is the timetable's business:
 * one stream in order, one engine for each direction of the bus (sim_copy.c), one for kernels.
 * One lock a card: calls of several threads take turns. */
#define _GNU_SOURCE 1 /* MAP_FIXED_NOREPLACE */
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "op.h"
#include "sim.h"

enum { MOST_CARDS = 8, GRANULE = 512, FRESH = 0xff, FREED = 0xf5, PAGE = 65536, HOST_PAGE = 4096 };
static const size_t poison_most = (size_t)64 << 20;

/* For the guard's signal handler, for forks and for copies from card to card. */
static _Atomic(fy_sim *) cards[MOST_CARDS];
static _Atomic bool forked; /* from a process that used a card */

fy_sim *fy_sim_owner(const void *p, size_t bytes)
{
    for (int i = 0; i < MOST_CARDS; i++) {
        fy_sim *s = atomic_load(&cards[i]);
        if (s && fy_sim_inside(s, p, bytes)) return s;
    }
    return NULL;
}

bool fy_sim_owns(const void *p) { return fy_sim_owner(p, 1) != NULL; }

/* ---- opening ------------------------------------------------------------------------------------ */

static char *reserve(size_t bytes, int protection, int sharing)
{
    void *p = mmap(NULL, bytes, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    madvise(p, bytes, MADV_DONTFORK); /* a child must not write into its parent's VRAM */
    return p;
}

/* In a child the card is as new, but for the addresses, which the fork took away. */
static bool map_again(fy_sim *s)
{
    int flags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    bool window = mmap(s->window, s->bytes, PROT_NONE, MAP_PRIVATE | flags, -1, 0) == s->window;
    bool alias = mmap(s->alias, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, -1, 0) == s->alias;
    if (!window || !alias) return false;
    madvise(s->window, s->bytes, MADV_DONTFORK);
    madvise(s->alias, s->bytes, MADV_DONTFORK);
    return true;
}

/* The cards stay with the parent if it has used one. */
static void note_fork(void)
{
    for (int i = 0; i < MOST_CARDS; i++) {
        fy_sim *s = atomic_load(&cards[i]);
        if (s && (atomic_load(&s->used) || !map_again(s))) atomic_store(&forked, true);
    }
}

static void sim_close(fy_dev *d)
{
    fy_sim *s = d->state;
    if (!s) return;
    if (atomic_load(&cards[d->number - 1]) == s) atomic_store(&cards[d->number - 1], NULL);
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
    fy_sim *s = d->state = calloc(1, sizeof *s);
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
    atomic_store(&cards[d->number - 1], s);
    if (d->number == 1) pthread_atfork(NULL, NULL, note_fork);
    return true;
}

static void sim_info(fy_dev *d) { snprintf(d->card_name, sizeof d->card_name, "%s (simulated)", d->card->name); }

/* Take the card's lock; false in a forked child, which has no card. */
bool fy_sim_enter(fy_dev *d)
{
    if (atomic_load_explicit(&forked, memory_order_relaxed)) {
        snprintf(d->fault, sizeof d->fault,
                 "Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, start the "
                 "process anew (exec) instead of forking it");
        return false;
    }
    fy_sim *s = d->state;
    atomic_store_explicit(&s->used, true, memory_order_relaxed);
    pthread_mutex_lock(&s->lock);
    return true;
}

void fy_sim_leave(fy_dev *d) { pthread_mutex_unlock(&((fy_sim *)d->state)->lock); }

/* ---- memory ------------------------------------------------------------------------------------- */

static void *sim_alloc(fy_dev *d, size_t bytes, fy_word mem, fy_time *t)
{
    fy_sim *s = d->state;
    void *p;
    if (!fy_sim_enter(d)) return NULL;
    int64_t before = fy_clock_now();
    fy_clock_spend(d->card->call_overhead);
    d->fault[0] = 0;
    if (mem == FY_WORD_pinned) {
        p = aligned_alloc(HOST_PAGE, (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE);
    } else {
        p = (void *)(uintptr_t)fy_ranges_take(s->holes, bytes, NULL);
        if (p) memset(fy_sim_alias(s, p), FRESH, bytes < poison_most ? bytes : poison_most);
    }
    *t = (fy_time){.start = before, .end = fy_clock_now(), .overhead = d->card->call_overhead};
    t->held = t->end - before;
    fy_sim_leave(d);
    return p;
}

/* Junk over the front; whole pages behind it go back to the system. */
static void sim_release(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t)
{
    fy_sim *s = d->state;
    *t = (fy_time){.start = fy_clock_now(), .end = fy_clock_now()};
    if (mem == FY_WORD_pinned) free(p);
    if (!p || mem == FY_WORD_pinned || !fy_sim_enter(d)) return;
    char *at = fy_sim_alias(s, p), *end = at + bytes;
    memset(at, FREED, bytes < poison_most ? bytes : poison_most);
    if (bytes > poison_most) {
        size_t from = (size_t)(at + poison_most - s->alias + PAGE - 1) / PAGE * PAGE;
        size_t to = (size_t)(end - s->alias) / PAGE * PAGE;
        if (to > from) madvise(s->alias + from, to - from, MADV_REMOVE);
    }
    fy_ranges_give(s->holes, (uint64_t)(uintptr_t)p);
    fy_sim_leave(d);
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
    fy_sim *s = d->state;
    if (o->layout.numel == 0) return true;
    if (!fy_sim_inside(s, o->data, extent(o))) {
        snprintf(d->fault, sizeof d->fault, "an illegal memory access was encountered: kernel %s was given %s as %s %d",
                 kernel, fy_sim_inside(s, o->data, 0) ? "more than VRAM holds" : "a host pointer", role, number);
        return false;
    }
    o->data = fy_sim_alias(s, o->data);
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
    fy_sim *s = d->state;
    const fy_card *card = d->card;
    const fy_kernel *k = fy_sim_kernel(w->op);
    if (!k) {
        snprintf(d->fault, sizeof d->fault, "there is no kernel for %s", fy_ops[w->op].name);
        return false;
    }
    if (!fy_sim_enter(d)) return false;
    int64_t before = fy_clock_now();
    bool ok = launch(d, k, w);
    fy_clock_spend(card->launch_overhead);
    int64_t begin = fy_later(fy_later(fy_clock_now(), s->tail), s->compute);
    int64_t work = fy_later(fy_ns_for(w->flops, card->flops_f32), fy_ns_for(w->bytes, card->memory_bandwidth));
    w->time = (fy_time){.start = begin,
                        .end = begin + card->kernel_latency + work,
                        .overhead = card->launch_overhead + card->kernel_latency};
    w->time.held = fy_clock_now() - before;
    s->tail = s->compute = w->time.end;
    fy_sim_leave(d);
    return ok;
}

/* ---- order -------------------------------------------------------------------------------------- */

static bool sim_record(fy_dev *d, int stream, fy_point *p)
{
    fy_sim *s = d->state;
    if (stream < 0) return true;
    if (!fy_sim_enter(d)) return false;
    p->stream = stream;
    p->when = s->tail;
    p->queue = 1;
    fy_sim_leave(d);
    return true;
}

static bool sim_wait(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t)
{
    fy_sim *s = d->state;
    (void)stream;
    if (!fy_sim_enter(d)) return false;
    t->start = fy_clock_now();
    fy_clock_spend(d->card->call_overhead);
    if (!waiter) fy_clock_at_least(p && p->queue ? p->when : s->tail);
    t->end = fy_clock_now();
    t->held = t->end - t->start;
    t->wire = t->staging = 0;
    t->overhead = d->card->call_overhead;
    fy_sim_leave(d);
    return true;
}

/* Asking costs a call, so that a program that asks in a loop gets its answer. */
static bool sim_done(fy_dev *d, const fy_point *p, int64_t *when)
{
    if (!fy_sim_enter(d)) return false;
    fy_clock_spend(d->card->call_overhead);
    *when = p->queue ? p->when : ((fy_sim *)d->state)->tail;
    bool yes = fy_clock_now() >= *when;
    fy_sim_leave(d);
    return yes;
}

const fy_backend fy_backend_sim = {
    .kind = "sim",
    .open = sim_open,
    .close = sim_close,
    .info = sim_info,
    .alloc = sim_alloc,
    .release = sim_release,
    .copy = fy_sim_copy,
    .run = sim_run,
    .record = sim_record,
    .wait = sim_wait,
    .done = sim_done,
};
