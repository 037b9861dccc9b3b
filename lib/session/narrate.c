/* narrate.c: the run as text, one line per event: time, action, tensor, bytes, devices and cost, and the source line
 * that caused it. A narrator is a log reader like any other and never on the hot path. Related events share a line: a
 * tensor and the copy or op that fills it, a copy and its synchronization, work and its completion. */
#include "narrate.h"

#include <pthread.h>
#include <stdlib.h>

#include "event.h"
#include "log.h"
#include "log_format.h"
#include "narrate_state.h"
#include "text.h"

/* ---- the session ---- */

/* Appends the string value of `key` (given as "key":" with its quotes) in a piece of JSON; nothing if it is missing. */
static void add_json_value(fy_text *out, const char *json, size_t size, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n < size; i++) {
        if (memcmp(json + i, key, n)) continue;
        for (i += n; i < size && json[i] != '"' && (unsigned char)json[i] >= 0x20; i++) fy_text_add(out, json + i, 1);
        return;
    }
}

/* One sentence per GPU in the list of devices. Each object starts with "name". */
static void add_devices(fy_narration *t, const char *json, size_t size)
{
    static const char first[] = "{\"name\":";
    for (size_t i = 0, next; i < size; i = next) {
        next = i + 1;
        while (next + sizeof first <= size && memcmp(json + next, first, sizeof first - 1)) next++;
        if (next + sizeof first > size) next = size;
        fy_text name = {0}, kind = {0}, card = {0}, why = {0};
        add_json_value(&name, json + i, next - i, "\"name\":\"");
        add_json_value(&kind, json + i, next - i, "\"kind\":\"");
        add_json_value(&card, json + i, next - i, "\"card\":\"");
        add_json_value(&why, json + i, next - i, "\"why\":\"");
        bool real = kind.data && !strcmp(kind.data, "real");
        if (real || (kind.data && !strcmp(kind.data, "sim")))
            fy_text_printf(t->out, "%s: %s%s%s%s. Its times are %s.\n", name.data ? name.data : "?",
                           card.data ? card.data : "a card", why.data ? " (" : "", why.data ? why.data : "",
                           why.data ? ")" : "", real ? "measured" : "modelled, not measured");
        t->out->lost |= name.lost || kind.lost || card.lost || why.lost;
        free(name.data);
        free(kind.data);
        free(card.data);
        free(why.data);
    }
}

static void narrate_session(fy_narration *t)
{
    const fy_ev_session *e = &t->event.is.session;
    fy_bytes devices = fy_event_bytes(&t->event, e->devices); /* well formed: the event was validated */
    fy_text_str(t->out, "Ferry ");
    fy_add_string(t->log, t->out, e->ferry);
    fy_text_str(t->out, ": ");
    fy_add_string(t->log, t->out, e->program);
    fy_text_printf(t->out, ", seed %lld.\n", (long long)e->seed);
    add_devices(t, devices.data, devices.size);
    fy_text_str(t->out, "\n");
}

/* ---- messages and the end ---- */

static void narrate_text(fy_narration *t, const char *verb, fy_ref text)
{
    fy_line_begin(t, verb);
    fy_add_string(t->log, rest(t), text);
    end(t);
}

static void narrate_oom(fy_narration *t)
{
    const fy_ev_oom *e = &t->event.is.oom;
    fy_line_begin(t, "OOM");
    fy_add_device(subject(t), e->device);
    t->line.bytes = e->asked;
    fy_text_str(rest(t), "requested; ");
    fy_add_bytes(rest(t), e->free);
    fy_text_str(rest(t), " free, largest free block ");
    fy_add_bytes(rest(t), e->largest);
    end(t);
}

static void narrate_error(fy_narration *t)
{
    const fy_ev_error *e = &t->event.is.error;
    narrate_text(t, "ERROR", e->message);
    if (!e->hint) return;
    fy_line_begin(t, "  fix");
    t->line.place = (fy_site_entry){0};
    fy_add_string(t->log, rest(t), e->hint);
    end(t);
}

static void narrate_check(fy_narration *t)
{
    const fy_ev_check *e = &t->event.is.check;
    fy_line_begin(t, e->pass ? "ok" : "NOT OK");
    fy_add_string(t->log, rest(t), e->check);
    fy_text_str(rest(t), ": ");
    fy_add_string(t->log, rest(t), e->message);
    end(t);
}

static void narrate_end(fy_narration *t)
{
    const fy_ev_end *e = &t->event.is.end;
    size_t live = fy_event_bytes(&t->event, e->live).size / sizeof(uint32_t);
    uint32_t storage;
    fy_line_begin(t, "end");
    if (e->status >= 0) fy_text_printf(rest(t), "exit status %lld; ", (long long)e->status);
    fy_text_str(rest(t), live ? "still alive:" : "all memory was freed");
    for (size_t i = 0; i < 8 && fy_event_id(&t->event, e->live, i, &storage); i++) {
        fy_text_str(rest(t), i ? ", " : " ");
        fy_add_storage(t, rest(t), storage);
    }
    if (live > 8) fy_text_printf(rest(t), " and %zu more", live - 8);
    end(t);
}

static void narrate_mark(fy_narration *t)
{
    const fy_ev_mark *e = &t->event.is.mark;
    if (e->text) {
        narrate_text(t, "note", e->text);
        return;
    }
    fy_line_begin(t, "clock");
    fy_text_str(rest(t), "the program reads the clock: ");
    fy_add_time(rest(t), e->now);
    end(t);
}

static void narrate_scalar(fy_narration *t)
{
    const fy_ev_scalar *e = &t->event.is.scalar;
    fy_bytes name = fy_event_bytes(&t->event, e->name);
    fy_line_begin(t, "logged");
    fy_text_printf(rest(t), "%.*s = %.6g", (int)name.size, name.data, e->value);
    end(t);
}

static void narrate_grade(fy_narration *t)
{
    const fy_ev_grade *e = &t->event.is.grade;
    narrate_text(t, e->pass ? "PASSED" : "FAILED", e->message);
}

static void narrate_log_full(fy_narration *t)
{
    fy_line_begin(t, "FULL");
    fy_text_str(rest(t), "the log is full: later events are not recorded");
    end(t);
}

static void narrate_lost(fy_narration *t)
{
    fy_line_begin(t, "lost");
    fy_text_str(rest(t), "an event that was being written when the program was killed");
    end(t);
}

/* Kinds without an entry are part of another event's line, or not narrated. */
static void (*const narrators[FY_KIND_COUNT])(fy_narration *) = {
    [FY_KIND_session] = narrate_session,
    [FY_KIND_alloc] = fy_narrate_alloc,
    [FY_KIND_tensor] = fy_narrate_tensor,
    [FY_KIND_name] = fy_narrate_name,
    [FY_KIND_same] = fy_narrate_same,
    [FY_KIND_free] = fy_narrate_free,
    [FY_KIND_given] = fy_narrate_given,
    [FY_KIND_answer] = fy_narrate_answer,
    [FY_KIND_copy] = fy_narrate_copy,
    [FY_KIND_op] = fy_narrate_op,
    [FY_KIND_sync] = fy_narrate_sync,
    [FY_KIND_set_device] = fy_narrate_set_device,
    [FY_KIND_set_stream] = fy_narrate_set_stream,
    [FY_KIND_event_record] = fy_narrate_event_record,
    [FY_KIND_event_wait] = fy_narrate_event_wait,
    [FY_KIND_query] = fy_narrate_query,
    [FY_KIND_record_stream] = fy_narrate_record_stream,
    [FY_KIND_mode] = fy_narrate_mode,
    [FY_KIND_data_race] = fy_narrate_data_race,
    [FY_KIND_peer] = fy_narrate_peer,
    [FY_KIND_segment] = fy_narrate_segment,
    [FY_KIND_segment_free] = fy_narrate_segment_free,
    [FY_KIND_host_read] = fy_narrate_host_read,
    [FY_KIND_host_write] = fy_narrate_host_write,
    [FY_KIND_backward] = fy_narrate_backward,
    [FY_KIND_graph] = fy_narrate_graph,
    [FY_KIND_grad] = fy_narrate_grad,
    [FY_KIND_batch] = fy_narrate_batch,
    [FY_KIND_oom] = narrate_oom,
    [FY_KIND_error] = narrate_error,
    [FY_KIND_check] = narrate_check,
    [FY_KIND_mark] = narrate_mark,
    [FY_KIND_scalar] = narrate_scalar,
    [FY_KIND_grade] = narrate_grade,
    [FY_KIND_log_full] = narrate_log_full,
    [FY_KIND_lost] = narrate_lost,
    [FY_KIND_end] = narrate_end,
};

/* ---- the narrator ---- */

struct fy_narrator {
    fy_log *log;
    uint64_t cursor; /* of the next event to narrate */
    fy_narrator_state state;
    pthread_mutex_t mutex;
};

fy_narrator *fy_narrator_of(fy_log *log)
{
    fy_narrator *n = calloc(1, sizeof *n);
    if (!n) return NULL;
    n->log = log;
    pthread_mutex_init(&n->mutex, NULL);
    return n;
}

void fy_narrator_free(fy_narrator *n)
{
    if (!n) return;
    fy_narrator_state_free(&n->state);
    pthread_mutex_destroy(&n->mutex);
    free(n);
}

static bool may_fill_pending(uint8_t kind)
{
    return kind == FY_KIND_op || kind == FY_KIND_copy || kind == FY_KIND_host_write || kind == FY_KIND_source;
}

/* The caller holds the mutex. */
static void narrate_new_events(fy_narrator *n, fy_text *out)
{
    fy_narration t = {.log = n->log, .state = &n->state, .out = out};
    while (fy_event_next(n->log, &n->cursor, &t.event)) {
        uint8_t kind = t.event.kind;
        if (kind == FY_KIND_values) continue; /* told with what reads them, if at all */
        if (!may_fill_pending(kind)) fy_narrate_pending(&t);
        if (narrators[kind]) narrators[kind](&t);
    }
    out->lost |= n->state.lost;
}

size_t fy_narrate(fy_narrator *n, fy_text *out)
{
    size_t from = out->size, lines = 0;
    pthread_mutex_lock(&n->mutex);
    narrate_new_events(n, out);
    pthread_mutex_unlock(&n->mutex);
    for (size_t i = from; out->data && i < out->size; i++) lines += out->data[i] == '\n';
    return lines;
}

bool fy_narrate_to(fy_narrator *n, FILE *out)
{
    fy_text lines = {0};
    pthread_mutex_lock(&n->mutex);
    narrate_new_events(n, &lines);
    if (lines.size) fwrite(lines.data, 1, lines.size, out);
    pthread_mutex_unlock(&n->mutex);
    free(lines.data);
    return !lines.lost;
}

/* The line of an op or a new tensor is told with what follows it: it is then the last one. */
void fy_narrate_event(fy_log *log, uint64_t seq, fy_text *out)
{
    fy_text lines = {0};
    fy_narrator *n = fy_narrator_of(log);
    fy_narration t = {.log = log, .out = &lines};
    if (!n) return;
    t.state = &n->state;
    size_t before = 0, after = 0;
    while (after == 0 && fy_event_next(log, &n->cursor, &t.event)) {
        bool is_it = t.event.seq == seq;
        if (!may_fill_pending(t.event.kind)) fy_narrate_pending(&t);
        before = lines.size;
        if (t.event.kind != FY_KIND_values && narrators[t.event.kind]) narrators[t.event.kind](&t);
        if (is_it) after = lines.size > before ? lines.size : (fy_narrate_pending(&t), lines.size);
        if (t.event.seq >= seq) break;
    }
    size_t from = before;
    const char *end = lines.data && after > from ? memchr(lines.data + from, '\n', after - from) : NULL;
    if (end) fy_text_add(out, lines.data + from, (size_t)(end - lines.data) - from);
    free(lines.data);
    fy_narrator_free(n);
}
