/* narrate_ops.c: the sentences about tensors and work: what was made, copied, run, read and freed. */
#include "event.h"
#include "log_format.h"
#include "record_fields.h"
#include "narrate_state.h"
#include "text.h"

static int64_t bytes_of(fy_telling *t, uint32_t tensor)
{
    return fy_told_bytes(t->story, known(t, tensor)->storage)->bytes;
}

/* Is the event that follows at once of this kind? */
static bool is_followed_by(fy_telling *t, fy_kind kind, fy_event *next)
{
    uint64_t cursor = t->event.seq + 1;
    return fy_event_next(t->log, &cursor, next) && next->kind == kind;
}

/* ", takes 46.0 us", and from when to when where the program does not wait for it. */
static void say_taken(fy_telling *t, uint32_t id, bool alongside)
{
    fy_event next;
    const fy_ev_complete *e = &next.is.complete;
    if (!is_followed_by(t, FY_KIND_complete, &next) || e->id != id) return;
    fy_text_str(rest(t), ", takes ");
    fy_say_time(rest(t), e->end - e->start);
    if (!alongside) return;
    fy_text_str(rest(t), " (");
    fy_say_time(rest(t), e->start);
    fy_text_str(rest(t), " to ");
    fy_say_time(rest(t), e->end);
    fy_text_str(rest(t), ")");
}

static bool take_pending(fy_telling *t, uint32_t tensor)
{
    bool it = tensor && t->story->pending == tensor;
    if (it) t->story->pending = 0;
    return it;
}

static void say_made(fy_telling *t, uint32_t tensor)
{
    fy_say_label(t, subject(t), tensor);
    t->line.bytes = bytes_of(t, tensor);
    fy_say_shape(t->log, rest(t), known(t, tensor));
    fy_text_str(rest(t), " on ");
    fy_say_device(rest(t), known(t, tensor)->device);
}

/* A tensor of which nothing more was said than that it was made. */
void fy_tell_pending(fy_telling *t)
{
    fy_story *s = t->story;
    uint32_t tensor = s->pending;
    if (!tensor) return;
    s->pending = 0;
    fy_begin(t, "make");
    t->line.time = s->pending_time;
    t->line.place = s->pending_place;
    say_made(t, tensor);
    end(t);
}

/* ---- tensors ---- */

void fy_tell_alloc(fy_telling *t)
{
    const fy_ev_alloc *e = &t->event.is.alloc;
    *fy_told_bytes(t->story, e->storage) = (fy_told_storage){.bytes = e->asked, .device = e->device};
}

void fy_tell_tensor(fy_telling *t)
{
    const fy_ev_tensor *e = &t->event.is.tensor;
    *known(t, e->tensor) = (fy_told_tensor){e->name, e->shape, e->storage, e->dtype, e->device};
    fy_told_storage *bytes = fy_told_bytes(t->story, e->storage);
    if (!bytes->tensor) bytes->tensor = e->tensor;
    if (e->view_of) {
        fy_begin(t, "view");
        fy_say_label(t, subject(t), e->tensor);
        fy_text_str(subject(t), " of ");
        fy_say_label(t, subject(t), e->view_of);
        fy_say_shape(t->log, rest(t), known(t, e->tensor));
        fy_text_str(rest(t), ", the same bytes");
        end(t);
        return;
    }
    fy_story *s = t->story;
    s->pending = e->tensor;
    s->pending_place = (fy_site_entry){t->event.file, t->event.fn, t->event.line};
    s->pending_time = t->event.t;
}

void fy_tell_name(fy_telling *t)
{
    const fy_ev_name *e = &t->event.is.name;
    known(t, e->tensor)->name = e->name;
}

void fy_tell_free(fy_telling *t)
{
    const fy_ev_free *e = &t->event.is.free;
    fy_begin(t, "free");
    fy_say_storage(t, subject(t), e->storage);
    t->line.bytes = fy_told_bytes(t->story, e->storage)->bytes;
    fy_text_str(rest(t), "on ");
    fy_say_device(rest(t), fy_told_bytes(t->story, e->storage)->device);
    if (e->deferred) fy_text_str(rest(t), ", once another stream is done with it");
    end(t);
}

void fy_tell_given(fy_telling *t)
{
    const fy_ev_given *e = &t->event.is.given;
    fy_begin(t, "given");
    say_made(t, e->tensor);
    end(t);
}

void fy_tell_answer(fy_telling *t)
{
    const fy_ev_answer *e = &t->event.is.answer;
    fy_begin(t, "answer");
    fy_say_string(t->log, subject(t), e->name);
    fy_text_str(subject(t), " = ");
    fy_say_label(t, subject(t), e->tensor);
    t->line.bytes = bytes_of(t, e->tensor);
    fy_text_str(rest(t), "submitted from ");
    fy_say_device(rest(t), e->device);
    end(t);
}

/* ---- work ---- */

void fy_say_held(fy_telling *t, int64_t held)
{
    if (held <= 0) return;
    fy_text_str(rest(t), ", held the program ");
    fy_say_time(rest(t), held);
}

void fy_tell_copy(fy_telling *t)
{
    const fy_ev_copy *e = &t->event.is.copy;
    take_pending(t, e->dst.tensor);
    fy_begin(t, "copy");
    fy_say_label(t, subject(t), e->src.tensor);
    if (e->dst.tensor) {
        fy_text_str(subject(t), " -> ");
        fy_say_label(t, subject(t), e->dst.tensor);
    }
    t->line.bytes = e->bytes;
    fy_say_device(rest(t), e->src.device);
    fy_text_str(rest(t), " -> ");
    fy_say_device(rest(t), e->dst.device);
    const char *route = fy_word_name(e->route), *why = fy_word_name(e->why);
    fy_say_side_stream(rest(t), e->stream);
    if (route && e->route == FY_WORD_staged) fy_text_str(rest(t), ", staged");
    if (e->why == FY_WORD_policy) fy_text_str(rest(t), ", UNASKED: FERRY_POLICY=silent copies");
    else if (e->why == FY_WORD_size) fy_text_str(rest(t), ", for the size of a result: the host had to know it");
    else if (why && e->why != FY_WORD_user) fy_text_printf(rest(t), ", for %s", why);
    if (e->was_async) say_taken(t, e->id, true);
    fy_say_held(t, e->held);
    end(t);
}

static void say_operands(fy_telling *t, fy_ref in)
{
    fy_use use;
    fy_text_str(subject(t), "(");
    for (size_t i = 0; i < 4 && fy_event_use(&t->event, in, i, &use); i++) {
        if (i) fy_text_str(subject(t), ", ");
        fy_say_label(t, subject(t), use.tensor);
    }
    fy_text_str(subject(t), ")");
}

void fy_tell_op(fy_telling *t)
{
    const fy_ev_op *e = &t->event.is.op;
    fy_use made = {0};
    fy_event_use(&t->event, e->out, 0, &made);
    take_pending(t, made.tensor);
    fy_begin(t, e->in ? "run" : "make");
    if (e->in) {
        fy_say_label(t, subject(t), made.tensor);
        fy_text_str(subject(t), " = ");
        fy_say_string(t->log, subject(t), e->name);
        say_operands(t, e->in);
        t->line.bytes = bytes_of(t, made.tensor);
        fy_text_str(rest(t), "on ");
        fy_say_device(rest(t), e->device);
    } else {
        say_made(t, made.tensor);
    }
    fy_say_side_stream(rest(t), e->stream);
    say_taken(t, e->id, e->device > 0);
    if (e->device) fy_say_held(t, e->held); /* on the host that is the same */
    end(t);
}

/* The value itself, where one was read: the sample follows. */
static void say_one_value(fy_telling *t)
{
    fy_event next;
    if (is_followed_by(t, FY_KIND_values, &next) && next.is.values.count == 1)
        fy_text_printf(subject(t), " is %.7g", next.is.values.min);
}

void fy_tell_host_read(fy_telling *t)
{
    const fy_ev_host_read *e = &t->event.is.host_read;
    const char *via = fy_word_name(e->via);
    if (!via || e->via == FY_WORD_answer) return;
    fy_begin(t, via);
    fy_say_label(t, subject(t), e->tensor);
    say_one_value(t);
    fy_text_printf(rest(t), "the program reads %lld value%s", (long long)e->count, e->count == 1 ? "" : "s");
    end(t);
}

void fy_tell_host_write(fy_telling *t)
{
    const fy_ev_host_write *e = &t->event.is.host_write;
    if (e->via == FY_WORD_given) {
        take_pending(t, e->tensor);
        return;
    }
    if (take_pending(t, e->tensor)) {
        fy_begin(t, "make");
        say_made(t, e->tensor);
    } else {
        fy_begin(t, "write");
        fy_say_label(t, subject(t), e->tensor);
        fy_text_printf(rest(t), "the program writes %lld value%s", (long long)e->count, e->count == 1 ? "" : "s");
    }
    end(t);
}
