/* stream_event.c: events (PyTorch's torch.cuda.Event), and waits of streams and of the host.
 *
 * An event marks the point in a stream where it was last recorded. Before its first record it counts as complete, and
 * a wait for it does nothing. It belongs to the card on which it was first recorded. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "completion.h"
#include "device.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "launch_record.h"
#include "lock.h"
#include "run_work.h"
#include "session_hooks.h"
#include "stream.h"
#include "synchronize.h"
#include "vector_clock.h"

enum { ALIVE = 0x45764f4b, FREED = 0x45764445, QUARANTINE = 1024 };

struct fy_event {
    int magic;
    uint32_t id;
    fy_dev *card; /* NULL: never recorded */
    bool timing;
    fy_point point;
    fy_order order;
    fy_site *freed;
    fy_event *next; /* in the quarantine, oldest first */
};

/* ---- handles ---------------------------------------------------------------------------------------- */

/* Freed handles are quarantined before they are reused, so that a use after free is reported as one. */
FY_LONG_LOCK(lock) /* the quarantine and last_id */
static fy_event *oldest_freed, *newest_freed;
static int n_freed;
static uint32_t last_id;

/* Is argument i a live event? False after an error. */
static bool is_given(fy_site *at, int i, const fy_event *e)
{
    char name[200], where[300];
    if (e && e->magic == ALIVE) return true;
    if (!e) return fy_fail_null(at, i, "event");
    fy_argument(at, i, name, sizeof name);
    if (e->magic != FREED) return fy_fail(at, "event", "create one with fy_cuda_event()", "'%s' is not an event", name);
    return fy_fail(at, "use_after_free", fy_hint("free %s once, after its last use", name),
                   "%s (event %u) was already freed%s", name, e->id, fy_line_text(e->freed, at, where, sizeof where));
}

fy_event *fy_cuda_event_at(fy_site *at, fy_event_opts o)
{
    FY_CALL(at);
    fy_session_start();
    pthread_mutex_lock(&lock);
    fy_event *e = n_freed > QUARANTINE ? oldest_freed : calloc(1, sizeof *e);
    if (e && e == oldest_freed) {
        oldest_freed = e->next;
        n_freed--;
    }
    uint32_t id = ++last_id;
    pthread_mutex_unlock(&lock);
    if (!e) return fy_fail(at, "oom", "free events with fy_event_free", "out of host memory for another event");
    *e = (fy_event){.magic = ALIVE, .id = id, .timing = o.enable_timing};
    return e;
}

void fy_event_free_at(fy_site *at, fy_event *e)
{
    FY_CALL(at);
    if (!e || !is_given(at, 0, e)) return;
    if (e->card) e->card->backend->record(e->card, -1, &e->point); /* releases the point */
    fy_order_free(&e->order);
    e->card = NULL;

    pthread_mutex_lock(&lock);
    e->magic = FREED;
    e->freed = at;
    e->next = NULL;
    if (n_freed++ == 0) oldest_freed = e;
    else newest_freed->next = e;
    newest_freed = e;
    pthread_mutex_unlock(&lock);
}

/* ---- record; a stream waits --------------------------------------------------------------------------- */

static bool record(fy_site *at, fy_event *e, const fy_stream *s)
{
    fy_dev *card = s->card;
    if (e->card && e->card != card)
        return fy_fail(
            at, "device", "create one event per card: an event belongs to the card on which it was first recorded",
            "Event device %d does not match recording stream's device %d.", e->card->number - 1, card->number - 1);
    if (!fy_order_record(fy_agent_of(card, s->number), &e->order))
        return fy_fail(at, "oom", "free events with fy_event_free", "out of host memory for recording an event");
    if (!card->backend->record(card, s->number, &e->point)) return fy_fail_device(at, card, "record an event");
    e->card = card;
    FY_EMIT(at, event_record, .event = e->id, .device = (uint8_t)card->number, .stream = s->number,
            .when = e->point.when < 0 ? FY_ABSENT : e->point.when);
    return true;
}

static bool wait_in(fy_site *at, const fy_stream *s, const fy_event *e)
{
    fy_time t = {0};
    if (e->card) {
        if (!e->card->backend->wait(e->card, &e->point, s->card, s->number, &t))
            return fy_fail_device(at, e->card, "let a stream wait for an event");
        fy_order_wait(fy_agent_of(s->card, s->number), &e->order);
    }
    FY_EMIT(at, event_wait, .event = e->id, .device = (uint8_t)s->card->number, .stream = s->number);
    return true;
}

void fy_event_record_at(fy_site *at, fy_event *e, fy_stream *s)
{
    FY_CALL(at);
    fy_session_start();
    if (is_given(at, 0, e) && (s = fy_stream_given(at, 1, s))) record(at, e, s);
}

void fy_event_wait_at(fy_site *at, fy_event *e, fy_stream *s)
{
    FY_CALL(at);
    fy_session_start();
    if (is_given(at, 0, e) && (s = fy_stream_given(at, 1, s))) wait_in(at, s, e);
}

void fy_stream_wait_event_at(fy_site *at, fy_stream *s, fy_event *e)
{
    FY_CALL(at);
    fy_session_start();
    if ((s = fy_stream_given(at, 0, s)) && is_given(at, 1, e)) wait_in(at, s, e);
}

/* As in PyTorch: records a temporary event and waits for it. */
void fy_stream_wait_stream_at(fy_site *at, fy_stream *s, fy_stream *other)
{
    FY_CALL(at);
    fy_session_start();
    if (!(s = fy_stream_given(at, 0, s)) || !(other = fy_stream_given(at, 1, other))) return;
    fy_event *e = fy_cuda_event_at(at, (fy_event_opts){0});
    if (!e) return;
    if (record(at, e, other)) wait_in(at, s, e);
    fy_event_free_at(at, e);
}

fy_event *fy_stream_record_event_at(fy_site *at, fy_stream *s)
{
    FY_CALL(at);
    fy_session_start();
    if (!(s = fy_stream_given(at, 0, s))) return NULL;
    fy_event *e = fy_cuda_event_at(at, (fy_event_opts){0});
    if (!e || record(at, e, s)) return e;
    fy_event_free_at(at, e);
    return NULL;
}

/* ---- the host waits ------------------------------------------------------------------------------------- */

void fy_event_synchronize_at(fy_site *at, fy_event *e)
{
    FY_CALL(at);
    fy_time t = {0};
    fy_session_start();
    if (!is_given(at, 0, e)) return;
    if (e->card && !e->card->backend->wait(e->card, &e->point, NULL, 0, &t)) {
        fy_fail_device(at, e->card, "reach an event");
        return;
    }
    fy_order_wait(FY_HOST, &e->order);
    if (e->card) fy_completion_poll(e->card);
    FY_EMIT(at, sync, .scope = FY_WORD_event, .device = e->card ? (uint8_t)e->card->number : FY_NO_DEVICE,
            .stream = e->card ? e->point.stream : FY_ABSENT, .event = e->id, .why = FY_WORD_user, .held = t.held);
    fy_narrate_flush();
}

void fy_stream_synchronize_at(fy_site *at, fy_stream *s)
{
    FY_CALL(at);
    fy_time t = {0};
    fy_session_start();
    if (!(s = fy_stream_given(at, 0, s))) return;
    if (!s->card->backend->wait(s->card, &(fy_point){.stream = s->number}, NULL, 0, &t)) {
        fy_fail_device(at, s->card, "finish the work of a stream");
        return;
    }
    fy_order_join(FY_HOST, fy_agent_of(s->card, s->number));
    fy_completion_poll(s->card);
    FY_EMIT(at, sync, .scope = FY_WORD_stream, .device = (uint8_t)s->card->number, .stream = s->number,
            .why = FY_WORD_user, .held = t.held);
    fy_narrate_flush();
}

/* ---- query ---------------------------------------------------------------------------------------------- */

/* 1, 0, or -1 after an error: a back end's done returns false for both, and sets fy_fault only on failure. */
static int is_done(fy_site *at, fy_dev *card, const fy_point *p, int64_t *when)
{
    fy_fault.text[0] = 0;
    if (card->backend->done(card, p, when)) return fy_completion_poll(card), 1;
    if (!fy_fault.text[0]) return 0;
    fy_fail_device(at, card, "report whether its work has ended");
    return -1;
}

static int query(fy_site *at, const fy_event *e, int64_t *when)
{
    int done = e->card ? is_done(at, e->card, &e->point, when) : 1;
    if (done < 0) return done;
    if (done) fy_order_wait(FY_HOST, &e->order);
    FY_EMIT(at, query, .scope = FY_WORD_event, .device = e->card ? (uint8_t)e->card->number : FY_NO_DEVICE,
            .stream = e->card ? e->point.stream : FY_ABSENT, .event = e->id, .done = (uint8_t)done);
    return done;
}

bool fy_event_query_at(fy_site *at, fy_event *e)
{
    FY_CALL(at);
    int64_t when;
    fy_session_start();
    return is_given(at, 0, e) && query(at, e, &when) == 1;
}

bool fy_stream_query_at(fy_site *at, fy_stream *s)
{
    FY_CALL(at);
    int64_t when;
    fy_session_start();
    if (!(s = fy_stream_given(at, 0, s))) return false;
    int done = is_done(at, s->card, &(fy_point){.stream = s->number}, &when);
    if (done < 0) return false;
    if (done) fy_order_join(FY_HOST, fy_agent_of(s->card, s->number));
    FY_EMIT(at, query, .scope = FY_WORD_stream, .device = (uint8_t)s->card->number, .stream = s->number,
            .done = (uint8_t)done);
    return done;
}

/* ---- elapsed time ---------------------------------------------------------------------------------------- */

static bool can_be_timed(fy_site *at, const fy_event *start, const fy_event *end)
{
    if (!start->timing || !end->timing)
        return fy_fail(at, "event", "create both with fy_cuda_event(.enable_timing = true)",
                       "Both events must be created with argument 'enable_timing=True'.");
    if (!start->card || !end->card)
        return fy_fail(at, "event", "call fy_event_record before and after the work that is to be timed",
                       "Both events must be recorded before calculating elapsed time.");
    if (start->card != end->card)
        return fy_fail(at, "event", "record both on streams of one card",
                       "CUDA error: invalid resource handle (the events are of %s and %s)", start->card->name,
                       end->card->name);
    return true;
}

double fy_event_elapsed_time_at(fy_site *at, fy_event *start, fy_event *end)
{
    FY_CALL(at);
    int64_t from = 0, to = 0;
    fy_session_start();
    if (!is_given(at, 0, start) || !is_given(at, 1, end) || !can_be_timed(at, start, end)) return NAN;
    int started = query(at, start, &from), ended = started == 1 ? query(at, end, &to) : started;
    if (ended == 0)
        fy_fail(at, "event", "wait for the later one first: fy_event_synchronize",
                "Both events must be completed before calculating elapsed time.");
    if (ended != 1) return NAN;
    fy_say_modelled();
    return (double)(to - from) / 1e6;
}
