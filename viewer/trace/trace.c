/* trace.c: JSON lines to events that can be asked. A trace is whole, or it is refused or says that it is
 * not: the i-th event is the one with seq i, so that nobody judges half a run. Empty lines are skipped. */
#include "trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event_json.h"
#include "memory.h"

static bool refuse(trace *t, char *err, size_t room, int line, const char *what, const char *fix)
{
    trace_free(t);
    snprintf(err, room, "line %d %s; %s", line, what, fix);
    return false;
}

static bool keep(trace *t, cJSON *event, int *space)
{
    if (t->count == *space) {
        int more = *space ? *space * 2 : 256;
        t->events = memory_grown(t->events, (size_t)more, sizeof *t->events, "the events of a run");
        *space = more;
    }
    if (!cJSON_AddItemToArray(t->root, event)) return false;
    t->events[t->count++] = event;
    return true;
}

/* An event has a kind and the next seq. Says what is wrong, or NULL. */
static const char *wrong_event(const cJSON *e, int64_t seq)
{
    if (!cJSON_IsObject(e)) return "is not a JSON object";
    if (!*event_kind(e)) return "has no \"kind\"";
    if (event_seq(e) < 0) return "has no \"seq\"";
    if (seq >= 0 && event_seq(e) != seq) return "does not follow the line before: its \"seq\" is not the next number";
    return NULL;
}

/* One line as an event; NULL with what is wrong and the fix. seq -1: any. */
static cJSON *event_of(const char *text, size_t size, int64_t seq, const char **wrong, const char **fix)
{
    const char *end = NULL;
    cJSON *e = cJSON_ParseWithLengthOpts(text, size, &end, false);
    while (e && end < text + size && *end && strchr(" \t\r", *end)) end++;
    *wrong = "is not JSON";
    *fix = "it may be cut short: save the run again, or remove the line if it is the last";
    if (e && end == text + size) {
        *wrong = wrong_event(e, seq);
        *fix = "open a log that Ferry wrote and nobody edited";
        if (!*wrong) return e;
    }
    cJSON_Delete(e);
    return NULL;
}

static bool add_line(trace *t, const char *text, size_t size, int number, int *space, char *err, size_t room)
{
    const char *wrong, *fix;
    cJSON *e = event_of(text, size, t->count, &wrong, &fix);
    if (!e) return refuse(t, err, room, number, wrong, fix);
    if (keep(t, e, space)) return true;
    cJSON_Delete(e);
    return refuse(t, err, room, number, "does not fit into memory", "make the run shorter");
}

/* The next line from *p on that is not empty: where it begins, NULL at the end. *number counts all lines. */
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

bool trace_parse(trace *t, const char *lines, size_t size, char *err, size_t room)
{
    *t = (trace){.root = cJSON_CreateArray()};
    if (!t->root) return refuse(t, err, room, 0, "does not fit into memory", "close other programs");
    int space = 0, number = 0;
    const char *p = lines, *line;
    for (size_t length; size && (line = next_line(&p, lines + size, &length, &number));) {
        if ((t->over = t->count == TRACE_MOST)) return true;
        if (!add_line(t, line, length, number, &space, err, room)) return false;
    }
    return true;
}

bool trace_each(const char *lines, size_t size, event_visit *visit, void *user, char *err, size_t room)
{
    const char *p = lines, *line, *wrong, *fix;
    int number = 0;
    int64_t seq = -1;
    bool ok = true;
    json_arena *arena = json_arena_make();
    for (size_t length; ok && size && (line = next_line(&p, lines + size, &length, &number));) {
        fy_event e;
        cJSON *json = event_of(line, length, seq, &wrong, &fix);
        if (!json) snprintf(err, room, "line %d %s; %s", number, wrong, fix);
        if (!(ok = json != NULL)) break;
        json_arena_empty(arena);
        event_of_json(arena, json, &e);
        seq = (int64_t)e.seq + 1;
        visit(user, &e);
        cJSON_Delete(json);
    }
    json_arena_free(arena);
    return ok;
}

void trace_free(trace *t)
{
    cJSON_Delete(t->root);
    free(t->events);
    *t = (trace){0};
}

/* "src.device" reaches into the object src. */
static const cJSON *field_of(const cJSON *e, const char *path)
{
    for (const char *dot; e && (dot = strchr(path, '.')); path = dot + 1) {
        char name[32];
        size_t n = (size_t)(dot - path);
        if (n >= sizeof name) return NULL;
        memcpy(name, path, n);
        name[n] = 0;
        e = cJSON_GetObjectItemCaseSensitive(e, name);
    }
    return cJSON_GetObjectItemCaseSensitive(e, path);
}

const char *event_text(const cJSON *e, const char *field)
{
    const cJSON *f = field_of(e, field);
    return cJSON_IsString(f) ? f->valuestring : "";
}

int64_t event_int(const cJSON *e, const char *field)
{
    const cJSON *f = field_of(e, field);
    double most = 9007199254740992.0; /* 2^53; beyond it a double is not every integer */
    if (!cJSON_IsNumber(f) || !(f->valuedouble >= -most && f->valuedouble <= most)) return -1;
    return (int64_t)f->valuedouble;
}

const char *event_kind(const cJSON *e) { return event_text(e, "kind"); }

int64_t event_seq(const cJSON *e) { return event_int(e, "seq"); }
