/* sim.c: the simulated card: a back end whose VRAM, copy engines and clock are modelled and which runs the real kernels
 * of kernels/ on the CPU.
 *
 * VRAM is reserved twice. Device pointers point into the window, which is PROT_NONE: a program that dereferences one
 * gets an explanation (segv_handler.c). The bytes are in the alias, at a fixed distance; only copies and kernels access
 * it. Fresh VRAM is filled with one byte and freed VRAM with another; of large blocks only a part (sim_task.c), to save
 * RAM.
 *
 * Work is timed at the call, by the timing model, and executed later, when something waits for it (sim_queue.c). A
 * kernel's fault surfaces then, and the card fails at every later call, as with CUDA. */
#define _GNU_SOURCE 1 /* MAP_FIXED_NOREPLACE */
#include "sim.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "address_space.h"
#include "clock.h"
#include "cpu.h"
#include "device.h"
#include "event.h"
#include "kernel_table.h"
#include "op.h"
#include "run_work.h"
#include "timing_model.h"

enum { GRANULE = 512, FREED = 0xf5, PAGE = 65536, HOST_PAGE = 4096 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* all cards and their tasks */

/* Atomic: read without the lock by the SIGSEGV handler and after a fork. */
static _Atomic(fy_sim *) cards[FY_SIM_CARDS];
static _Atomic bool forked; /* from a process that used a card */

fy_sim *fy_sim_card(int number) { return atomic_load_explicit(&cards[number], memory_order_relaxed); }

fy_sim *fy_sim_owner(const void *p, size_t bytes)
{
    for (int i = 0; i < FY_SIM_CARDS; i++) {
        fy_sim *s = atomic_load(&cards[i]);
        if (s && fy_sim_inside(s, p, bytes)) return s;
    }
    return NULL;
}

bool fy_sim_owns(const void *p) { return fy_sim_owner(p, 1) != NULL; }

/* ---- faults, and the lock ------------------------------------------------------------------------- */

bool fy_sim_fail(const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(fy_fault.text, sizeof fy_fault.text, format, list);
    va_end(list);
    fy_fault.work = 0;
    return false;
}

bool fy_sim_fail_card(const fy_sim *s)
{
    fy_sim_fail("%s", s->fault);
    fy_fault.work = s->fault_work;
    return false;
}

bool fy_sim_enter(fy_dev *d)
{
    if (atomic_load_explicit(&forked, memory_order_relaxed))
        return fy_sim_fail("Cannot re-initialize CUDA in forked subprocess. To use CUDA with multiprocessing, "
                           "start a new process (exec) instead of forking");
    fy_sim *s = d->state;
    atomic_store_explicit(&s->used, true, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    return fy_sim_healthy(s) || fy_sim_leave(d, true);
}

bool fy_sim_leave(fy_dev *d, bool ok)
{
    if (ok && !fy_sim_healthy(d->state)) ok = fy_sim_fail_card(d->state);
    pthread_mutex_unlock(&lock);
    return ok;
}

/* ---- opening ------------------------------------------------------------------------------------ */

static char *reserve(size_t bytes, int protection, int sharing)
{
    void *p = mmap(NULL, bytes, protection, sharing | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p == MAP_FAILED) return NULL;
    madvise(p, bytes, MADV_DONTFORK); /* a child must not write into its parent's VRAM */
    return p;
}

/* In a child of a process that never used the card, it works after mapping what MADV_DONTFORK removed. */
static bool remap(fy_sim *s)
{
    int flags = MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE;
    bool window = mmap(s->window, s->bytes, PROT_NONE, MAP_PRIVATE | flags, -1, 0) == s->window;
    bool alias = mmap(s->alias, s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | flags, -1, 0) == s->alias;
    if (!window || !alias) return false;
    madvise(s->window, s->bytes, MADV_DONTFORK);
    madvise(s->alias, s->bytes, MADV_DONTFORK);
    return true;
}

/* If the parent has used a card, no card works in the child. */
static void after_fork(void)
{
    for (int i = 0; i < FY_SIM_CARDS; i++) {
        fy_sim *s = atomic_load(&cards[i]);
        if (s && (atomic_load(&s->used) || !remap(s))) atomic_store(&forked, true);
    }
}

static void sim_close(fy_dev *d)
{
    fy_sim *s = d->state;
    if (!s) return;
    pthread_mutex_lock(&lock);
    fy_sim_drop_all(s);
    if (fy_sim_card(s->number) == s) atomic_store(&cards[s->number], NULL);
    if (s->window) munmap(s->window, s->bytes);
    if (s->alias) munmap(s->alias, s->bytes);
    pthread_mutex_unlock(&lock);
    fy_timing_free(s->timetable);
    fy_address_space_free(s->holes);
    free(s);
    d->state = NULL;
}

/* The model and the size come from d->card and d->capacity. The alias is shared memory because MADV_REMOVE, which frees
 * single pages, needs that. */
static bool sim_open(fy_dev *d, char *why, size_t room)
{
    fy_sim *s = d->state = calloc(1, sizeof *s);
    if (!s) return snprintf(why, room, "no memory"), false;
    s->number = d->number - 1;
    s->bytes = ((size_t)d->capacity + PAGE - 1) / PAGE * PAGE;
    s->timetable = fy_timing_make(d->card);
    s->window = reserve(s->bytes, PROT_NONE, MAP_PRIVATE);
    s->alias = reserve(s->bytes, PROT_READ | PROT_WRITE, MAP_SHARED);
    if (s->window) s->holes = fy_address_space_make((uint64_t)(uintptr_t)s->window, (uint64_t)d->capacity, GRANULE);
    if (!s->alias || !s->holes || !s->timetable) {
        bool reserved = s->window && s->alias;
        sim_close(d);
        if (reserved) return snprintf(why, room, "out of host memory"), false;
        snprintf(why, room, "cannot reserve %lld MiB of address space", (long long)(d->capacity >> 20));
        return false;
    }
    atomic_store(&cards[s->number], s);
    if (d->number == 1) pthread_atfork(NULL, NULL, after_fork);
    return true;
}

static bool sim_info(fy_dev *d, char *why, size_t room)
{
    (void)why, (void)room;
    snprintf(d->card_name, sizeof d->card_name, "%s (simulated)", d->card->name);
    d->threads = d->card->multiprocessors * d->card->threads_each;
    return true;
}

/* ---- memory ------------------------------------------------------------------------------------- */

/* VRAM is filled at once: work on what was there before was executed when that was released. */
static void *sim_alloc(fy_dev *d, size_t bytes, fy_word mem, fy_time *t)
{
    fy_sim *s = d->state;
    bool pinned = mem == FY_WORD_pinned;
    void *p;
    if (!fy_sim_enter(d)) return NULL;
    fy_fault.text[0] = 0;
    if (pinned) p = aligned_alloc(HOST_PAGE, (bytes + HOST_PAGE - 1) / HOST_PAGE * HOST_PAGE);
    else p = (void *)(uintptr_t)fy_address_space_alloc(s->holes, bytes, NULL);
    if (p && !pinned) fy_sim_fill(s, p, bytes, FY_SIM_POISON);

    bool out_of_ram = !p && pinned; /* this machine's limit, not the model's: takes no modelled time */
    if (!out_of_ram) fy_timing_alloc(s->timetable, fy_clock_now(), (int64_t)bytes, mem, t);
    fy_clock_advance(out_of_ram ? 0 : t->held);
    fy_sim_leave(d, true);
    return p;
}

/* As cudaFree and cudaFreeHost: device memory after all work of the card, pinned after all work that accesses it, on
 * any card. */
static void sim_release(fy_dev *d, void *p, size_t bytes, fy_word mem, fy_time *t)
{
    fy_sim *s = d->state;
    *t = (fy_time){.start = fy_clock_now(), .end = fy_clock_now()};
    if (!p || atomic_load_explicit(&forked, memory_order_relaxed)) return;
    atomic_store_explicit(&s->used, true, memory_order_relaxed);
    pthread_mutex_lock(&lock);
    fy_timing_release(s->timetable, fy_clock_now(), (int64_t)bytes, mem, t);
    fy_clock_advance(t->held);
    if (mem == FY_WORD_pinned) {
        fy_sim_pinned_end(p, bytes);
        free(p);
    } else {
        fy_sim_run_all(s);
        fy_sim_fill(s, p, bytes, FREED);
        fy_address_space_release(s->holes, (uint64_t)(uintptr_t)p);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- kernels ------------------------------------------------------------------------------------ */

/* Translates a device pointer to its alias; anything else is a fault. */
static bool map(fy_dev *d, const char *kernel, const char *role, int number, fy_operand *o)
{
    fy_sim *s = d->state;
    if (o->layout.numel == 0) return true;
    if (!fy_sim_inside(s, o->data, fy_sim_extent(o)))
        return fy_sim_fail("an illegal memory access was encountered: kernel %s was given %s as %s %d", kernel,
                           fy_sim_inside(s, o->data, 0) ? "memory past the end of VRAM" : "a host pointer", role,
                           number);
    o->data = fy_sim_alias(s, o->data);
    return true;
}

/* OpenBLAS for matrix products, as a card uses cuBLAS; else the kernel and its launch configuration, from a dry run of
 * the launcher. */
static void choose_kernel(const fy_kernel *k, fy_run_work *w, fy_task *t)
{
    w->blas = t->run.blas = fy_dev_uses_blas() ? fy_host_blas(w) : NULL;
    if (w->blas) return;
    fy_sim_dry_run(true);
    k->launch(&t->run);
    fy_sim_dry_run(false);
    w->kernel = t->run.kernel;
    memcpy(w->grid, t->run.grid, sizeof w->grid);
    memcpy(w->block, t->run.block, sizeof w->block);
}

/* A copy of the list that is the task's, with alias addresses; fy_sim_task_drop frees it. */
static bool map_items(fy_dev *d, const char *kernel, fy_task *t)
{
    fy_run_work *w = &t->run;
    size_t bytes = (size_t)w->nitems * sizeof *w->items;
    fy_item *own = malloc(bytes);
    if (!own) return w->items = NULL, fy_sim_fail("out of host memory for queueing the work");
    w->items = memcpy(own, w->items, bytes);
    for (int i = 0; i < w->nitems; i++) {
        fy_item *item = &own[i];
        fy_operand o = {.dtype = w->out.dtype};
        o.layout = (fy_layout){.ndim = 1, .numel = item->numel, .shape = {item->numel}, .strides = {1}};
        for (int k = 0; k < w->nin; k++) {
            o.data = (void *)(uintptr_t)item->in[k];
            if (o.data && !map(d, kernel, "input", k, &o)) return false;
            item->in[k] = o.data;
        }
        o.data = item->out;
        if (!map(d, kernel, "output", i, &o)) return false;
        item->out = o.data;
    }
    return true;
}

static bool map_operands(fy_dev *d, const char *kernel, fy_task *t)
{
    fy_run_work *w = &t->run;
    if (w->items) return map_items(d, kernel, t);
    for (int i = 0; i < w->nin; i++)
        if (!map(d, kernel, "input", i, &w->in[i])) return false;
    return map(d, kernel, "output", 0, &w->out);
}

static bool run_later(fy_dev *d, const fy_kernel *k, fy_run_work *w)
{
    fy_sim *s = d->state;
    fy_task *t = fy_sim_task(s, FY_TASK_RUN, w->stream, w->id);
    if (!t) return fy_sim_fail("out of host memory for queueing the work");
    t->run = *w;
    if (!map_operands(d, fy_ops[w->op].name, t)) return fy_sim_task_drop(t), false;

    choose_kernel(k, w, t);
    fy_timing_run(s->timetable, fy_clock_now(), w->stream, fy_op_arithmetic(w->op, w->out.dtype), w->flops, w->bytes,
                  &w->time);
    fy_clock_advance(w->time.held);
    fy_sim_race(&w->races, t);
    for (int i = 0; i < w->nitems; i++) fy_sim_race(&w->items[i].races, NULL);
    fy_sim_queue(s, t);
    return true;
}

static bool sim_run(fy_dev *d, fy_run_work *w)
{
    const fy_kernel *k = fy_sim_kernel(w->op);
    if (!k) return fy_sim_fail("there is no kernel for %s", fy_ops[w->op].name);
    return fy_sim_enter(d) && fy_sim_leave(d, run_later(d, k, w));
}

/* ---- record, wait, query ------------------------------------------------------------------------- */

/* Advances the clock by a call's overhead. */
static void charge_call(fy_sim *s, fy_time *t)
{
    fy_timing_call(s->timetable, fy_clock_now(), t);
    fy_clock_advance(t->held);
}

/* The current end of a stream. */
static fy_point end_of(const fy_sim *s, int stream)
{
    int64_t now = fy_clock_now(), tail = fy_timing_tail(s->timetable, stream);
    return (fy_point){.stream = stream, .when = tail > now ? tail : now, .queue = fy_sim_issued()};
}

static bool sim_record(fy_dev *d, int stream, fy_point *p)
{
    fy_time t;
    if (stream < 0) return true;
    if (!fy_sim_enter(d)) return false;
    charge_call(d->state, &t);
    *p = end_of(d->state, stream);
    return fy_sim_leave(d, true);
}

static bool host_waits(fy_dev *d, const fy_point *p, fy_time *t)
{
    fy_sim *s = d->state;
    int64_t until = p ? p->when : fy_timing_tail(s->timetable, -1);
    fy_timing_host_wait(s->timetable, fy_clock_now(), until, t);
    fy_clock_advance(t->held);
    if (p) fy_sim_run_until(s, p->stream, p->queue);
    else fy_sim_run_all(s);
    return true;
}

static bool stream_waits(fy_dev *d, const fy_point *p, fy_sim *waiter, int stream, fy_time *t)
{
    fy_sim *s = d->state;
    int first = p ? p->stream : 0, last = p ? p->stream : FY_STREAMS - 1;
    bool ok = true;
    if (!fy_sim_healthy(waiter)) return fy_sim_fail_card(waiter);
    atomic_store_explicit(&waiter->used, true, memory_order_relaxed);
    charge_call(waiter, t);
    fy_timing_stream_wait(waiter->timetable, stream, p ? p->when : fy_timing_tail(s->timetable, -1));
    for (int i = first; ok && i <= last; i++)
        ok = fy_sim_stream_waits(waiter, stream, s, i, p ? p->queue : fy_sim_issued());
    return ok || fy_sim_fail("out of host memory for queueing the work");
}

/* A point that was never recorded is the current end of its stream. */
static bool sim_wait(fy_dev *d, const fy_point *p, fy_dev *waiter, int stream, fy_time *t)
{
    if (!fy_sim_enter(d)) return false;
    fy_point all = p && !p->queue ? end_of(d->state, p->stream) : (fy_point){0};
    if (all.queue) p = &all;
    return fy_sim_leave(d, waiter ? stream_waits(d, p, waiter->state, stream, t) : host_waits(d, p, t));
}

/* A query costs modelled time, so that a polling loop ends. */
static bool sim_done(fy_dev *d, const fy_point *p, int64_t *when)
{
    fy_time t;
    if (!fy_sim_enter(d)) return false;
    fy_fault.text[0] = 0; /* "not yet" is not a fault */
    fy_point until = p->queue ? *p : end_of(d->state, p->stream);
    charge_call(d->state, &t);
    *when = until.when;
    bool done = fy_clock_now() >= until.when;
    if (done) fy_sim_run_until(d->state, until.stream, until.queue);
    return fy_sim_leave(d, done);
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
