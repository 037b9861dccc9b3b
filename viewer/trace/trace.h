/* trace.h: a finished run, parsed, for those who judge it. */
#ifndef FERRY_TRACE_H
#define FERRY_TRACE_H

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdint.h>

#include "event_reader.h"

enum { TRACE_MOST = 200000 }; /* about 400 MB once parsed; a lesson makes some hundred */

typedef struct trace {
    cJSON **events; /* one object an event, in order of seq */
    int count;
    bool over; /* there are more than TRACE_MOST; the first so many are here */
    cJSON *root;
} trace;

/* Parse JSON lines. On a bad line: false, and err says its number, what is wrong and the fix. */
bool trace_parse(trace *t, const char *lines, size_t size, char *err, size_t room);
void trace_free(trace *t);
/* Each event of so many lines, one at a time and kept by nobody: for logs of any length. What it refers to is gone with
 * it. Lines may begin anywhere in a log. On a bad line as trace_parse, after the visits before it. */
typedef void event_visit(void *user, const fy_event *e);
bool trace_each(const char *lines, size_t size, event_visit *visit, void *user, char *err, size_t room);

/* Fields of an event: "src.device" reaches into objects. Missing: "" and -1. */
const char *event_kind(const cJSON *e);
const char *event_text(const cJSON *e, const char *field);
int64_t event_int(const cJSON *e, const char *field);
int64_t event_seq(const cJSON *e);

/* Does one line (an object) follow the schema? false, with what is wrong in err. Unknown kinds and
 * fields are refused. (validate.c; generated from lib/trace/schema.h) */
bool event_is_valid(const cJSON *e, char *err, size_t room);

#endif
