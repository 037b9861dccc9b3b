/* action.c: reads actions from a log's events. A copy or an op has several events, which are combined here. */
#include "action.h"
#include "device.h"
#include "dtype.h"
#include "event.h"
#include "record_fields.h"

#include <limits.h>

int action_card(uint8_t device) { return device < REPLAY_CARDS ? device : 0; }

/* Untrusted numbers: those whose sums cannot overflow, else -1. */
static int64_t amount_of(int64_t n) { return n >= 0 && n <= (int64_t)1 << 53 ? n : -1; }
static int stream_of(int64_t n) { return n < 0 ? -1 : n < INT_MAX ? (int)n : INT_MAX; }

int action_complete(const trace *t, int i, uint32_t id)
{
    for (int j = i + 1; j < t->count && j < i + 8; j++)
        if (t->events[j].kind == FY_KIND_complete && t->events[j].is.complete.id == id) return j;
    return -1;
}

int action_copy_wait(const trace *t, int i)
{
    for (int j = i + 1; j < t->count && j < i + 8; j++)
        if (t->events[j].kind == FY_KIND_sync && t->events[j].is.sync.cause == t->events[i].seq + 1) return j;
    return -1;
}

static int add_uses(const fy_event *e, fy_ref refs, bool writes, action_use out[ACTION_USES], int n)
{
    fy_use use;
    for (size_t k = 0; n < ACTION_USES && fy_event_use(e, refs, k, &use); k++)
        out[n++] = (action_use){use.storage, writes};
    return n;
}

int action_uses(const trace *t, int i, action_use out[ACTION_USES])
{
    const fy_event *e = &t->events[i];
    switch (e->kind) {
    case FY_KIND_op: return add_uses(e, e->is.op.out, true, out, add_uses(e, e->is.op.in, false, out, 0));
    case FY_KIND_copy:
        out[0] = (action_use){e->is.copy.src.storage, false};
        out[1] = (action_use){e->is.copy.dst.storage, true};
        return 2;
    case FY_KIND_host_read: out[0] = (action_use){e->is.host_read.storage, false}; return 1;
    case FY_KIND_host_write: out[0] = (action_use){e->is.host_write.storage, true}; return 1;
    default: return 0;
    }
}

static void read_complete(const trace *t, int i, uint32_t id, action *a)
{
    int j = action_complete(t, i, id);
    if (j < 0) return;
    const fy_ev_complete *is = &t->events[j].is.complete;
    a->start = is->start;
    a->end = is->end;
    if (a->kind == OP && a->held == 0 && a->start == a->end && is->overhead == 0) a->kind = NOTHING;
}

static void read_copy(const trace *t, int i, action *a)
{
    const fy_ev_copy *is = &t->events[i].is.copy;
    int from = action_card(is->src.device), to = action_card(is->dst.device);
    a->kind = !from && !to ? HOST : from && to && from != to ? PEER_COPY : COPY;
    a->card = from ? from : to;
    a->peer_card = to;
    a->stream = stream_of(is->stream);
    a->bytes = amount_of(is->bytes);
    a->held = amount_of(is->held);
    /* A blocking copy to the host first waits for the card's earlier work; that wait has a sync event of its own. */
    int wait = action_copy_wait(t, i);
    if (wait >= 0) a->held += amount_of(t->events[wait].is.sync.held);
    a->peer = is->route == FY_WORD_direct;
    a->copy = (fy_copy_work){.stream = a->stream,
                             .to_stream = stream_of(is->dst_stream >= 0 ? is->dst_stream : is->stream), /* as once */
                             .bytes = (size_t)a->bytes,
                             .dir = !from        ? FY_WORD_h2d
                                    : !to        ? FY_WORD_d2h
                                    : from == to ? FY_WORD_d2d
                                                 : FY_WORD_p2p,
                             .pinned = is->src.mem == FY_WORD_pinned || is->dst.mem == FY_WORD_pinned,
                             .async = is->async};
    if (a->kind != HOST) read_complete(t, i, is->id, a);
}

static fy_arithmetic units_of(const fy_event *e)
{
    fy_bytes name = fy_event_bytes(e, e->is.op.name);
    const char *dtype = fy_word_name(e->is.op.dtype);
    return fy_op_arithmetic(fy_op_named(name.data, name.size), dtype ? fy_dtype_named(dtype, strlen(dtype)) : 0);
}

static void read_op(const trace *t, int i, action *a)
{
    const fy_ev_op *is = &t->events[i].is.op;
    a->card = action_card(is->device);
    a->kind = a->card ? OP : HOST;
    a->stream = stream_of(is->stream);
    a->bytes = amount_of(is->bytes);
    a->flops = amount_of(is->flops);
    a->units = units_of(&t->events[i]);
    a->held = amount_of(is->held);
    if (a->card) read_complete(t, i, is->id, a);
}

/* A segment_free does not name its memory kind: the segment event does. */
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

/* Page-locked memory has no device in the log; its time is modelled on the first card. */
static void read_segment(action *a, action_kind kind, uint8_t device, fy_word mem, int64_t bytes, int64_t held)
{
    a->kind = kind;
    a->card = action_card(device) ? action_card(device) : 1;
    a->mem = mem == FY_WORD_pinned ? FY_WORD_pinned : FY_WORD_device;
    a->bytes = amount_of(bytes);
    a->held = amount_of(held);
}

/* A call on a card, a stream or an event. A sync or query without a device is one of an event never recorded. */
static void read_call(action *a, action_kind kind, uint8_t device, int64_t stream, uint32_t event)
{
    a->kind = device == FY_NO_DEVICE && (kind == SYNC || kind == QUERY) ? NOTHING : kind;
    a->card = action_card(device);
    a->stream = stream_of(stream);
    a->event = event;
}

action action_read(const trace *t, int i)
{
    const fy_event *e = &t->events[i];
    action a = {.kind = NOTHING, .start = -1, .end = -1, .stream = -1, .held = -1};
    switch (e->kind) {
    case FY_KIND_copy: read_copy(t, i, &a); break;
    case FY_KIND_op: read_op(t, i, &a); break;
#define SEGMENT(kind, is, mem) read_segment(&a, kind, is.device, mem, is.bytes, is.held)
    case FY_KIND_segment: SEGMENT(SEGMENT_ALLOC, e->is.segment, (fy_word)e->is.segment.mem); break;
    case FY_KIND_segment_free: SEGMENT(SEGMENT_FREE, e->is.segment_free, segment_mem(t, i)); break;
#undef SEGMENT
#define CALL(kind, is) read_call(&a, kind, is.device, is.stream, is.event)
    case FY_KIND_event_record: CALL(EVENT_RECORD, e->is.event_record); break;
    case FY_KIND_event_wait: CALL(STREAM_WAIT, e->is.event_wait); break;
    case FY_KIND_query: CALL(QUERY, e->is.query); break;
    case FY_KIND_sync:
        CALL(SYNC, e->is.sync);
        a.held = amount_of(e->is.sync.held);
        if (e->is.sync.scope == FY_WORD_copy) a.kind = NOTHING; /* counted with the copy */
        break;
#undef CALL
    default: break;
    }
    return a;
}
