/* replay.c: replays a log's program on the timing model, twice in lockstep: as logged, and with changes. The first is
 * compared with the log at every step: a log that its own card parameters do not reproduce is rejected. Host time
 * between calls to a card is the same in both. */
#include "device.h"
#include "event.h"
#include "replay.h"
#include "run_work.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card_params.h"
#include "timing_model.h"
#include "json_scan.h"
#include "memory.h"
#include "record_fields.h"
#include "action.h"

/* A storage on the changed timeline; times in ns, 0: never. A copy aside is one in a stream of its own. */
typedef struct storage_times {
    int64_t wrote, used;  /* when the cards' work that wrote it, or used it at all, has ended */
    int64_t filled, left; /* when a copy aside has written it, or read it; 0: the host has waited for that */
    int card, waited;     /* of that copy: its card; the stream that waits for it already, -1: none */
    bool host;            /* in host memory: the host itself waits before it uses these bytes */
} storage_times;

typedef struct timeline {
    fy_timing *card[REPLAY_CARDS]; /* 1: cuda:0 ...; [0], the host, is unused */
    int64_t now;
    int64_t *reached; /* by event id: when its stream reaches it, in ns; -1: never recorded */
    ledger ledger;
} timeline;

typedef struct replayer {
    const trace *t;
    const replay_plan *plan;
    timeline logged, changed;
    storage_times *storages; /* by id, if copies overlap; else NULL */
    int64_t last_storage;
    int streams;                       /* that the log uses, from 0 on */
    double host_flops, host_bandwidth; /* per second */
    int64_t host_overhead;
    int cards, edit;       /* edit: the next one */
    int64_t thread, chunk; /* the smallest staging buffer */
    char *err;
    size_t room;
} replayer;

/* Larger values are rejected: sums of times would overflow. */
static const int64_t most_amount = 1000000000000000, most_time = (int64_t)1 << 60, most_chunks = 10000000;

static bool refuse(replayer *p, const fy_event *e, const char *what)
{
    snprintf(p->err, p->room, "event %lld (%s) %s", (long long)e->seq, fy_kind_name(e->kind), what);
    return false;
}

/* ---- performing an action ---- */

static fy_time copy(timeline *w, const action *a, fy_copy_work *done)
{
    fy_copy_work c = a->copy;
    if (a->kind == PEER_COPY) fy_timing_copy_peer(w->card[a->card], w->card[a->peer_card], w->now, a->peer, &c);
    else fy_timing_copy(w->card[a->card], w->now, &c);

    ledger *l = &w->ledger;
    int direction = c.dir == FY_WORD_h2d   ? REPLAY_H2D
                    : c.dir == FY_WORD_d2h ? REPLAY_D2H
                    : c.dir == FY_WORD_d2d ? REPLAY_D2D
                                           : REPLAY_P2P;
    l->copies[direction]++;
    l->bytes[direction] += (int64_t)c.bytes;
    l->wire[direction] += c.time.wire;
    l->staging += c.time.staging;
    *done = c;
    return c.time;
}

static fy_time run(timeline *w, const action *a)
{
    fy_time t;
    fy_timing_run(w->card[a->card], w->now, a->stream, a->units, a->flops, a->bytes, &t);
    w->ledger.ops++;
    w->ledger.compute += t.end - t.start;
    return t;
}

static fy_time call(timeline *w, const action *a)
{
    fy_time t;
    fy_timing *card = w->card[a->card];
    fy_timing_call(card, w->now, &t);
    int64_t after = w->now + t.held, tail = fy_timing_tail(card, a->stream < 0 ? 0 : a->stream);
    if (a->kind == EVENT_RECORD) w->reached[a->event] = tail > after ? tail : after;
    if (a->kind == STREAM_WAIT) fy_timing_stream_wait(card, a->stream, w->reached[a->event]);
    if (a->kind == QUERY) w->ledger.queries++;
    return t;
}

static fy_time wait(timeline *w, const action *a)
{
    fy_time t;
    fy_timing *card = w->card[a->card];
    int64_t until = a->event > 0 ? w->reached[a->event] : fy_timing_tail(card, a->stream);
    fy_timing_host_wait(card, w->now, until, &t);
    w->ledger.waits++;
    return t;
}

/* done: of a copy, how it went. */
static fy_time perform(timeline *w, const action *a, fy_copy_work *done)
{
    fy_time t = {.start = w->now, .end = w->now};
    fy_timing *card = w->card[a->card];
    if (a->kind == COPY || a->kind == PEER_COPY) t = copy(w, a, done);
    else if (a->kind == OP) t = run(w, a);
    else if (a->kind == SYNC) t = wait(w, a);
    else if (a->kind == SEGMENT_ALLOC) fy_timing_alloc(card, w->now, a->bytes, a->mem, &t);
    else if (a->kind == SEGMENT_FREE) fy_timing_release(card, w->now, a->bytes, a->mem, &t);
    else t = call(w, a);
    w->now += t.held;
    w->ledger.held += t.held;
    w->ledger.overhead += t.overhead;
    return t;
}

/* The action with the plan's changes. Ferry's own buffers, for an item or a print, have no storage and stay pageable;
 * copies to the host stay blocking, since the program reads the result next. */
static action apply_plan(const replay_plan *plan, const replay_edit *edit, const fy_event *e, action a)
{
    if (a.kind == COPY && plan->pinned && e->is.copy.src.storage && e->is.copy.dst.storage) a.copy.pinned = true;
    if (a.kind == COPY && plan->async && a.copy.dir == FY_WORD_h2d) a.copy.async = true;
    a.peer = (a.peer || plan->peer_on) && !plan->peer_off;
    bool moves = edit && (a.kind == COPY || a.kind == PEER_COPY);
    if (moves) a.copy.pinned |= edit->how == REPLAY_PIN, a.peer |= edit->how == REPLAY_PEER;
    if (moves && edit->how == REPLAY_RESIZE) a.bytes = edit->value, a.copy.bytes = (size_t)edit->value;
    if (edit && edit->how == REPLAY_OVERLAP && a.kind == COPY) a.copy.pinned = a.copy.async = true;
    if (edit && edit->how == REPLAY_ON_HOST && a.kind == OP) a.kind = HOST;
    if (edit && edit->how == REPLAY_ON_CARD && a.kind == HOST && e->kind == FY_KIND_op)
        a.kind = OP, a.card = (int)edit->value, a.stream = 0;
    return a;
}

/* The edit of this event; NULL: none. */
static const replay_edit *edit_of(replayer *p, const fy_event *e)
{
    const replay_plan *plan = p->plan;
    while (p->edit < plan->edit_count && plan->edits[p->edit].seq < (int64_t)e->seq) p->edit++;
    const replay_edit *edit = p->edit < plan->edit_count ? &plan->edits[p->edit] : NULL;
    return edit && edit->seq == (int64_t)e->seq ? edit : NULL;
}

/* ---- copies in streams of their own ---- */

static storage_times *storage_of(replayer *p, uint32_t id)
{
    return p->storages && id > 0 && id <= p->last_storage ? &p->storages[id] : NULL;
}

/* A call on a card that takes its overhead alone: to record an event, or to let a stream wait for one. */
static void pay_call(replayer *p, int card)
{
    fy_time t;
    fy_timing_call(p->changed.card[card], p->changed.now, &t);
    p->changed.now += t.held;
    p->changed.ledger.held += t.held;
    p->changed.ledger.overhead += t.overhead;
}

/* What event i uses and a copy in a stream of its own has not finished: a card's work waits in its stream, the host
 * until the copy has ended. */
static void await_copies(replayer *p, int i, const action *b)
{
    action_use uses[ACTION_USES];
    bool on_card = b->kind == OP || b->kind == COPY || b->kind == PEER_COPY;
    int64_t until = 0;
    int card = 0;
    for (int n = p->storages ? action_uses(p->t, i, uses) : 0; n-- > 0;) {
        storage_times *s = storage_of(p, uses[n].storage);
        int64_t end = !s ? 0 : uses[n].writes && s->left > s->filled ? s->left : s->filled;
        if (end <= 0 || (!on_card && !s->host) || (on_card && s->waited == b->stream && s->card == b->card)) continue;
        if (end > until) until = end;
        card = s->card;
        if (on_card) s->waited = b->stream;
        else s->filled = s->left = 0;
    }
    if (until && on_card) {
        pay_call(p, card);
        fy_timing_stream_wait(p->changed.card[b->card], b->stream, until);
    } else if (until) {
        fy_time t;
        fy_timing_host_wait(p->changed.card[card], p->changed.now, until, &t);
        p->changed.now += t.held;
        p->changed.ledger.held += t.held;
        p->changed.ledger.waits++;
    }
}

/* Event i of a copy that leaves its stream: it waits for what it needs, and an event is recorded behind it. */
static fy_time copy_aside(replayer *p, int i, action *b, fy_copy_work *done)
{
    const fy_ev_copy *is = &p->t->events[i].is.copy;
    storage_times *src = storage_of(p, is->src.storage), *dst = storage_of(p, is->dst.storage);
    int64_t needs = src ? src->wrote : 0;
    if (dst && dst->used > needs) needs = dst->used;
    b->stream = b->copy.stream = b->copy.to_stream = p->streams + (b->copy.dir == FY_WORD_d2h);
    if (needs) {
        pay_call(p, b->card); /* an event recorded behind that work */
        pay_call(p, b->card);
        fy_timing_stream_wait(p->changed.card[b->card], b->stream, needs);
    }
    fy_time got = perform(&p->changed, b, done);
    pay_call(p, b->card);
    bool up = b->copy.dir == FY_WORD_h2d;
    if (src) src->left = got.end, src->card = b->card, src->waited = -1, src->host = up;
    if (dst) dst->filled = got.end, dst->card = b->card, dst->waited = -1, dst->host = !up;
    return got;
}

/* Event i has ended on a card of the changed timeline. */
static void note_uses(replayer *p, int i, int64_t end)
{
    action_use uses[ACTION_USES];
    for (int n = p->storages ? action_uses(p->t, i, uses) : 0; n-- > 0;) {
        storage_times *s = storage_of(p, uses[n].storage);
        if (!s) continue;
        if (end > s->used) s->used = end;
        if (uses[n].writes && end > s->wrote) s->wrote = end;
    }
}

/* The grader's events follow the program's, and have no time of it. */
static bool is_verdict(const fy_event *e) { return e->kind == FY_KIND_check || e->kind == FY_KIND_grade; }

/* ---- what the changed log says ---- */

static void tell_nothing(replayer *p)
{
    for (int i = 0; p->plan->moments && i < p->t->count; i++)
        p->plan->moments[i] = (replay_moment){
            .t = -1, .held = -1, .start = -1, .wire = -1, .staging = -1, .overhead = -1, .when = -1, .bytes = -1};
}

/* When event i was emitted. An event that takes no time keeps its distance from the last one that does. */
static void tell_time(replayer *p, int i)
{
    replay_moment *all = p->plan->moments;
    if (!all || is_verdict(&p->t->events[i])) return;
    int64_t since = p->t->events[i].t - p->logged.now;
    all[i].t = p->changed.now + (since > 0 && p->t->events[i].t <= most_time ? since : 0);
    if (i && all[i].t < all[i - 1].t) all[i].t = all[i - 1].t;
}

static int complete_of(const replayer *p, int i)
{
    const fy_event *e = &p->t->events[i];
    if (e->kind != FY_KIND_copy && e->kind != FY_KIND_op) return -1;
    return action_complete(p->t, i, e->kind == FY_KIND_copy ? e->is.copy.id : e->is.op.id);
}

/* Work of the host begins and ends as much earlier as everything after it. */
static void tell_shift(replayer *p, int i)
{
    int j = complete_of(p, i);
    if (!p->plan->moments || j < 0 || p->t->events[j].is.complete.start < 0) return;
    const fy_ev_complete *is = &p->t->events[j].is.complete;
    int64_t shift = p->changed.now - p->logged.now;
    p->plan->moments[j].start = is->start + shift < 0 ? 0 : is->start + shift;
    p->plan->moments[j].end = p->plan->moments[j].start + (is->end > is->start ? is->end - is->start : 0);
}

static void tell_left_out(replayer *p, int i)
{
    int also[] = {i, complete_of(p, i), p->t->events[i].kind == FY_KIND_copy ? action_copy_wait(p->t, i) : -1};
    for (int k = 0; p->plan->moments && k < 3; k++)
        if (also[k] >= 0) p->plan->moments[also[k]].left_out = true;
}

/* a: the action as changed, which took `got` from `before` on; done: how it went, if it is a copy. */
static void tell_work(replayer *p, int i, const action *a, int64_t before, const fy_time *got, const fy_copy_work *done)
{
    replay_moment *m = p->plan->moments;
    if (!m) return;
    bool copies = a->kind == COPY || a->kind == PEER_COPY;
    m[i].held = got->held;
    if (a->kind == EVENT_RECORD) m[i].when = p->changed.reached[a->event];
    if (copies || a->kind == OP) {
        int j = complete_of(p, i), wait = copies ? action_copy_wait(p->t, i) : -1;
        m[i].start = got->start, m[i].end = got->end;
        m[i].wire = got->wire, m[i].staging = got->staging, m[i].overhead = got->overhead;
        m[i].card = a->kind == OP ? (uint8_t)a->card : 0;
        if (copies) m[i].route = done->route, m[i].was_async = done->was_async, m[i].pinned = a->copy.pinned;
        if (copies) m[i].bytes = (int64_t)a->copy.bytes;
        if (copies && a->stream >= p->streams) m[i].stream = (uint8_t)a->stream;
        if (j >= 0) m[j] = m[i], m[j].bytes = m[j].held = -1;
        if (wait >= 0 && m[i].stream) m[wait].left_out = true; /* it waits in its own stream */
        else if (wait >= 0) {
            /* divided as lib/ops/transfer.c does */
            fy_time call_cost;
            fy_timing_call(p->changed.card[a->card], 0, &call_cost);
            int64_t ns = got->start - before - call_cost.held;
            m[wait].held = ns < 0 ? 0 : ns < got->held ? ns : got->held;
            m[i].held -= m[wait].held;
        }
    }
}

/* An op of a card, computed by the host instead; roofline, as lib/devices/cpu.c. */
static void run_on_host(replayer *p, int i, const action *a)
{
    double work = 1e9 * fmax((double)a->flops / p->host_flops, (double)a->bytes / p->host_bandwidth);
    int64_t before = p->changed.now, ns = p->host_overhead + llround(fmin(work, (double)most_time));
    p->changed.now += ns;
    p->changed.ledger.own += ns;
    replay_moment *m = p->plan->moments;
    int j = complete_of(p, i);
    if (!m) return;
    m[i].held = ns;
    m[i].on_host = true;
    if (j < 0) return;
    m[j].on_host = true;
    m[j].start = before + p->host_overhead;
    m[j].end = p->changed.now;
    m[j].overhead = p->host_overhead;
}

/* ---- both timelines, step by step ---- */

static void advance(replayer *p, int64_t ns)
{
    p->logged.now += ns;
    p->changed.now += ns;
}

static int64_t time_of(const fy_event *e) { return e->t < 0 || e->t > most_time ? -1 : e->t; }

/* Advances to `begin`: host time that has no event. */
static bool advance_to(replayer *p, const fy_event *e, int64_t begin)
{
    int64_t gap = begin - p->logged.now;
    if (gap < 0) return refuse(p, e, "starts before the previous call has ended: open a log as Ferry wrote it");
    advance(p, gap);
    p->logged.ledger.untold += gap;
    p->changed.ledger.untold += gap;
    return true;
}

static bool is_valid(replayer *p, const fy_event *e, const action *a)
{
    bool card =
        a->card > 0 && a->card <= p->cards && (a->kind != PEER_COPY || (a->peer_card > 0 && a->peer_card <= p->cards));
    bool needs_stream =
        a->kind == COPY || a->kind == PEER_COPY || a->kind == OP || a->kind == EVENT_RECORD || a->kind == STREAM_WAIT;
    bool valid = card && a->stream < FY_STREAMS && (a->stream >= 0 || !needs_stream);
    if (a->kind == PEER_COPY) valid = valid && a->copy.to_stream < FY_STREAMS;
    if (a->kind == COPY || a->kind == PEER_COPY || a->kind == OP || a->kind == SEGMENT_ALLOC || a->kind == SEGMENT_FREE)
        valid = valid && a->bytes >= 0 && a->bytes <= most_amount && a->held >= 0;
    if (a->kind == COPY || a->kind == PEER_COPY) valid = valid && a->bytes / p->chunk <= most_chunks;
    if (a->kind == OP) valid = valid && a->flops >= 0 && a->flops <= most_amount;
    if (a->kind == EVENT_RECORD || a->kind == STREAM_WAIT) valid = valid && a->event > 0;
    return valid || refuse(p, e, "lacks a field, or has an unknown card or stream");
}

static bool is_same_thread(replayer *p, const fy_event *e)
{
    if (p->thread >= 0 && e->th != p->thread)
        return refuse(p, e, "comes from a second thread: the log does not record how threads wait for each other");
    p->thread = e->th;
    return true;
}

static bool step(replayer *p, int i)
{
    const fy_event *e = &p->t->events[i];
    action a = action_read(p->t, i);
    int64_t t = time_of(e);
    bool waits_for_event = a.event > 0 && (a.kind == STREAM_WAIT || a.kind == SYNC);
    if (a.kind == NOTHING || (waits_for_event && p->logged.reached[a.event] < 0)) {
        await_copies(p, i, &a);
        return tell_shift(p, i), true; /* never recorded: no wait */
    }
    if (!is_same_thread(p, e)) return false;
    const replay_edit *edit = edit_of(p, e);
    bool left_out = edit && edit->how == REPLAY_LEAVE_OUT;
    action b = apply_plan(p->plan, edit, e, a);
    bool aside = edit && edit->how == REPLAY_OVERLAP && b.kind == COPY;
    fy_copy_work went = {0};
    if (a.kind == HOST) {
        if (!advance_to(p, e, t - a.held)) return false;
        p->logged.now += a.held;
        p->logged.ledger.own += a.held;
        if (!left_out) await_copies(p, i, &b);
        int64_t before = p->changed.now;
        if (b.kind != HOST && !left_out && is_valid(p, e, &b)) {
            fy_time got = perform(&p->changed, &b, &went);
            return tell_work(p, i, &b, before, &got, &went), true;
        }
        if (left_out) return tell_left_out(p, i), true;
        p->changed.now += a.held;
        p->changed.ledger.own += a.held;
        return tell_shift(p, i), true;
    }
    if (!is_valid(p, e, &a)) return false;

    fy_time cost;
    fy_timing_call(p->logged.card[a.card], 0, &cost);
    if (!advance_to(p, e, t - (a.held < 0 ? cost.held : a.held))) return false;
    if (!left_out && !aside) await_copies(p, i, &b);
    int64_t before = p->changed.now;
    fy_time got = perform(&p->logged, &a, &went);
    if (left_out) tell_left_out(p, i);
    else if (b.kind == HOST) run_on_host(p, i, &a);
    else {
        fy_time other = aside ? copy_aside(p, i, &b, &went) : perform(&p->changed, &b, &went);
        tell_work(p, i, &b, before, &other, &went);
        note_uses(p, i, other.end);
    }

    if (p->changed.now > most_time || fy_timing_tail(p->changed.card[a.card], -1) > most_time)
        return refuse(p, e, "would end later than the model can represent (36 years)");
    bool same = p->logged.now == t && (a.start < 0 || (a.start == got.start && a.end == got.end));
    return same || refuse(p, e,
                          "has a different time than the log's card parameters give: open a log as this version of "
                          "Ferry wrote it");
}

/* ---- card parameters ---- */

static const char *text_of(json v, char text[64])
{
    snprintf(text, 64, "%.*s", v.size < 2 ? 0 : v.size < 64 ? (int)v.size - 2 : 62, v.size ? v.at + 1 : "");
    return text;
}

static bool read_params(replayer *p, json device, fy_card *card)
{
    char name[64];
    json model = json_member(device, "model");
    *card = (fy_card){0};
    for (const fy_card_param *f = fy_card_params; f->option; f++) {
        json figure = json_member(model, f->name);
        double number = json_is_number(figure) ? json_number(figure) : f->newer && !figure.size ? 0 : -1;
        int64_t value = number >= 0 && number <= (double)most_time ? (int64_t)number : -1;
        if (value > f->most || (value < f->least && (value != 0 || f->unit == FY_UNIT_BYTES))) {
            snprintf(p->err, p->room, "the session event has no valid %s.%s: record the log again with this version",
                     text_of(json_member(device, "name"), name), f->name);
            return false;
        }
        fy_card_param_set(card, f, value);
    }
    return true;
}

static void read_host(replayer *p, json model)
{
    json flops = json_member(model, "flops_f32"), bandwidth = json_member(model, "memory_bandwidth");
    json overhead = json_member(model, "call_overhead");
    if (json_is_number(flops)) p->host_flops = json_number(flops);
    if (json_is_number(bandwidth)) p->host_bandwidth = json_number(bandwidth);
    if (json_is_number(overhead))
        p->host_overhead = json_number(overhead) < (double)most_amount ? (int64_t)json_number(overhead) : -1;
}

static bool open_card(replayer *p, json device)
{
    fy_card own, other;
    char name[64];
    text_of(json_member(device, "name"), name);
    int n = strncmp(name, "cuda:", 5) ? 0 : atoi(name + 5) + 1;
    if (!strcmp(name, "cpu")) read_host(p, json_member(device, "model"));
    if (n <= 0 || n >= REPLAY_CARDS) return true;
    if (n != ++p->cards)
        return snprintf(p->err, p->room, "the session event lists its devices out of order; open an unedited log"),
               false;
    if (!json_is(json_member(device, "kind"), "sim"))
        return snprintf(p->err, p->room, "%s is not a simulated card; record the log with FERRY_GPU=sim", name), false;
    if (!read_params(p, device, &own)) return false;
    other = p->plan->card ? *p->plan->card : own;
    if (p->chunk == 0 || own.staging_chunk < p->chunk) p->chunk = own.staging_chunk;
    if (p->plan->bus) other.bus_bandwidth = (double)p->plan->bus;
    p->logged.card[n] = fy_timing_make(&own);
    p->changed.card[n] = fy_timing_make(&other);
    if (!p->logged.card[n] || !p->changed.card[n]) memory_fail("a replay");
    return true;
}

static bool open_cards(replayer *p)
{
    const fy_event *session = p->t->events;
    if (!p->t->count || session->kind != FY_KIND_session)
        return snprintf(p->err, p->room, "it does not begin with a session event; open a log that Ferry wrote"), false;
    if (session->is.session.clock != FY_WORD_model) {
        snprintf(p->err, p->room,
                 "its times were measured on a real card, and the model cannot reproduce them; record "
                 "the log with FERRY_GPU=sim");
        return false;
    }
    fy_bytes text = fy_event_bytes(session, session->is.session.devices);
    json list = json_of(text.data, text.size), device;
    while (json_next(&list, NULL, &device))
        if (!open_card(p, device)) return false;
    return true;
}

static bool make_events(replayer *p)
{
    int64_t last = 0;
    for (int i = 0; i < p->t->count; i++) {
        action a = action_read(p->t, i);
        if (a.event > last) last = a.event;
    }
    if (last > TRACE_MOST) return snprintf(p->err, p->room, "an event id is above %d: edited?", TRACE_MOST), false;
    p->logged.reached = memory_realloc(NULL, (size_t)(last + 1), sizeof(int64_t), "a replay");
    p->changed.reached = memory_realloc(NULL, (size_t)(last + 1), sizeof(int64_t), "a replay");
    for (int64_t i = 0; i <= last; i++) p->logged.reached[i] = p->changed.reached[i] = -1;
    return true;
}

/* Copies that overlap need two streams that the log leaves free, and a view of each storage. */
static bool make_room_aside(replayer *p)
{
    bool overlaps = false, hosts = false;
    for (int i = 0; i < p->plan->edit_count; i++) {
        overlaps |= p->plan->edits[i].how == REPLAY_OVERLAP;
        hosts |= p->plan->edits[i].how == REPLAY_ON_HOST;
    }
    if (hosts &&
        !(p->host_flops > 0 && p->host_bandwidth > 0 && p->host_overhead >= 0 && p->host_overhead < most_amount))
        return snprintf(p->err, p->room, "the log has no model of the CPU; record it with FERRY_GPU=sim"), false;
    for (int i = 0; i < p->t->count; i++) {
        action_use uses[ACTION_USES];
        action a = action_read(p->t, i);
        if (a.stream >= p->streams && a.stream < FY_STREAMS) p->streams = a.stream + 1;
        if (a.copy.to_stream >= p->streams && a.copy.to_stream < FY_STREAMS) p->streams = a.copy.to_stream + 1;
        for (int n = overlaps ? action_uses(p->t, i, uses) : 0; n-- > 0;)
            if (uses[n].storage > p->last_storage) p->last_storage = uses[n].storage;
    }
    if (!overlaps) return true;
    if (p->streams + 2 > FY_STREAMS)
        return snprintf(p->err, p->room, "the run uses all %d streams, so its copies cannot have their own",
                        FY_STREAMS),
               false;
    if (p->last_storage > TRACE_MOST)
        return snprintf(p->err, p->room, "the log has a storage id above %d; was it edited?", TRACE_MOST), false;
    p->storages = memory_zeroed((size_t)p->last_storage + 1, sizeof *p->storages, "a replay");
    return true;
}

static void close_timeline(timeline *w)
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
    replayer p = {.t = t, .plan = plan, .thread = -1, .err = err, .room = room};
    bool ok = open_cards(&p) && make_events(&p) && make_room_aside(&p);
    if (ok) tell_nothing(&p);
    for (int i = 0; ok && i < t->count; i++)
        if ((ok = step(&p, i))) tell_time(&p, i);
    int last = t->count - 1;
    while (last > 0 && is_verdict(&t->events[last])) last--;
    if (ok && t->count) ok = advance_to(&p, &t->events[last], time_of(&t->events[last]));
    free(p.storages);
    close_timeline(&p.logged);
    close_timeline(&p.changed);
    *logged = p.logged.ledger;
    *other = p.changed.ledger;
    return ok;
}
