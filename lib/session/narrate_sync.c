/* narrate_sync.c: the lines about streams, events, synchronization, data races and the allocator's segments. */
#include "event.h"
#include "log_format.h"
#include "narrate_state.h"
#include "text.h"

/* "stream 1 of cuda:0", or "cuda:0" if stream is FY_ABSENT. */
static void add_stream(fy_text *out, int64_t stream, uint8_t device)
{
    if (stream > 0) fy_text_printf(out, "stream %lld of ", (long long)stream);
    if (stream == 0) fy_text_str(out, "the default stream of ");
    fy_add_device(out, device);
}

void fy_add_side_stream(fy_text *out, int64_t stream)
{
    if (stream > 0) fy_text_printf(out, ", stream %lld", (long long)stream);
}

/* ---- streams and events ---- */

void fy_narrate_set_device(fy_narration *t)
{
    const fy_ev_set_device *e = &t->event.is.set_device;
    fy_line_begin(t, "device");
    fy_add_device(subject(t), e->device);
    fy_text_str(rest(t), "is now the current device");
    end(t);
}

void fy_narrate_set_stream(fy_narration *t)
{
    const fy_ev_set_stream *e = &t->event.is.set_stream;
    fy_line_begin(t, "stream");
    add_stream(subject(t), e->stream, e->device);
    fy_text_str(rest(t), "is now the current stream");
    end(t);
}

void fy_narrate_event_record(fy_narration *t)
{
    const fy_ev_event_record *e = &t->event.is.event_record;
    fy_line_begin(t, "record");
    fy_text_printf(subject(t), "event %u", e->event);
    fy_text_str(rest(t), "completes when the work queued so far in ");
    add_stream(rest(t), e->stream, e->device);
    fy_text_str(rest(t), " is done");
    end(t);
}

void fy_narrate_event_wait(fy_narration *t)
{
    const fy_ev_event_wait *e = &t->event.is.event_wait;
    fy_line_begin(t, "order");
    fy_text_printf(subject(t), "event %u", e->event);
    add_stream(rest(t), e->stream, e->device);
    fy_text_str(rest(t), " waits for it");
    end(t);
}

void fy_narrate_query(fy_narration *t)
{
    const fy_ev_query *e = &t->event.is.query;
    fy_line_begin(t, "query");
    if (e->scope == FY_WORD_event) fy_text_printf(subject(t), "event %u", e->event);
    else add_stream(subject(t), e->stream, e->device);
    fy_text_str(rest(t), e->done ? "complete" : "not complete; a query does not wait");
    end(t);
}

void fy_narrate_record_stream(fy_narration *t)
{
    const fy_ev_record_stream *e = &t->event.is.record_stream;
    fy_line_begin(t, "use");
    fy_add_label(t, subject(t), e->tensor);
    fy_text_str(rest(t), "also used in ");
    add_stream(rest(t), e->stream, e->device);
    fy_text_str(rest(t), ": its memory is kept until that work is complete");
    end(t);
}

void fy_narrate_sync(fy_narration *t)
{
    const fy_ev_sync *e = &t->event.is.sync;
    if (e->scope == FY_WORD_copy) return; /* the copy's line includes the blocked time */
    fy_line_begin(t, "wait");
    fy_text_str(subject(t), "for ");
    if (e->scope == FY_WORD_event) fy_text_printf(subject(t), "event %u", e->event);
    else add_stream(subject(t), e->scope == FY_WORD_stream ? e->stream : FY_ABSENT, e->device);
    fy_add_time(rest(t), e->held);
    fy_text_str(rest(t), e->scope == FY_WORD_event ? " until it was complete" : " until its work was complete");
    if (e->why == FY_WORD_policy) fy_text_str(rest(t), ", because of launch blocking");
    end(t);
}

void fy_narrate_mode(fy_narration *t)
{
    const fy_ev_mode *e = &t->event.is.mode;
    fy_line_begin(t, "mode");
    fy_add_string(t->log, subject(t), e->mode);
    fy_text_str(rest(t), e->on ? "on" : "off");
    end(t);
}

/* ---- data races and peer access ---- */

static const char *race_text(uint8_t type)
{
    switch (type) {
    case FY_WORD_read_early: return "the program reads what the GPU may not have written yet";
    case FY_WORD_write_early: return "the program writes what the GPU may still be using";
    case FY_WORD_race: return "two streams access it without synchronization";
    case FY_WORD_reuse: return "another stream may still use this memory's previous tensor";
    default: return "two accesses without synchronization";
    }
}

void fy_narrate_data_race(fy_narration *t)
{
    const fy_ev_data_race *e = &t->event.is.data_race;
    fy_line_begin(t, "RACE");
    fy_add_storage(t, subject(t), e->storage);
    t->line.bytes = e->bytes;
    fy_text_str(rest(t), race_text(e->type));
    end(t);
    if (!e->fix) return;
    fy_line_begin(t, "  fix");
    t->line.place = (fy_site_entry){0};
    fy_add_string(t->log, rest(t), e->fix);
    end(t);
}

void fy_narrate_peer(fy_narration *t)
{
    const fy_ev_peer *e = &t->event.is.peer;
    fy_line_begin(t, "peer");
    fy_add_device(subject(t), e->from);
    fy_text_str(subject(t), " -> ");
    fy_add_device(subject(t), e->to);
    fy_text_str(rest(t), e->can ? "direct copies between the GPUs" : "no direct copies: they go through the host");
    end(t);
}

/* ---- segments ---- */

void fy_narrate_segment(fy_narration *t)
{
    const fy_ev_segment *e = &t->event.is.segment;
    fy_line_begin(t, "reserve");
    fy_text_str(subject(t), "a segment");
    t->line.bytes = e->bytes;
    uint64_t card = e->mem == FY_WORD_pinned || e->device >= 64 ? 0 : (uint64_t)1 << e->device;
    if (card & ~t->state->used) { /* explains a cost that otherwise seems to belong to the first tensor on a GPU */
        fy_text_str(rest(t), "first use of ");
        if (e->device == 1) fy_text_str(rest(t), "the GPU");
        else fy_add_device(rest(t), e->device);
        fy_text_str(rest(t), ": Ferry reserves ");
        fy_add_bytes(rest(t), e->bytes);
        fy_text_str(rest(t), " to share among tensors (once");
        if (e->held > 0) fy_text_str(rest(t), ", "), fy_add_time(rest(t), e->held);
        fy_text_str(rest(t), ")");
    } else {
        fy_text_str(rest(t), e->mem == FY_WORD_pinned ? "page-locked, on " : "another one, shared by tensors on ");
        fy_add_device(rest(t), e->device);
        fy_add_blocked(t, e->held);
    }
    t->state->used |= card;
    end(t);
}

void fy_narrate_segment_free(fy_narration *t)
{
    const fy_ev_segment_free *e = &t->event.is.segment_free;
    fy_line_begin(t, "return");
    fy_text_str(subject(t), "a segment");
    t->line.bytes = e->bytes;
    fy_text_str(rest(t), "to ");
    fy_add_device(rest(t), e->device);
    if (e->why == FY_WORD_oom) fy_text_str(rest(t), ", to retry a failed allocation");
    fy_add_blocked(t, e->held);
    end(t);
}

/* Only what the loop takes: the calls that make a batch have lines of their own. */
void fy_narrate_batch(fy_narration *t)
{
    const fy_ev_batch *e = &t->event.is.batch;
    if (e->what != FY_WORD_taken) return;
    fy_line_begin(t, "take");
    fy_text_printf(subject(t), "batch %lld", (long long)e->index);
    if (e->worker != FY_ABSENT) fy_text_printf(rest(t), "made by worker %lld", (long long)e->worker);
    else fy_text_str(rest(t), "made by the loop");
    if (e->held > 0) fy_add_blocked(t, e->held);
    end(t);
}
