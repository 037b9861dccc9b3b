/* narrate_sync.c: the sentences about streams, events, waiting and what was not waited for; and about the
 * allocator's segments. */
#include "event.h"
#include "log_format.h"
#include "narrate_state.h"
#include "text.h"

/* "stream 1 of cuda:0"; nothing that is not there. */
static void say_stream(fy_text *out, int64_t stream, uint8_t device)
{
    if (stream > 0) fy_text_printf(out, "stream %lld of ", (long long)stream);
    if (stream == 0) fy_text_str(out, "the default stream of ");
    fy_say_device(out, device);
}

void fy_say_side_stream(fy_text *out, int64_t stream)
{
    if (stream > 0) fy_text_printf(out, ", stream %lld", (long long)stream);
}

/* ---- streams and events ---- */

void fy_tell_set_device(fy_telling *t)
{
    const fy_ev_set_device *e = &t->event.is.set_device;
    fy_begin(t, "device");
    fy_say_device(subject(t), e->device);
    fy_text_str(rest(t), "is the current card from here on");
    end(t);
}

void fy_tell_set_stream(fy_telling *t)
{
    const fy_ev_set_stream *e = &t->event.is.set_stream;
    fy_begin(t, "stream");
    say_stream(subject(t), e->stream, e->device);
    fy_text_str(rest(t), "takes the card's work from here on");
    end(t);
}

void fy_tell_event_record(fy_telling *t)
{
    const fy_ev_event_record *e = &t->event.is.event_record;
    fy_begin(t, "record");
    fy_text_printf(subject(t), "event %u", e->event);
    fy_text_str(rest(t), "stands for what is in ");
    say_stream(rest(t), e->stream, e->device);
    fy_text_str(rest(t), " by now");
    end(t);
}

void fy_tell_event_wait(fy_telling *t)
{
    const fy_ev_event_wait *e = &t->event.is.event_wait;
    fy_begin(t, "order");
    fy_text_printf(subject(t), "event %u", e->event);
    say_stream(rest(t), e->stream, e->device);
    fy_text_str(rest(t), " waits for it");
    end(t);
}

void fy_tell_query(fy_telling *t)
{
    const fy_ev_query *e = &t->event.is.query;
    fy_begin(t, "ask");
    if (e->scope == FY_WORD_event) fy_text_printf(subject(t), "event %u", e->event);
    else say_stream(subject(t), e->stream, e->device);
    fy_text_str(rest(t), e->done ? "done" : "not done yet; the program does not wait");
    end(t);
}

void fy_tell_record_stream(fy_telling *t)
{
    const fy_ev_record_stream *e = &t->event.is.record_stream;
    fy_begin(t, "use");
    fy_say_label(t, subject(t), e->tensor);
    fy_text_str(rest(t), "used in ");
    say_stream(rest(t), e->stream, e->device);
    fy_text_str(rest(t), " too, and kept until that is done");
    end(t);
}

void fy_tell_sync(fy_telling *t)
{
    const fy_ev_sync *e = &t->event.is.sync;
    if (e->scope == FY_WORD_copy) return; /* the copy's line says how long the program was held */
    fy_begin(t, "wait");
    fy_text_str(subject(t), "for ");
    if (e->scope == FY_WORD_event) fy_text_printf(subject(t), "event %u", e->event);
    else say_stream(subject(t), e->scope == FY_WORD_stream ? e->stream : FY_ABSENT, e->device);
    fy_say_time(rest(t), e->held);
    fy_text_str(rest(t), e->scope == FY_WORD_event ? " until it was reached" : " until it had finished");
    if (e->why == FY_WORD_policy) fy_text_str(rest(t), ", because of launch blocking");
    end(t);
}

void fy_tell_mode(fy_telling *t)
{
    const fy_ev_mode *e = &t->event.is.mode;
    fy_begin(t, "mode");
    fy_say_string(t->log, subject(t), e->mode);
    fy_text_str(rest(t), e->on ? "on" : "off");
    end(t);
}

/* ---- what nothing orders ---- */

static const char *race_words(uint8_t type)
{
    switch (type) {
    case FY_WORD_read_early: return "the program reads what the card may not have written yet";
    case FY_WORD_write_early: return "the program writes what the card may still need";
    case FY_WORD_race: return "two streams touch it and nothing orders them";
    case FY_WORD_reuse: return "another stream may still use what these bytes were before";
    default: return "two accesses that nothing orders";
    }
}

void fy_tell_data_race(fy_telling *t)
{
    const fy_ev_data_race *e = &t->event.is.data_race;
    fy_begin(t, "RACE");
    fy_say_storage(t, subject(t), e->storage);
    t->line.bytes = e->bytes;
    fy_text_str(rest(t), race_words(e->type));
    end(t);
    if (!e->fix) return;
    fy_begin(t, "  fix");
    t->line.place = (fy_site_entry){0};
    fy_say_string(t->log, rest(t), e->fix);
    end(t);
}

void fy_tell_peer(fy_telling *t)
{
    const fy_ev_peer *e = &t->event.is.peer;
    fy_begin(t, "peer");
    fy_say_device(subject(t), e->from);
    fy_text_str(subject(t), " -> ");
    fy_say_device(subject(t), e->to);
    fy_text_str(rest(t), e->can ? "directly, card to card" : "not directly: copies between them go through the host");
    end(t);
}

/* ---- segments ---- */

/* What the first tensor on a card seems to cost. */
static void first_use(fy_telling *t, const fy_ev_segment *e)
{
    fy_text_str(rest(t), "first use of ");
    if (e->device == 1) fy_text_str(rest(t), "the GPU");
    else fy_say_device(rest(t), e->device);
    fy_text_str(rest(t), ": Ferry reserves ");
    fy_say_bytes(rest(t), e->bytes);
    fy_text_str(rest(t), " to share among tensors (once");
    if (e->held > 0) fy_text_str(rest(t), ", "), fy_say_time(rest(t), e->held);
    fy_text_str(rest(t), ")");
}

void fy_tell_segment(fy_telling *t)
{
    const fy_ev_segment *e = &t->event.is.segment;
    fy_begin(t, "reserve");
    fy_text_str(subject(t), "a segment");
    t->line.bytes = e->bytes;
    uint64_t card = e->mem == FY_WORD_pinned || e->device >= 64 ? 0 : (uint64_t)1 << e->device;
    if (card & ~t->story->used) {
        first_use(t, e);
    } else {
        fy_text_str(rest(t), e->mem == FY_WORD_pinned ? "page-locked, of " : "more, for tensors to share on ");
        fy_say_device(rest(t), e->device);
        fy_say_held(t, e->held);
    }
    t->story->used |= card;
    end(t);
}

void fy_tell_segment_free(fy_telling *t)
{
    const fy_ev_segment_free *e = &t->event.is.segment_free;
    fy_begin(t, "return");
    fy_text_str(subject(t), "a segment");
    t->line.bytes = e->bytes;
    fy_text_str(rest(t), "to ");
    fy_say_device(rest(t), e->device);
    if (e->why == FY_WORD_oom) fy_text_str(rest(t), ", to make room");
    fy_say_held(t, e->held);
    end(t);
}
