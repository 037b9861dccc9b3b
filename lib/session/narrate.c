/* narrate.c: the run as a story for people, one line for what happened: when, what, to which tensor,
 * how many bytes, where and at what cost, caused by which line. It is a reader like any other, and never
 * on the hot path. Events that belong together make one line: a tensor and the copy or op that fills it,
 * a copy and the wait for it, work and its end. */
#include "narrate.h"

#include <pthread.h>
#include <stdlib.h>

#include "event.h"
#include "log.h"
#include "log_format.h"
#include "narrate_state.h"
#include "text.h"

/* ---- the beginning ---- */

/* The string that follows "key":" in a piece of JSON; an empty one if there is none. */
static void say_value(fy_text *out, const char *json, size_t size, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n < size; i++) {
        if (memcmp(json + i, key, n)) continue;
        for (i += n; i < size && json[i] != '"' && (unsigned char)json[i] >= 0x20; i++) fy_text_add(out, json + i, 1);
        return;
    }
}

/* One sentence for each card in the list of devices: objects begin with "name". */
static void say_devices(fy_telling *t, const char *json, size_t size)
{
    static const char first[] = "{\"name\":";
    for (size_t i = 0, next; i < size; i = next) {
        next = i + 1;
        while (next + sizeof first <= size && memcmp(json + next, first, sizeof first - 1)) next++;
        if (next + sizeof first > size) next = size;
        fy_text name = {0}, kind = {0}, card = {0}, why = {0};
        say_value(&name, json + i, next - i, "\"name\":\"");
        say_value(&kind, json + i, next - i, "\"kind\":\"");
        say_value(&card, json + i, next - i, "\"card\":\"");
        say_value(&why, json + i, next - i, "\"why\":\"");
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

static void tell_session(fy_telling *t)
{
    const fy_ev_session *e = &t->event.is.session;
    fy_bytes devices = fy_event_bytes(&t->event, e->devices); /* well formed, or the event would be lost */
    fy_text_str(t->out, "Ferry ");
    fy_say_string(t->log, t->out, e->ferry);
    fy_text_str(t->out, " tells what ");
    fy_say_string(t->log, t->out, e->program);
    fy_text_printf(t->out, " does (seed %lld).\n", (long long)e->seed);
    say_devices(t, devices.data, devices.size);
    fy_text_str(t->out, "\n");
}

/* ---- notes and ends ---- */

static void tell_text(fy_telling *t, const char *verb, fy_ref text)
{
    fy_begin(t, verb);
    fy_say_string(t->log, rest(t), text);
    end(t);
}

static void tell_oom(fy_telling *t)
{
    const fy_ev_oom *e = &t->event.is.oom;
    fy_begin(t, "full");
    fy_say_device(subject(t), e->device);
    t->line.bytes = e->asked;
    fy_text_str(rest(t), "asked for; ");
    fy_say_bytes(rest(t), e->free);
    fy_text_str(rest(t), " free, the largest piece ");
    fy_say_bytes(rest(t), e->largest);
    end(t);
}

static void tell_error(fy_telling *t)
{
    const fy_ev_error *e = &t->event.is.error;
    tell_text(t, "ERROR", e->message);
    if (!e->hint) return;
    fy_begin(t, "  fix");
    t->line.place = (fy_site_entry){0};
    fy_say_string(t->log, rest(t), e->hint);
    end(t);
}

static void tell_check(fy_telling *t)
{
    const fy_ev_check *e = &t->event.is.check;
    fy_begin(t, e->pass ? "ok" : "NOT OK");
    fy_say_string(t->log, rest(t), e->check);
    fy_text_str(rest(t), ": ");
    fy_say_string(t->log, rest(t), e->message);
    end(t);
}

static void tell_end(fy_telling *t)
{
    const fy_ev_end *e = &t->event.is.end;
    size_t live = fy_event_bytes(&t->event, e->live).size / sizeof(uint32_t);
    uint32_t storage;
    fy_begin(t, "end");
    if (e->status >= 0) fy_text_printf(rest(t), "exit status %lld; ", (long long)e->status);
    fy_text_str(rest(t), live ? "still alive:" : "nothing is still alive");
    for (size_t i = 0; i < 8 && fy_event_id(&t->event, e->live, i, &storage); i++) {
        fy_text_str(rest(t), i ? ", " : " ");
        fy_say_storage(t, rest(t), storage);
    }
    if (live > 8) fy_text_printf(rest(t), " and %zu more", live - 8);
    end(t);
}

static void tell_mark(fy_telling *t)
{
    const fy_ev_mark *e = &t->event.is.mark;
    if (e->text) {
        tell_text(t, "note", e->text);
        return;
    }
    fy_begin(t, "clock");
    fy_text_str(rest(t), "the program looks at it: ");
    fy_say_time(rest(t), e->now);
    end(t);
}

static void tell_grade(fy_telling *t)
{
    const fy_ev_grade *e = &t->event.is.grade;
    tell_text(t, e->pass ? "PASSED" : "FAILED", e->message);
}

static void tell_log_full(fy_telling *t)
{
    fy_begin(t, "FULL");
    fy_text_str(rest(t), "the log is full: what happens from here on is not recorded");
    end(t);
}

static void tell_lost(fy_telling *t)
{
    fy_begin(t, "lost");
    fy_text_str(rest(t), "an event that was being written when the program was killed");
    end(t);
}

/* Kinds that are not here are part of another's line, or of no interest to people. */
static void (*const tellers[FY_KIND_COUNT])(fy_telling *) = {
    [FY_KIND_session] = tell_session,
    [FY_KIND_alloc] = fy_tell_alloc,
    [FY_KIND_tensor] = fy_tell_tensor,
    [FY_KIND_name] = fy_tell_name,
    [FY_KIND_free] = fy_tell_free,
    [FY_KIND_given] = fy_tell_given,
    [FY_KIND_answer] = fy_tell_answer,
    [FY_KIND_copy] = fy_tell_copy,
    [FY_KIND_op] = fy_tell_op,
    [FY_KIND_sync] = fy_tell_sync,
    [FY_KIND_set_device] = fy_tell_set_device,
    [FY_KIND_set_stream] = fy_tell_set_stream,
    [FY_KIND_event_record] = fy_tell_event_record,
    [FY_KIND_event_wait] = fy_tell_event_wait,
    [FY_KIND_query] = fy_tell_query,
    [FY_KIND_record_stream] = fy_tell_record_stream,
    [FY_KIND_mode] = fy_tell_mode,
    [FY_KIND_data_race] = fy_tell_data_race,
    [FY_KIND_peer] = fy_tell_peer,
    [FY_KIND_segment] = fy_tell_segment,
    [FY_KIND_segment_free] = fy_tell_segment_free,
    [FY_KIND_host_read] = fy_tell_host_read,
    [FY_KIND_host_write] = fy_tell_host_write,
    [FY_KIND_oom] = tell_oom,
    [FY_KIND_error] = tell_error,
    [FY_KIND_check] = tell_check,
    [FY_KIND_mark] = tell_mark,
    [FY_KIND_grade] = tell_grade,
    [FY_KIND_log_full] = tell_log_full,
    [FY_KIND_lost] = tell_lost,
    [FY_KIND_end] = tell_end,
};

/* May this event still say how the pending tensor came to be? */
static bool explains(uint8_t kind)
{
    return kind == FY_KIND_op || kind == FY_KIND_copy || kind == FY_KIND_host_write || kind == FY_KIND_source;
}

static size_t lines_in(const char *s, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < size; i++) n += s[i] == '\n';
    return n;
}

/* ---- the narrator ---- */

struct fy_narrator {
    fy_log *log;
    uint64_t cursor; /* told up to here */
    fy_story story;
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
    fy_story_free(&n->story);
    pthread_mutex_destroy(&n->mutex);
    free(n);
}

/* With the mutex held. */
static void tell(fy_narrator *n, fy_text *out)
{
    fy_telling t = {.log = n->log, .story = &n->story, .out = out};
    while (fy_event_next(n->log, &n->cursor, &t.event)) {
        if (!explains(t.event.kind)) fy_tell_pending(&t);
        if (tellers[t.event.kind]) tellers[t.event.kind](&t);
    }
    out->lost |= n->story.lost;
}

size_t fy_narrate(fy_narrator *n, fy_text *out)
{
    size_t from = out->size;
    pthread_mutex_lock(&n->mutex);
    tell(n, out);
    pthread_mutex_unlock(&n->mutex);
    return out->data ? lines_in(out->data + from, out->size - from) : 0;
}

bool fy_narrate_to(fy_narrator *n, FILE *out)
{
    fy_text lines = {0};
    pthread_mutex_lock(&n->mutex);
    tell(n, &lines);
    if (lines.size) fwrite(lines.data, 1, lines.size, out);
    pthread_mutex_unlock(&n->mutex);
    free(lines.data);
    return !lines.lost;
}
