/* narrate_ops.c: the lines about tensors and work: what was made, copied, run, read and freed. */
#include "event.h"
#include "log_format.h"
#include "record_fields.h"
#include "narrate_state.h"
#include "text.h"

static int64_t bytes_of(fy_narration *t, uint32_t tensor)
{
    return fy_narrator_storage(t->state, known(t, tensor)->storage)->bytes;
}

/* Reads the next event; is it of this kind? */
static bool is_followed_by(fy_narration *t, fy_kind kind, fy_event *next)
{
    uint64_t cursor = t->event.seq + 1;
    return fy_event_next(t->log, &cursor, next) && next->kind == kind;
}

/* "46.0 us", "between 2.1 us and 7.4 us" or "at most 5.4 us" */
static void add_took(fy_text *out, const fy_ev_complete *e)
{
    int64_t most = fy_took_at_most(e), least = fy_took_at_least(e);
    if (least <= 0 && most > 0) fy_text_str(out, "at most ");
    if (least > 0 && least < most) {
        fy_text_str(out, "between ");
        fy_add_time(out, least);
        fy_text_str(out, " and ");
    }
    fy_add_time(out, most);
}

/* ", takes 46.0 us"; with start and end time if the program does not wait for it. */
static void add_duration(fy_narration *t, uint32_t id, bool is_async)
{
    fy_event next;
    const fy_ev_complete *e = &next.is.complete;
    if (!is_followed_by(t, FY_KIND_complete, &next) || e->id != id) return;
    fy_text_str(rest(t), ", takes ");
    add_took(rest(t), e);
    if (!is_async) return;
    fy_text_str(rest(t), " (");
    fy_add_time(rest(t), e->start);
    fy_text_str(rest(t), " to ");
    fy_add_time(rest(t), e->end);
    fy_text_str(rest(t), ")");
}

static bool clear_pending(fy_narration *t, uint32_t tensor)
{
    bool is_pending = tensor && t->state->pending == tensor;
    if (is_pending) t->state->pending = 0;
    return is_pending;
}

static void add_new_tensor(fy_narration *t, uint32_t tensor)
{
    fy_add_label(t, subject(t), tensor);
    t->line.bytes = bytes_of(t, tensor);
    fy_add_shape(t->log, rest(t), known(t, tensor));
    fy_text_str(rest(t), " on ");
    fy_add_device(rest(t), known(t, tensor)->device);
}

/* A tensor that no later event filled: it has a line of its own. */
void fy_narrate_pending(fy_narration *t)
{
    fy_narrator_state *s = t->state;
    uint32_t tensor = s->pending;
    if (!tensor) return;
    s->pending = 0;
    fy_line_begin(t, "make");
    t->line.time = s->pending_time;
    t->line.place = s->pending_place;
    add_new_tensor(t, tensor);
    end(t);
}

/* ---- tensors ---- */

void fy_narrate_alloc(fy_narration *t)
{
    const fy_ev_alloc *e = &t->event.is.alloc;
    *fy_narrator_storage(t->state, e->storage) = (fy_known_storage){.bytes = e->asked, .device = e->device};
}

void fy_narrate_tensor(fy_narration *t)
{
    const fy_ev_tensor *e = &t->event.is.tensor;
    *known(t, e->tensor) = (fy_known_tensor){e->name, e->shape, e->storage, e->dtype, e->device};
    fy_known_storage *bytes = fy_narrator_storage(t->state, e->storage);
    if (!bytes->tensor) bytes->tensor = e->tensor;
    if (e->saved) {
        fy_line_begin(t, "save");
        fy_add_label(t, subject(t), e->view_of);
        t->line.bytes = bytes_of(t, e->view_of);
        fy_text_str(rest(t), "kept for a gradient");
        end(t);
        return;
    }
    if (e->view_of) {
        fy_line_begin(t, "view");
        fy_add_label(t, subject(t), e->tensor);
        fy_text_str(subject(t), " of ");
        fy_add_label(t, subject(t), e->view_of);
        fy_add_shape(t->log, rest(t), known(t, e->tensor));
        fy_text_str(rest(t), ", shares memory");
        end(t);
        return;
    }
    fy_narrator_state *s = t->state;
    s->pending = e->tensor;
    s->pending_place = (fy_site_entry){.file = t->event.file, .fn = t->event.fn, .line = t->event.line};
    s->pending_time = t->event.t;
}

void fy_narrate_name(fy_narration *t)
{
    const fy_ev_name *e = &t->event.is.name;
    known(t, e->tensor)->name = e->name;
}

void fy_narrate_same(fy_narration *t)
{
    const fy_ev_same *e = &t->event.is.same;
    fy_bytes name = fy_event_bytes(&t->event, e->name);
    fy_line_begin(t, "same");
    fy_add_label(t, subject(t), e->tensor);
    fy_text_str(rest(t), "has that device and dtype already, ");
    fy_add_device(rest(t), known(t, e->tensor)->device);
    fy_text_printf(rest(t), ": nothing to do%s%.*s%s", name.size ? "; " : "", (int)name.size,
                   name.size ? name.data : "", name.size ? " is the same tensor" : "");
    end(t);
}

void fy_narrate_free(fy_narration *t)
{
    const fy_ev_free *e = &t->event.is.free;
    fy_line_begin(t, "free");
    fy_add_storage(t, subject(t), e->storage);
    t->line.bytes = fy_narrator_storage(t->state, e->storage)->bytes;
    fy_text_str(rest(t), "on ");
    fy_add_device(rest(t), fy_narrator_storage(t->state, e->storage)->device);
    if (e->deferred) fy_text_str(rest(t), ", after another stream has finished with it");
    end(t);
}

void fy_narrate_given(fy_narration *t)
{
    const fy_ev_given *e = &t->event.is.given;
    fy_line_begin(t, "given");
    add_new_tensor(t, e->tensor);
    end(t);
}

void fy_narrate_answer(fy_narration *t)
{
    const fy_ev_answer *e = &t->event.is.answer;
    fy_line_begin(t, "answer");
    fy_add_string(t->log, subject(t), e->name);
    fy_text_str(subject(t), " = ");
    fy_add_label(t, subject(t), e->tensor);
    t->line.bytes = bytes_of(t, e->tensor);
    fy_text_str(rest(t), "submitted from ");
    fy_add_device(rest(t), e->device);
    end(t);
}

/* ---- work ---- */

enum { MOST_NAMED = 3 }; /* of the tensors of a list */

void fy_add_blocked(fy_narration *t, int64_t held)
{
    if (held <= 0) return;
    fy_text_str(rest(t), ", blocked the program ");
    fy_add_time(rest(t), held);
}

/* Of a call that only queues its work. */
static void add_call(fy_narration *t, int64_t held)
{
    if (held <= 0) return;
    fy_text_str(rest(t), ", the call took ");
    fy_add_time(rest(t), held);
}

void fy_narrate_copy(fy_narration *t)
{
    const fy_ev_copy *e = &t->event.is.copy;
    clear_pending(t, e->dst.tensor);
    fy_line_begin(t, "copy");
    fy_add_label(t, subject(t), e->src.tensor);
    if (e->dst.tensor) {
        fy_text_str(subject(t), " -> ");
        fy_add_label(t, subject(t), e->dst.tensor);
    }
    t->line.bytes = e->bytes;
    fy_add_device(rest(t), e->src.device);
    fy_text_str(rest(t), " -> ");
    fy_add_device(rest(t), e->dst.device);
    const char *route = fy_word_name(e->route), *why = fy_word_name(e->why);
    fy_add_side_stream(rest(t), e->stream);
    if (route && e->route == FY_WORD_staged) fy_text_str(rest(t), ", staged");
    if (e->why == FY_WORD_policy) fy_text_str(rest(t), ", IMPLICIT: FERRY_POLICY=silent");
    else if (e->why == FY_WORD_size) fy_text_str(rest(t), ", to read the size of a result");
    else if (why && e->why != FY_WORD_user) fy_text_printf(rest(t), ", for %s", why);
    if (e->was_async) add_duration(t, e->id, true);
    if (e->was_async) add_call(t, e->held);
    else fy_add_blocked(t, e->held);
    end(t);
}

/* A launch of a list: "foreach_add into w, b, v and 17 more", and the bytes of all of them. */
static void narrate_list(fy_narration *t, const fy_ev_op *e)
{
    fy_use made;
    size_t n = 0;
    int64_t bytes = 0;
    fy_line_begin(t, "run");
    fy_add_string(t->log, subject(t), e->name);
    fy_text_str(subject(t), " into ");
    for (; fy_event_use(&t->event, e->out, n, &made); n++) {
        bytes += bytes_of(t, made.tensor);
        if (n && n < MOST_NAMED) fy_text_str(subject(t), ", ");
        if (n < MOST_NAMED) fy_add_label(t, subject(t), made.tensor);
    }
    if (n > MOST_NAMED) fy_text_printf(subject(t), " and %zu more", n - MOST_NAMED);
    t->line.bytes = bytes;
    fy_text_printf(rest(t), "one launch for %zu tensors, on ", n);
    fy_add_device(rest(t), e->device);
}

/* The next of `"name":value`, where a value may be a list; false at the end. */
static bool next_number(fy_bytes *json, fy_bytes *name, fy_bytes *value)
{
    const char *p = json->data, *end = p + json->size, *quote = memchr(p, '"', json->size);
    const char *last = quote ? memchr(quote + 1, '"', (size_t)(end - quote - 1)) : NULL;
    if (!last || last + 1 == end) return false;
    *name = (fy_bytes){quote + 1, (size_t)(last - quote - 1)};
    const char *from = p = last + 2;
    for (bool list = false; p < end && *p != '}' && (*p != ',' || list); p++) list = (list || *p == '[') && *p != ']';
    *value = (fy_bytes){from, (size_t)(p - from)};
    *json = (fy_bytes){p, (size_t)(end - p)};
    return from < p;
}

static bool is_name(fy_bytes name, const char *text)
{
    return name.size == strlen(text) && !memcmp(name.data, text, name.size);
}

/* Which part of its result an op of cat or stack writes: "part 1, ". */
static bool add_part(fy_narration *t)
{
    fy_bytes json = fy_event_bytes(&t->event, t->event.is.op.numbers), name, value;
    while (next_number(&json, &name, &value)) {
        if (!is_name(name, "part")) continue;
        fy_text_printf(rest(t), "part %.*s, ", (int)value.size, value.data);
        return true;
    }
    return false;
}

/* The numbers of an op: one in place of the first operand, or those behind the tensors. `0.5`, `alpha=2`. */
static void add_numbers(fy_narration *t, bool first)
{
    fy_bytes json = fy_event_bytes(&t->event, t->event.is.op.numbers), name, value;
    while (next_number(&json, &name, &value)) {
        bool is_self = is_name(name, "self"), is_plain = is_self || is_name(name, "other") || is_name(name, "exponent");
        if (is_self != first) continue;
        if (!first) fy_text_str(subject(t), ", ");
        if (!is_plain) fy_text_printf(subject(t), "%.*s=", (int)name.size, name.data);
        fy_text_add(subject(t), value.data, value.size);
        if (first) fy_text_str(subject(t), ", ");
    }
}

void fy_narrate_op(fy_narration *t)
{
    const fy_ev_op *e = &t->event.is.op;
    fy_use made = {0}, second;
    bool is_list = fy_event_use(&t->event, e->out, 1, &second);
    for (size_t i = 0; fy_event_use(&t->event, e->out, i, &made); i++) clear_pending(t, made.tensor);
    fy_event_use(&t->event, e->out, 0, &made);
    if (!is_list) fy_line_begin(t, e->in ? "run" : "make");
    if (is_list) {
        narrate_list(t, e);
    } else if (e->in) {
        fy_add_label(t, subject(t), made.tensor);
        fy_text_str(subject(t), " = ");
        fy_add_string(t->log, subject(t), e->name);
        fy_text_str(subject(t), "(");
        add_numbers(t, true);
        fy_use use;
        for (size_t i = 0; i < 4 && fy_event_use(&t->event, e->in, i, &use); i++) {
            if (i) fy_text_str(subject(t), ", ");
            fy_add_label(t, subject(t), use.tensor);
        }
        if (!add_part(t)) add_numbers(t, false);
        fy_text_str(subject(t), ")");
        t->line.bytes = bytes_of(t, made.tensor);
        fy_text_str(rest(t), "on ");
        fy_add_device(rest(t), e->device);
    } else {
        add_new_tensor(t, made.tensor);
    }
    fy_add_side_stream(rest(t), e->stream);
    add_duration(t, e->id, e->device > 0);
    if (e->device) add_call(t, e->held); /* on the host it equals the duration */
    end(t);
}

void fy_narrate_host_read(fy_narration *t)
{
    const fy_ev_host_read *e = &t->event.is.host_read;
    const char *via = fy_word_name(e->via);
    if (!via || e->via == FY_WORD_answer) return;
    fy_line_begin(t, via);
    fy_add_label(t, subject(t), e->tensor);
    fy_event next; /* of a single value that was read, the values event follows */
    if (is_followed_by(t, FY_KIND_values, &next) && next.is.values.count == 1)
        fy_text_printf(subject(t), " is %.7g", next.is.values.min);
    fy_text_printf(rest(t), "the program reads %lld value%s", (long long)e->count, e->count == 1 ? "" : "s");
    end(t);
}

void fy_narrate_host_write(fy_narration *t)
{
    const fy_ev_host_write *e = &t->event.is.host_write;
    if (e->via == FY_WORD_given) {
        clear_pending(t, e->tensor);
        return;
    }
    if (clear_pending(t, e->tensor)) {
        fy_line_begin(t, "make");
        add_new_tensor(t, e->tensor);
    } else {
        fy_line_begin(t, "write");
        fy_add_label(t, subject(t), e->tensor);
        fy_text_printf(rest(t), "the program writes %lld value%s", (long long)e->count, e->count == 1 ? "" : "s");
    }
    end(t);
}
