/* action.c: events of a log, read as what a program did. A copy or an op is told in several lines, which belong
 * together here. */
#include "action.h"
#include "device.h"
#include "event.h"

#include <limits.h>

int action_card(uint8_t device) { return device < REPLAY_CARDS ? device : 0; }

/* What a log may say and what makes sense are two things: numbers that add up without running over, or -1. */
static int64_t amount_of(int64_t n) { return n >= 0 && n <= (int64_t)1 << 53 ? n : -1; }
static int stream_of(int64_t n) { return n < 0 ? -1 : n < INT_MAX ? (int)n : INT_MAX; }

/* The complete of a copy or an op stands a line or two behind it. */
static void read_complete(const trace *t, int i, uint32_t id, action *a)
{
    for (int j = i + 1; j < t->count && j < i + 8; j++) {
        const fy_ev_complete *is = &t->events[j].is.complete;
        if (t->events[j].kind != FY_KIND_complete || is->id != id) continue;
        a->start = is->start;
        a->end = is->end;
        if (a->deed == RUN && a->held == 0 && a->start == a->end && is->overhead == 0) a->deed = NOTHING;
        return;
    }
}

/* A copy home that was waited for is two: the wait for the card's earlier work has an event of its own. */
static int64_t waited_before(const trace *t, int i)
{
    for (int j = i + 1; j < t->count && j < i + 8; j++) {
        const fy_event *e = &t->events[j];
        if (e->kind == FY_KIND_sync && e->is.sync.cause == t->events[i].seq + 1) return amount_of(e->is.sync.held);
    }
    return 0;
}

static void read_copy(const trace *t, int i, action *a)
{
    const fy_ev_copy *is = &t->events[i].is.copy;
    int from = action_card(is->src.device), to = action_card(is->dst.device);
    a->deed = !from && !to ? HOST : from && to && from != to ? ACROSS : COPY;
    a->card = from ? from : to;
    a->other = to;
    a->stream = stream_of(is->stream);
    a->bytes = amount_of(is->bytes);
    a->held = amount_of(is->held) + waited_before(t, i);
    a->peer = is->route == FY_WORD_direct;
    a->copy = (fy_copy_work){.stream = a->stream,
                             .bytes = (size_t)a->bytes,
                             .dir = !from        ? FY_WORD_h2d
                                    : !to        ? FY_WORD_d2h
                                    : from == to ? FY_WORD_d2d
                                                 : FY_WORD_p2p,
                             .pinned = is->src.mem == FY_WORD_pinned || is->dst.mem == FY_WORD_pinned,
                             .async = is->async};
    if (a->deed != HOST) read_complete(t, i, is->id, a);
}

static void read_op(const trace *t, int i, action *a)
{
    const fy_ev_op *is = &t->events[i].is.op;
    a->card = action_card(is->device);
    a->deed = a->card ? RUN : HOST;
    a->stream = stream_of(is->stream);
    a->bytes = amount_of(is->bytes);
    a->flops = amount_of(is->flops);
    a->held = amount_of(is->held);
    if (a->card) read_complete(t, i, is->id, a);
}

/* A segment_free does not say of which kind it was: its segment does. */
static fy_word segment_mem(const trace *t, int i)
{
    uint64_t addr = t->events[i].is.segment_free.addr;
    for (int j = i - 1; j >= 0; j--) {
        const fy_event *e = &t->events[j];
        if (e->kind == FY_KIND_segment && e->is.segment.addr == addr)
            return e->is.segment.mem == FY_WORD_pinned ? FY_WORD_pinned : FY_WORD_device;
    }
    return FY_WORD_device;
}

/* Page-locked memory is the host's; a card locks it. */
static void read_segment(action *a, deed does, uint8_t device, fy_word mem, int64_t bytes, int64_t held)
{
    a->deed = does;
    a->card = action_card(device) ? action_card(device) : 1;
    a->mem = mem == FY_WORD_pinned ? FY_WORD_pinned : FY_WORD_device;
    a->bytes = amount_of(bytes);
    a->held = amount_of(held);
}

/* A call about a card, a stream of it or an event. Who waits or asks without a card means an event never recorded. */
static void read_call(action *a, deed does, uint8_t device, int64_t stream, uint32_t event)
{
    a->deed = device == FY_NO_DEVICE && (does == WAIT || does == ASK) ? NOTHING : does;
    a->card = action_card(device);
    a->stream = stream_of(stream);
    a->event = event;
}

action action_read(const trace *t, int i)
{
    const fy_event *e = &t->events[i];
    action a = {.deed = NOTHING, .start = -1, .end = -1, .stream = -1, .held = -1};
    switch (e->kind) {
    case FY_KIND_copy: read_copy(t, i, &a); break;
    case FY_KIND_op: read_op(t, i, &a); break;
#define SEGMENT(deed, is, mem) read_segment(&a, deed, is.device, mem, is.bytes, is.held)
    case FY_KIND_segment: SEGMENT(TAKE, e->is.segment, (fy_word)e->is.segment.mem); break;
    case FY_KIND_segment_free: SEGMENT(GIVE, e->is.segment_free, segment_mem(t, i)); break;
#undef SEGMENT
#define CALL(deed, is) read_call(&a, deed, is.device, is.stream, is.event)
    case FY_KIND_event_record: CALL(RECORD, e->is.event_record); break;
    case FY_KIND_event_wait: CALL(STREAM_WAITS, e->is.event_wait); break;
    case FY_KIND_query: CALL(ASK, e->is.query); break;
    case FY_KIND_sync:
        CALL(WAIT, e->is.sync);
        a.held = amount_of(e->is.sync.held);
        if (e->is.sync.scope == FY_WORD_copy) a.deed = NOTHING; /* part of the copy */
        break;
#undef CALL
    default: break;
    }
    return a;
}
