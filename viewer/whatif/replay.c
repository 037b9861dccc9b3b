/* replay.c: a log's program through the timetable once more, in two worlds at a time: as it was logged, and as it
 * would have been. The first is held against the log at every step, so that nothing is said of a log whose times
 * do not follow from its figures. What the host did between calls to a card takes as long in both. */
#include "device.h"
#include "event.h"
#include "replay.h"
#include "run_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card_params.h"
#include "timing_model.h"
#include "json_scan.h"
#include "memory.h"
#include "record_fields.h"
#include "action.h"

typedef struct world {
    fy_timing *card[REPLAY_CARDS]; /* by number; 0 is the host and has none */
    int64_t now;
    int64_t *reached; /* by event: when its stream gets there; -1: never recorded */
    ledger ledger;
} world;

typedef struct player {
    const trace *t;
    const replay_plan *plan;
    world own, other;
    int cards;
    int64_t thread, chunk; /* the smallest staging buffer */
    char *err;
    size_t room;
} player;

/* Beyond these a log is nonsense, and times would not fit. */
static const int64_t most_amount = 1000000000000000, most_time = (int64_t)1 << 60, most_chunks = 10000000;

static bool refuse(player *p, const fy_event *e, const char *what)
{
    snprintf(p->err, p->room, "event %lld (%s) %s", (long long)e->seq, fy_kind_name(e->kind), what);
    return false;
}

/* ---- doing ---- */

static int way_of(fy_word dir)
{
    return dir == FY_WORD_h2d   ? REPLAY_H2D
           : dir == FY_WORD_d2h ? REPLAY_D2H
           : dir == FY_WORD_d2d ? REPLAY_D2D
                                : REPLAY_P2P;
}

static void note_copy(ledger *l, const fy_copy_work *w)
{
    int way = way_of(w->dir);
    l->copies[way]++;
    l->bytes[way] += (int64_t)w->bytes;
    l->wire[way] += w->time.wire;
    l->staging += w->time.staging;
}

static fy_time copy(world *w, const action *a)
{
    fy_copy_work c = a->copy;
    if (a->deed == ACROSS) fy_timing_copy_peer(w->card[a->card], w->card[a->other], w->now, a->peer, &c);
    else fy_timing_copy(w->card[a->card], w->now, &c);
    note_copy(&w->ledger, &c);
    return c.time;
}

static fy_time run(world *w, const action *a)
{
    fy_time t;
    fy_timing_run(w->card[a->card], w->now, a->stream, a->flops, a->bytes, &t);
    w->ledger.ops++;
    w->ledger.compute += t.end - t.start;
    return t;
}

static fy_time call(world *w, const action *a)
{
    fy_time t;
    fy_timing *card = w->card[a->card];
    fy_timing_call(card, w->now, &t);
    int64_t after = w->now + t.held, tail = fy_timing_tail(card, a->stream < 0 ? 0 : a->stream);
    if (a->deed == RECORD) w->reached[a->event] = tail > after ? tail : after;
    if (a->deed == STREAM_WAITS) fy_timing_stream_wait(card, a->stream, w->reached[a->event]);
    if (a->deed == ASK) w->ledger.queries++;
    return t;
}

static fy_time wait(world *w, const action *a)
{
    fy_time t;
    fy_timing *card = w->card[a->card];
    int64_t until = a->event > 0 ? w->reached[a->event] : fy_timing_tail(card, a->stream);
    fy_timing_host_wait(card, w->now, until, &t);
    w->ledger.waits++;
    return t;
}

static fy_time perform(world *w, const action *a)
{
    fy_time t = {.start = w->now, .end = w->now};
    fy_timing *card = w->card[a->card];
    if (a->deed == COPY || a->deed == ACROSS) t = copy(w, a);
    else if (a->deed == RUN) t = run(w, a);
    else if (a->deed == WAIT) t = wait(w, a);
    else if (a->deed == TAKE) fy_timing_alloc(card, w->now, a->bytes, a->mem, &t);
    else if (a->deed == GIVE) fy_timing_release(card, w->now, a->bytes, a->mem, &t);
    else t = call(w, a);
    w->now += t.held;
    w->ledger.held += t.held;
    w->ledger.overhead += t.overhead;
    return t;
}

/* What is to be otherwise. Memory of Ferry's own, for an item or a print, is no storage: it stays pageable; and a
 * copy home stays one that waits, since the program goes on to read what it brought. */
static action otherwise(const replay_plan *plan, const fy_event *e, action a)
{
    if (a.deed == COPY && plan->pinned && e->is.copy.src.storage && e->is.copy.dst.storage) a.copy.pinned = true;
    if (a.deed == COPY && plan->async && a.copy.dir == FY_WORD_h2d) a.copy.async = true;
    if (plan->peer_on) a.peer = true;
    if (plan->peer_off) a.peer = false;
    return a;
}

/* ---- the two worlds, step by step ---- */

static void pass(player *p, int64_t ns)
{
    p->own.now += ns;
    p->other.now += ns;
}

static int64_t time_of(const fy_event *e) { return e->t < 0 || e->t > most_time ? -1 : e->t; }

/* The host's time until `begin`, of which the log tells nothing. */
static bool reach(player *p, const fy_event *e, int64_t begin)
{
    int64_t gap = begin - p->own.now;
    if (gap < 0) return refuse(p, e, "begins before the call before it has ended; is the log edited?");
    pass(p, gap);
    p->own.ledger.untold += gap;
    p->other.ledger.untold += gap;
    return true;
}

static bool can_be_done(player *p, const fy_event *e, const action *a)
{
    bool card = a->card > 0 && a->card <= p->cards && (a->deed != ACROSS || (a->other > 0 && a->other <= p->cards));
    bool needs_stream =
        a->deed == COPY || a->deed == ACROSS || a->deed == RUN || a->deed == RECORD || a->deed == STREAM_WAITS;
    bool all_right = card && a->stream < FY_STREAMS && (a->stream >= 0 || !needs_stream);
    if (a->deed == COPY || a->deed == ACROSS || a->deed == RUN || a->deed == TAKE || a->deed == GIVE)
        all_right = all_right && a->bytes >= 0 && a->bytes <= most_amount && a->held >= 0;
    if (a->deed == COPY || a->deed == ACROSS) all_right = all_right && a->bytes / p->chunk <= most_chunks;
    if (a->deed == RUN) all_right = all_right && a->flops >= 0 && a->flops <= most_amount;
    if (a->deed == RECORD || a->deed == STREAM_WAITS) all_right = all_right && a->event > 0;
    if (!all_right) return refuse(p, e, "lacks a field, or names an unknown card or stream");
    if (p->thread >= 0 && e->th != p->thread)
        return refuse(p, e, "comes from a second thread: what waited for what among threads is not in the log");
    p->thread = e->th;
    return true;
}

/* Is the event an order without effect: of an event that was never recorded? */
static bool is_idle(const player *p, const action *a)
{
    bool by_event = a->deed == STREAM_WAITS || (a->deed == WAIT && a->event > 0);
    return a->deed == NOTHING || (by_event && a->event > 0 && p->own.reached[a->event] < 0);
}

static bool step(player *p, int i)
{
    const fy_event *e = &p->t->events[i];
    action a = action_read(p->t, i), b;
    int64_t t = time_of(e);
    if (is_idle(p, &a)) return true;
    if (a.deed == HOST) {
        if (!reach(p, e, t - a.held)) return false;
        pass(p, a.held);
        p->own.ledger.own += a.held;
        p->other.ledger.own += a.held;
        return true;
    }
    if (!can_be_done(p, e, &a)) return false;
    fy_time cost;
    fy_timing_call(p->own.card[a.card], 0, &cost);
    if (!reach(p, e, t - (a.held < 0 ? cost.held : a.held))) return false;
    b = otherwise(p->plan, e, a);
    fy_time got = perform(&p->own, &a);
    perform(&p->other, &b);
    if (p->other.now > most_time || fy_timing_tail(p->other.card[a.card], -1) > most_time)
        return refuse(p, e, "would take longer than can be told");
    bool same = p->own.now == t && (a.start < 0 || (a.start == got.start && a.end == got.end));
    return same || refuse(p, e, "took another time than the log's own figures give; it was made by another version");
}

/* ---- the figures ---- */

static const char *text_of(json v, char text[64])
{
    snprintf(text, 64, "%.*s", v.size < 2 ? 0 : v.size < 64 ? (int)v.size - 2 : 62, v.size ? v.at + 1 : "");
    return text;
}

static bool read_figures(player *p, json device, fy_card *card)
{
    char name[64];
    json model = json_member(device, "model");
    *card = (fy_card){0};
    for (const fy_card_param *f = fy_card_params; f->option; f++) {
        json figure = json_member(model, f->name);
        double said = json_is_number(figure) ? json_number(figure) : -1;
        int64_t value = said >= 0 && said <= (double)most_time ? (int64_t)said : -1;
        if (value > f->most || (value < f->least && (value != 0 || f->unit == FY_UNIT_BYTES))) {
            snprintf(p->err, p->room,
                     "the session does not say %s's %s, or nothing that can be: make the log again with this version",
                     text_of(json_member(device, "name"), name), f->name);
            return false;
        }
        fy_card_param_set(card, f, value);
    }
    return true;
}

static bool open_card(player *p, json device)
{
    fy_card own, other;
    char name[64];
    text_of(json_member(device, "name"), name);
    int n = strncmp(name, "cuda:", 5) ? 0 : atoi(name + 5) + 1;
    if (n <= 0 || n >= REPLAY_CARDS) return true;
    if (n != ++p->cards) return snprintf(p->err, p->room, "the session's devices are out of order"), false;
    if (!json_is(json_member(device, "kind"), "sim"))
        return snprintf(p->err, p->room, "%s is no simulated card", name), false;
    if (!read_figures(p, device, &own)) return false;
    other = p->plan->card ? *p->plan->card : own;
    if (p->chunk == 0 || own.staging_chunk < p->chunk) p->chunk = own.staging_chunk;
    if (p->plan->bus) other.bus_bandwidth = (double)p->plan->bus;
    p->own.card[n] = fy_timing_make(&own);
    p->other.card[n] = fy_timing_make(&other);
    if (!p->own.card[n] || !p->other.card[n]) memory_fail("a replay");
    return true;
}

static bool open_cards(player *p)
{
    const fy_event *session = p->t->events;
    if (!p->t->count || session->kind != FY_KIND_session)
        return snprintf(p->err, p->room, "it does not begin with a session; open a log that Ferry wrote"), false;
    if (session->is.session.clock != FY_WORD_model) {
        snprintf(p->err, p->room,
                 "its times were measured on a real card: the model cannot work them out again; make "
                 "the log with FERRY_GPU=sim");
        return false;
    }
    fy_bytes text = fy_event_bytes(session, session->is.session.devices);
    json list = json_of(text.data, text.size), device;
    while (json_next(&list, NULL, &device))
        if (!open_card(p, device)) return false;
    return true;
}

static bool make_events(player *p)
{
    int64_t last = 0;
    for (int i = 0; i < p->t->count; i++) {
        action a = action_read(p->t, i);
        if (a.event > last) last = a.event;
    }
    if (last > TRACE_MOST) return snprintf(p->err, p->room, "an event id is out of range"), false;
    p->own.reached = memory_realloc(NULL, (size_t)(last + 1), sizeof(int64_t), "a replay");
    p->other.reached = memory_realloc(NULL, (size_t)(last + 1), sizeof(int64_t), "a replay");
    for (int64_t i = 0; i <= last; i++) p->own.reached[i] = p->other.reached[i] = -1;
    return true;
}

static void close_world(world *w)
{
    w->ledger.total = w->now;
    for (int i = 1; i < REPLAY_CARDS; i++) {
        int64_t tail = w->card[i] ? fy_timing_tail(w->card[i], -1) : 0;
        if (tail > w->ledger.total) w->ledger.total = tail;
        fy_timing_free(w->card[i]);
    }
    free(w->reached);
}

bool replay(const trace *t, const replay_plan *plan, ledger *logged, ledger *other, char *err, size_t room)
{
    player p = {.t = t, .plan = plan, .thread = -1, .err = err, .room = room};
    bool ok = open_cards(&p) && make_events(&p);
    for (int i = 0; ok && i < t->count; i++) ok = step(&p, i);
    if (ok && t->count) ok = reach(&p, &t->events[t->count - 1], time_of(&t->events[t->count - 1]));
    close_world(&p.own);
    close_world(&p.other);
    *logged = p.own.ledger;
    *other = p.other.ledger;
    return ok;
}
