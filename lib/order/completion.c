/* completion.c: emits `complete` for finished work (completion.h), and nothing else does.
 *
 * Unfinished work is queued per stream in issue order, and ends in it: what a poll asks the card grows with the
 * logarithm of a queue. */
#include "completion.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "clock.h"
#include "device.h"
#include "event.h"
#include "frame.h"
#include "run_work.h"
#include "out_of_memory.h"

/* Asking the card takes time: once for BATCH pieces of work, or after MOST_AGE ns, for those who watch. */
enum { MOST_DEVICES = 9, BATCH = 128, MOST_AGE = 10000000 }; /* as many devices as device.c opens */

typedef struct pending {
    struct pending *next;
    fy_belonging belongs;
    fy_completion work;
} pending;

typedef struct pending_queue {
    pending *first, *last;
    int count;
} pending_queue;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all of this */
static pending_queue queues[MOST_DEVICES][FY_STREAMS];
static fy_dev *devices[MOST_DEVICES]; /* those that ever had pending work */
static _Atomic int pending_count[MOST_DEVICES];
static int added[MOST_DEVICES];         /* since the last poll */
static int64_t polled_at[MOST_DEVICES]; /* ns */

/* ---- emitting --------------------------------------------------------------------------------------- */

/* A stream that reached the work before its launch had returned was idle. */
static void emit_complete(fy_site *at, const fy_completion *w)
{
    bool idle = w->time.ended && w->time.launched >= 0 && w->time.start <= w->time.launched;
    FY_EMIT(at, complete, .id = w->id, .start = w->time.start, .end = w->time.end, .engine = (uint8_t)w->engine,
            .wire = w->is_copy ? w->time.wire : FY_ABSENT, .staging = w->is_copy ? w->time.staging : FY_ABSENT,
            .wire_up = w->is_copy && w->time.wire_up > 0 ? w->time.wire_up : FY_ABSENT, .overhead = w->time.overhead,
            .launch = idle ? w->time.launch : FY_ABSENT,
            .marks = idle && w->dev->marks > 0 ? w->dev->marks : FY_ABSENT);
}

static void free_pending(pending *p)
{
    fy_dev *d = p->work.dev;
    d->backend->record(d, -1, &(fy_point){.native = p->work.time.begun});
    d->backend->record(d, -1, &(fy_point){.native = p->work.time.ended});
    free(p);
}

/* ---- polling ---------------------------------------------------------------------------------------- */

/* Has the work ended? Asks the card. False, with a text in fy_fault, also if the card failed. */
static bool has_ended(const pending *p)
{
    const fy_completion *w = &p->work;
    int64_t when;
    return w->dev->backend->done(w->dev, &(fy_point){.native = w->time.ended, .when = -1}, &when);
}

/* Of work that has ended. */
static bool read_time(fy_dev *d, void *native, int64_t *when)
{
    return *when >= 0 || d->backend->done(d, &(fy_point){.native = native, .when = -1, .passed = true}, when);
}

/* The end first: where the clocks had drifted apart, both move with it. */
static bool read_times(pending *p)
{
    fy_completion *w = &p->work;
    bool ok = read_time(w->dev, w->time.ended, &w->time.end) && read_time(w->dev, w->time.begun, &w->time.start);
    if (ok && w->is_copy) w->time.wire = w->time.end - w->time.start;
    return ok;
}

/* How many works of a stream have ended: they end in order, so a few questions tell. */
static int count_ended(const pending_queue *q)
{
    if (q->count == 0 || has_ended(q->last)) return q->count;
    if (q->count == 1 || fy_fault.text[0] || !has_ended(q->first)) return 0;
    int least = 1, most = q->count - 1;
    const pending *p = q->first->next; /* number `least` */
    while (least < most) {
        int half = (least + most) / 2;
        const pending *at = p;
        for (int i = least; i < half; i++) at = at->next;
        if (!has_ended(at)) most = half;
        else least = half + 1, p = at->next;
    }
    return least;
}

static pending *take_first(fy_dev *d, pending_queue *of)
{
    pending *p = of->first;
    of->first = p->next;
    if (!of->first) of->last = NULL;
    of->count--;
    atomic_fetch_sub(&pending_count[d->number], 1);
    return p;
}

/* By end time, then by issue order; returns where a later one of the same stream belongs at the earliest. */
static pending **insert_sorted(pending **list, pending *p)
{
    while (*list && ((*list)->work.time.end < p->work.time.end ||
                     ((*list)->work.time.end == p->work.time.end && (*list)->work.id < p->work.id)))
        list = &(*list)->next;
    p->next = *list;
    *list = p;
    return &p->next;
}

static void poll_locked(fy_dev *d)
{
    pending *ended = NULL;
    fy_fault.text[0] = 0;
    for (int s = 0; s < FY_STREAMS && !fy_fault.text[0]; s++) {
        pending_queue *q = &queues[d->number][s];
        pending **from = &ended;
        for (int n = count_ended(q); n > 0 && read_times(q->first); n--) from = insert_sorted(from, take_first(d, q));
    }
    added[d->number] = 0;
    polled_at[d->number] = fy_clock_now();
    for (pending *p; (p = ended);) {
        ended = p->next;
        FY_BELONGS(&p->belongs);
        emit_complete(p->belongs.at, &p->work);
        free_pending(p);
    }
    if (!fy_fault.text[0]) return;
    for (int s = 0; s < FY_STREAMS; s++) /* the card failed: its work never completes */
        while (queues[d->number][s].first) free_pending(take_first(d, &queues[d->number][s]));
}

void fy_completion_poll(fy_dev *d)
{
    if (atomic_load_explicit(&pending_count[d->number], memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&lock);
    poll_locked(d);
    pthread_mutex_unlock(&lock);
}

/* ---- queueing ----------------------------------------------------------------------------------------- */

/* atexit runs handlers in reverse order of registration. This one is registered at the first pending work, after the
 * CUDA library has registered its own, so that the card still answers here. */
static void at_exit(void)
{
    fy_time t;
    for (int i = 0; i < MOST_DEVICES; i++) {
        fy_dev *d = devices[i];
        if (!d || atomic_load(&pending_count[i]) == 0) continue;
        d->backend->wait(d, NULL, NULL, 0, &t);
        fy_completion_poll(d);
    }
}

/* A forked child has no card and none of its parent's pending work. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(queues, 0, sizeof queues);
    for (int i = 0; i < MOST_DEVICES; i++) atomic_store(&pending_count[i], 0);
}

static void register_handlers(void)
{
    atexit(at_exit);
    pthread_atfork(NULL, NULL, in_child);
}

void fy_completion_add(fy_site *at, const fy_completion *w)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    fy_dev *d = w->dev;
    if (w->time.end >= 0) {
        fy_completion_poll(d);
        emit_complete(at, w);
        return;
    }
    if (!w->time.ended) return;

    pending_queue *q = &queues[d->number][w->stream];
    pending *p = malloc(sizeof *p);
    if (!p) fy_out_of_memory("unfinished work");
    *p = (pending){.belongs = fy_belonging_here(at, 0), .work = *w};
    pthread_once(&once, register_handlers);
    pthread_mutex_lock(&lock);
    if (q->last) q->last->next = p;
    else q->first = p;
    q->last = p;
    q->count++;
    devices[d->number] = d;
    atomic_fetch_add(&pending_count[d->number], 1);
    if (++added[d->number] >= BATCH || fy_clock_now() - polled_at[d->number] >= MOST_AGE) poll_locked(d);
    pthread_mutex_unlock(&lock);
}
