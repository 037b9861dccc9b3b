/* epoch.c: one loop over a loader: the order of its items, its workers, and the batches between them.
 *
 *     batch     0  1  2  3  4  5  6  7 ...        2 workers, prefetch_factor 2: a ring of 4
 *     worker    0  1  0  1  0  1  0  1
 *              taken |  in the ring  | not asked for yet
 *
 * The loop takes batch i, and by that asks for batch i + 4. Workers begin what was asked for, each its own batches in
 * order. */
#include <setjmp.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "clock.h"
#include "device.h"
#include "error.h"
#include "frame.h"
#include "lane.h"
#include "loader.h"
#include "out_of_memory.h"
#include "random.h"
#include "session_hooks.h"
#include "site.h"
#include "tensor.h"

typedef struct slot {
    fy_tensor *x[FY_MAX_ITEM + 1]; /* NULL at the end */
    bool ready;
    char *error; /* the report; NULL: none */
} slot;

typedef struct worker {
    struct fy_epoch *epoch;
    int number;
    bool waits; /* for a batch to make */
    fy_lane *lane;
    fy_generator *generator;
    fy_log_thread *thread, own; /* thread: the loader's, or own */
    fy_tensor **rows;
    jmp_buf failed;
} worker;

typedef struct fy_epoch {
    fy_dataloader *loader;
    fy_site *at;          /* of the loop */
    fy_belonging belongs; /* to the loop: what the workers do */
    int64_t number, batches;
    int64_t taken, asked; /* batches; asked: begun or to be begun by workers */
    int64_t *order;       /* indexes of its items; NULL: in order */
    bool over;            /* after an error */
    fy_on_error_mode mode;
    fy_tensor *current[FY_MAX_ITEM + 1]; /* the loop's batch */
    fy_tensor **rows;                    /* without workers */

    /* With workers: `asked`, the ring and all `waits` are used between fy_lanes_lock and fy_lanes_unlock. */
    int nworkers;
    worker *workers;
    slot *ring;
    int64_t slots;
    fy_lane *loop;
    bool loop_waits;
    _Atomic bool stop;
    bool has_threads; /* of the loader's `threads` */
    pid_t owner;      /* the process that has the workers */
} fy_epoch;

static void *zeroed(size_t n, size_t size)
{
    void *p = calloc(n + !n, size);
    if (!p) fy_out_of_memory("a loader's batches");
    return p;
}

/* ---- one batch ---- */

static void say(const fy_epoch *e, fy_word what, int64_t index, fy_tensor *const *x, int64_t held)
{
    uint32_t ids[FY_MAX_ITEM];
    size_t n = 0;
    for (; x && x[n]; n++) ids[n] = x[n]->id;
    if (fy_log_is_on())
        FY_EMIT(e->at, batch, .what = (uint8_t)what, .loader = e->loader->id, .epoch = e->number, .index = index,
                .worker = e->nworkers ? index % e->nworkers : FY_ABSENT,
                .tensors = fy_ref_bytes(n ? ids : NULL, n * sizeof *ids), .held = held);
}

static bool make(fy_epoch *e, int64_t index, fy_tensor **rows, fy_tensor **out)
{
    FY_REGION(e->at, FY_WORD_batch, NULL, index, FY_ABSENT);
    int64_t size = e->loader->batch_size, first = index * size, left = e->loader->ds->len - first;
    fy_collate c = {.at = e->at,
                    .loader = e->loader,
                    .first = first,
                    .count = left < size ? left : size,
                    .order = e->order,
                    .stop = &e->stop,
                    .in_worker = e->nworkers > 0};
    say(e, FY_WORD_begin, index, NULL, FY_ABSENT);
    return fy_collate_items(&c, rows, out);
}

static void drop(fy_site *at, fy_tensor **x)
{
    for (int i = 0; i < FY_MAX_ITEM; i++) {
        fy_tensor_release(at, x[i], FY_WORD_scope);
        x[i] = NULL;
    }
}

/* ---- workers ---- */

static _Thread_local worker *self;

static void leave_call(void) { longjmp(self->failed, 1); }

/* An error that would end the program leaves the dataset's code, and the loop reports it. */
static bool make_or_catch(worker *w, int64_t index, fy_tensor **out)
{
    const uint32_t depth = fy_frame_depth;
    if (setjmp(w->failed)) {
        fy_frame_depth = depth;
        fy_lane_keep(false);
        fy_scope_unwind(w->epoch->at, 0);
        return false;
    }
    return make(w->epoch, index, w->rows, out);
}

/* Waits until the batch is asked for; false: the epoch is over. */
static bool wait_until_asked(worker *w, int64_t index)
{
    fy_epoch *e = w->epoch;
    fy_lanes_lock();
    while (index >= e->asked && !e->stop) {
        w->waits = true;
        fy_lane_wait();
        w->waits = false;
    }
    bool is_asked = !e->stop;
    fy_lanes_unlock();
    return is_asked;
}

/* Hands the batch to the loop: its tensors, or the error. */
static void hand_over(fy_epoch *e, int64_t index, fy_tensor *const *x, char *error)
{
    slot *s = &e->ring[index % e->slots];
    fy_lanes_lock();
    memcpy(s->x, x, sizeof s->x);
    s->error = error;
    s->ready = true;
    if (e->loop_waits && index == e->taken) fy_lane_wake(e->loop);
    fy_lanes_unlock();
}

static char *report_of(const worker *w, int64_t index)
{
    char text[4600], line[300];
    snprintf(text, sizeof text, "%s\n  in worker %d, for batch %lld of the loop%s", fy_error(), w->number,
             (long long)index, fy_line_text(w->epoch->at, NULL, line, sizeof line));
    char *copy = strdup(text);
    if (!copy) fy_out_of_memory("an error in a loader's worker");
    return copy;
}

static void work(void *p)
{
    worker *w = self = p;
    fy_epoch *e = w->epoch;
    fy_tensor *x[FY_MAX_ITEM + 1] = {0};
    fy_log_thread_swap(*w->thread);
    FY_BELONGS(&e->belongs);
    fy_on_error(e->mode);
    fy_error_catch(leave_call);
    fy_generator_use(w->generator);
    for (int64_t i = w->number; i < e->batches && wait_until_asked(w, i); i += e->nworkers) {
        fy_clear_error();
        bool made = make_or_catch(w, i, x);
        if (made) say(e, FY_WORD_ready, i, x, FY_ABSENT);
        else drop(e->at, x);
        if (made || fy_error()) hand_over(e, i, x, made ? NULL : report_of(w, i));
        if (!made) break;
        memset(x, 0, sizeof x);
    }
    fy_generator_use(NULL);
    *w->thread = fy_log_thread_swap((fy_log_thread){0});
}

static bool start_workers(fy_epoch *e, int64_t seed)
{
    fy_dataloader *loader = e->loader;
    e->workers = zeroed((size_t)e->nworkers, sizeof *e->workers);
    e->slots = loader->prefetch * e->nworkers;
    if (e->slots > e->batches) e->slots = e->batches;
    e->asked = e->slots;
    e->ring = zeroed((size_t)e->slots, sizeof *e->ring);
    if (!fy_lane_enter(fy_dev_model_clock())) fy_out_of_memory("a loader's workers");
    e->loop = fy_lane_self;
    e->has_threads = !__atomic_exchange_n(&loader->busy, true, __ATOMIC_ACQUIRE);
    for (int i = 0; i < e->nworkers; i++) {
        worker *w = &e->workers[i];
        *w = (worker){.epoch = e, .number = i, .generator = fy_generator_make((uint64_t)seed + (uint64_t)i)};
        w->rows = zeroed((size_t)fy_loader_most(loader) * FY_MAX_ITEM, sizeof *w->rows);
        w->thread = e->has_threads ? &loader->threads[i] : &w->own;
        if (!w->generator) fy_out_of_memory("a loader's workers");
        if (!(w->lane = fy_lane_start(work, w)))
            return fy_fail(e->at, "threads", "use fewer workers, or raise the limit on threads (ulimit -u)",
                           "DataLoader worker %d could not be started", i);
    }
    return true;
}

/* ---- begin and end ---- */

/* RandomSampler: a generator of its own, whose seed is drawn from the session's. */
static int64_t *shuffled(fy_site *at, int64_t n)
{
    int64_t *order = zeroed((size_t)n, sizeof *order);
    fy_generator *own = fy_generator_make((uint64_t)fy_generator_draw()), *before = fy_generator_use(own);
    if (!own) fy_out_of_memory("the order of an epoch");
    fy_tensor *p = fy_randperm_at(at, (fy_shape){1, {n}}, (fy_opts){.device = "cpu", .name = "order"});
    fy_generator_use(before);
    fy_generator_free(own);
    if (p) memcpy(order, fy_first_element(p), (size_t)n * sizeof *order);
    else free(order);
    return p ? order : NULL;
}

static fy_epoch *begin(fy_site *at, fy_dataloader *loader)
{
    fy_session_start();
    fy_epoch *e = zeroed(1, sizeof *e);
    fy_scope scope = fy_scope_begin(at);
    __atomic_add_fetch(&loader->refs, 1, __ATOMIC_RELAXED);
    *e = (fy_epoch){.loader = loader, .at = at, .batches = fy_dataloader_len(loader), .mode = fy_error_mode()};
    e->belongs = fy_belonging_here(at, fy_frame_depth); /* no event may have told it yet */
    e->owner = getpid();
    e->number = __atomic_fetch_add(&loader->epochs, 1, __ATOMIC_RELAXED);
    int64_t seed = fy_generator_draw(); /* before the order's, as PyTorch draws it */
    bool ok = !loader->shuffle || (e->order = shuffled(at, loader->ds->len));
    e->nworkers = loader->workers < e->batches ? loader->workers : (int)e->batches;
    if (!e->nworkers) e->rows = zeroed((size_t)fy_loader_most(loader) * FY_MAX_ITEM, sizeof *e->rows);
    else ok = ok && start_workers(e, seed);
    e->over = !ok;
    fy_scope_end(&scope);
    return e;
}

static void stop_workers(fy_epoch *e)
{
    if (!e->workers) return;
    fy_lanes_lock();
    e->stop = true;
    for (int i = 0; i < e->nworkers; i++)
        if (e->workers[i].waits) fy_lane_wake(e->workers[i].lane);
    fy_lanes_unlock();
    for (int i = 0; i < e->nworkers; i++) {
        worker *w = &e->workers[i];
        if (w->lane) fy_lane_join(w->lane);
        fy_generator_free(w->generator);
        free(w->rows);
    }
    for (int64_t i = 0; i < e->slots; i++) {
        drop(e->at, e->ring[i].x);
        free(e->ring[i].error);
    }
    fy_lane_leave();
    if (e->has_threads) __atomic_store_n(&e->loader->busy, false, __ATOMIC_RELEASE);
    free(e->workers);
    e->workers = NULL;
}

static void end(fy_epoch *e)
{
    if (e->workers && e->owner != getpid()) return; /* a forked child: the workers and their batches are the parent's */
    stop_workers(e);
    fy_loader_release(e->at, e->loader);
    free(e->ring);
    free(e->rows);
    free(e->order);
    free(e);
}

/* ---- the loop ---- */

/* Waits for the next batch, and asks for another. False after an error. */
static bool take(fy_epoch *e, int64_t index)
{
    slot *s = &e->ring[index % e->slots];
    if (e->owner != getpid())
        return fy_fail(e->at, "fork", "make a loop of its own in the child",
                       "can only test a child process: the workers of this loop run in the parent process");
    fy_lanes_lock();
    while (!s->ready) {
        e->loop_waits = true;
        fy_lane_wait();
        e->loop_waits = false;
    }
    slot made = *s;
    *s = (slot){0};
    e->taken++;
    if (e->asked < e->batches) {
        worker *next = &e->workers[e->asked++ % e->nworkers];
        if (next->waits) fy_lane_wake(next->lane);
    }
    fy_lanes_unlock();
    memcpy(e->current, made.x, sizeof made.x);
    if (!made.error) return true;
    stop_workers(e); /* the report may end the program */
    fy_error_pass_on(made.error);
    free(made.error);
    return false;
}

/* The iteration's scope takes over the references. */
static fy_tensor **next(fy_epoch *e)
{
    int64_t index = e->taken, before = fy_clock_now();
    memset(e->current, 0, sizeof e->current);
    if (e->over || index >= e->batches) return NULL;
    if (!e->nworkers) {
        bool made = make(e, index, e->rows, e->current);
        e->taken++;
        if (!made) drop(e->at, e->current);
    } else if (!take(e, index)) {
        e->over = true;
    }
    if (!e->current[0]) return NULL;
    say(e, FY_WORD_taken, index, e->current, e->nworkers ? fy_clock_now() - before : FY_ABSENT);
    for (int i = 0; e->current[i]; i++) fy_scope_track(e->current[i]);
    return e->current;
}

static fy_tensor **batch_of(fy_iterations *t, bool more)
{
    fy_items *items = &t->items;
    if (more && !items->epoch) {
        if (!items->loader) return fy_fail_null(t->scope.at, 1, "loader");
        fy_region_resume(&t->loop); /* the epoch is no part of its first turn */
        items->epoch = begin(t->scope.at, items->loader);
        fy_region_resume(&t->turns);
    }
    if (more) return next(items->epoch);
    if (items->epoch) end(items->epoch);
    items->epoch = NULL;
    return NULL;
}

fy_items fy_items_loader(fy_dataloader *loader, size_t n)
{
    (void)n;
    return (fy_items){.loader = loader, .batch = batch_of};
}
