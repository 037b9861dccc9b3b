/* trace.c: reads complete runs. Lines must have consecutive seqs from 0, so that no incomplete run is graded unnoticed.
 * Empty lines are skipped. */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_json.h"
#include "memory.h"
#include "record_fields.h"

void trace_begin(trace *t) { *t = (trace){.arena = event_arena_make(true)}; }

void trace_free(trace *t)
{
    event_arena_free(t->arena);
    free(t->events);
    *t = (trace){0};
}

/* ---- adding an event ---- */

static fy_ref copy_ref(trace *t, const fy_event *e, fy_ref ref)
{
    fy_bytes bytes = fy_event_bytes(e, ref);
    return ref ? event_arena_put(t->arena, bytes.data, bytes.size) : 0;
}

void trace_add(trace *t, const fy_event *e)
{
    if ((t->over |= t->count == TRACE_MOST)) return;
    if (t->count == t->room) {
        t->room = t->room ? 2 * t->room : 256;
        if (t->room > TRACE_MOST) t->room = TRACE_MOST;
        t->events = memory_realloc(t->events, (size_t)t->room, sizeof *t->events, "the events of a run");
    }
    fy_event *to = &t->events[t->count++];
    *to = *e;
    to->log = event_arena_log(t->arena);
    to->file = copy_ref(t, e, e->file);
    to->fn = copy_ref(t, e, e->fn);
    to->call = event_arena_copy_call(t->arena, e, e->call);
    for (const fy_field *f = fy_kind_fields(e->kind); f && f->name; f++) {
        unsigned char *at = (unsigned char *)&to->is + f->offset;
        fy_ref ref;
        if (!fy_type_refers(f->type)) continue;
        memcpy(&ref, at, sizeof ref);
        ref = copy_ref(t, e, ref);
        memcpy(at, &ref, sizeof ref);
    }
}

void trace_of_log(trace *t, fy_log *log)
{
    fy_event e;
    trace_begin(t);
    for (uint64_t cursor = 0; !t->over && fy_event_next(log, &cursor, &e);) trace_add(t, &e);
}

/* ---- lines ---- */

/* The next nonempty line from *p on; NULL at the end. *number counts all lines. */
static const char *next_line(const char **p, const char *end, size_t *length, int *number)
{
    while (*p < end) {
        const char *line = *p, *stop = memchr(line, '\n', (size_t)(end - line));
        size_t blank = 0;
        *length = (size_t)((stop ? stop : end) - line);
        while (blank < *length && (line[blank] == ' ' || line[blank] == '\t' || line[blank] == '\r')) blank++;
        *p = stop ? stop + 1 : end;
        ++*number;
        if (blank < *length) return line;
    }
    return NULL;
}

static bool refuse(char *err, size_t room, int number, const char *what, const char *fix)
{
    snprintf(err, room, "line %d %s; %s", number, what, fix);
    return false;
}

/* Parses a line, which must have a known kind and this seq; seq -1: any. */
static bool read_line(event_arena *a, const char *line, size_t size, int number, int64_t seq, fy_event *e, char *err,
                      size_t room)
{
    static const char unedited[] = "open a log as Ferry wrote it, unedited";
    char wrong[200], what[256];
    line_says says = event_of_line(a, line, size, e, wrong, sizeof wrong);
    if (says == LINE_NO_JSON)
        return refuse(err, room, number, "is not JSON",
                      "it may be truncated: save the run again, or remove the line if it is the last");
    if (says == LINE_NO_OBJECT) return refuse(err, room, number, "is not a JSON object", unedited);
    if (says == LINE_NO_EVENT) {
        snprintf(what, sizeof what, "has no \"kind\" that this version of ferry knows: %s", wrong);
        return refuse(err, room, number, what, "open it with the version that wrote it");
    }
    if ((int64_t)e->seq < 0) return refuse(err, room, number, "has no \"seq\"", unedited);
    if (seq < 0 || (int64_t)e->seq == seq) return true;
    return refuse(err, room, number, "does not follow the previous line: its \"seq\" is not the next number", unedited);
}

/* seq: of the first line; -1: any. stop: checked before each line; NULL: never. */
static bool visit_lines(const char *lines, size_t size, int64_t seq, const bool *stop, event_visit *visit, void *user,
                        char *err, size_t room)
{
    const char *p = lines, *line;
    int number = 0;
    bool ok = true;
    event_arena *arena = event_arena_make(false);
    for (size_t length; size && (line = next_line(&p, lines + size, &length, &number)) && !(stop && *stop);) {
        fy_event e;
        event_arena_empty(arena);
        if (!(ok = read_line(arena, line, length, number, seq, &e, err, room))) break;
        seq = (int64_t)e.seq + 1;
        visit(user, &e);
    }
    event_arena_free(arena);
    return ok;
}

bool trace_each(const char *lines, size_t size, event_visit *visit, void *user, char *err, size_t room)
{
    return visit_lines(lines, size, -1, NULL, visit, user, err, room);
}

static void add_event(void *t, const fy_event *e) { trace_add(t, e); }

bool trace_of_lines(trace *t, const char *lines, size_t size, char *err, size_t room)
{
    trace_begin(t);
    bool ok = visit_lines(lines, size, 0, &t->over, add_event, t, err, room);
    if (!ok) trace_free(t);
    return ok;
}
