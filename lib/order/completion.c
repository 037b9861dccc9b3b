/* completion.c: work that ended, told of as `complete` (completion.h). The only emitter of complete.
 *
 * What has not ended yet waits in a list for each stream, in order of issue, so that only the first of a stream
 * need be asked for. */
#include "completion.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "device.h"
#include "event.h"
#include "run_work.h"
#include "out_of_memory.h"
enum { MOST_DEVICES = 9 }; /* as many as device.c opens */

typedef struct late {
    struct late *next;
    fy_site *at;
    fy_completion work;
} late;

typedef struct line {
    late *first, **last; /* where the next is to hang; NULL: nothing ever waited */
} line;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* for all of this */
static line lines[MOST_DEVICES][FY_STREAMS];
static fy_dev *devices[MOST_DEVICES]; /* that ever had to be asked later */
static _Atomic int waiting[MOST_DEVICES];

/* ---- telling ---------------------------------------------------------------------------------------- */

static void tell(fy_site *at, const fy_completion *w)
{
    FY_EMIT(at, complete, .id = w->id, .start = w->time.start, .end = w->time.end, .engine = (uint8_t)w->engine,
            .wire = w->is_copy ? w->time.wire : FY_ABSENT, .staging = w->is_copy ? w->time.staging : FY_ABSENT,
            .overhead = w->time.overhead);
}

static void give_back(late *l)
{
    fy_dev *d = l->work.dev;
    d->backend->record(d, -1, &(fy_point){.native = l->work.time.begun});
    d->backend->record(d, -1, &(fy_point){.native = l->work.time.ended});
    free(l);
}

/* ---- asking ----------------------------------------------------------------------------------------- */

/* A point that has passed; false: it has not, or, with a word in fy_fault, the card failed. */
static bool passed(fy_dev *d, void *native, int64_t *when)
{
    return *when >= 0 || d->backend->done(d, &(fy_point){.native = native, .when = -1}, when);
}

static bool has_ended(late *l)
{
    fy_completion *w = &l->work;
    bool yes = passed(w->dev, w->time.begun, &w->time.start) && passed(w->dev, w->time.ended, &w->time.end);
    if (yes && w->is_copy) w->time.wire = w->time.end - w->time.start;
    return yes;
}

static late *take_first(fy_dev *d, line *of)
{
    late *l = of->first;
    of->first = l->next;
    if (!of->first) of->last = &of->first;
    atomic_fetch_sub(&waiting[d->number], 1);
    return l;
}

/* Among those that ended together: the first to end first, of equal ones the first issued. */
static void sort_in(late **list, late *l)
{
    while (*list && ((*list)->work.time.end < l->work.time.end ||
                     ((*list)->work.time.end == l->work.time.end && (*list)->work.id < l->work.id)))
        list = &(*list)->next;
    l->next = *list;
    *list = l;
}

/* Work of a card that failed does not end any more. */
static void forget(fy_dev *d)
{
    for (int s = 0; s < FY_STREAMS; s++)
        while (lines[d->number][s].first) give_back(take_first(d, &lines[d->number][s]));
}

static void poll_locked(fy_dev *d)
{
    late *ended = NULL;
    fy_fault.text[0] = 0;
    for (int s = 0; s < FY_STREAMS && !fy_fault.text[0]; s++)
        while (lines[d->number][s].first && has_ended(lines[d->number][s].first))
            sort_in(&ended, take_first(d, &lines[d->number][s]));
    for (late *l; (l = ended);) {
        ended = l->next;
        tell(l->at, &l->work);
        give_back(l);
    }
    if (fy_fault.text[0]) forget(d);
}

void fy_work_poll(fy_dev *d)
{
    if (atomic_load_explicit(&waiting[d->number], memory_order_relaxed) == 0) return;
    pthread_mutex_lock(&lock);
    poll_locked(d);
    pthread_mutex_unlock(&lock);
}

/* ---- waiting to be told ------------------------------------------------------------------------------- */

/* The card's library shuts down at exit, too, and what is registered last is called first: this is registered
 * when the card has work, and its library is long there. */
static void at_exit(void)
{
    fy_time t;
    for (int i = 0; i < MOST_DEVICES; i++) {
        fy_dev *d = devices[i];
        if (!d || atomic_load(&waiting[i]) == 0) continue;
        d->backend->wait(d, NULL, NULL, 0, &t);
        fy_work_poll(d);
    }
}

/* A child has no card, and never had that work. */
static void in_child(void)
{
    pthread_mutex_init(&lock, NULL);
    memset(lines, 0, sizeof lines);
    for (int i = 0; i < MOST_DEVICES; i++) atomic_store(&waiting[i], 0);
}

static void register_handlers(void)
{
    atexit(at_exit);
    pthread_atfork(NULL, NULL, in_child);
}

static void put_last(late *l)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    fy_dev *d = l->work.dev;
    line *of = &lines[d->number][l->work.stream];
    pthread_once(&once, register_handlers);
    pthread_mutex_lock(&lock);
    if (!of->last) of->last = &of->first;
    *of->last = l;
    of->last = &l->next;
    devices[d->number] = d;
    atomic_fetch_add(&waiting[d->number], 1);
    poll_locked(d);
    pthread_mutex_unlock(&lock);
}

static void tell_later(fy_site *at, const fy_completion *w)
{
    late *l = malloc(sizeof *l);
    if (!l) fy_out_of_memory("the works that go on");
    *l = (late){.at = at, .work = *w};
    put_last(l);
}

void fy_work_ended(fy_site *at, const fy_completion *w)
{
    if (w->time.end < 0) {
        if (w->time.ended) tell_later(at, w);
        return;
    }
    fy_work_poll(w->dev);
    tell(at, w);
}
