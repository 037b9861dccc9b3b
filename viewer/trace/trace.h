/* trace.h: a finished run, read once into typed events, for all who judge it: grader, findings, what-if.
 *
 * It may be read from a log of slots, from a file, or from JSON lines; whoever judges sees no difference. */
#ifndef FERRY_TRACE_H
#define FERRY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "event_arena.h"

enum { TRACE_MOST = 200000 }; /* about 40 MB once read; a lesson makes some hundred */

typedef struct trace {
    fy_event *events; /* in order: the i-th is the one with seq i */
    int count, room;
    bool over;          /* there are more than TRACE_MOST; the first so many are here */
    event_arena *arena; /* what they refer to; a copy, so that nobody changes it meanwhile */
} trace;

/* All that a log holds by now. The log is read once and may be closed. */
void trace_of_log(trace *t, fy_log *log);
/* A run of JSON lines. On a bad line: false, and err says its number, what is wrong and the fix. What a line leaves out
 * reads as absent. */
bool trace_of_lines(trace *t, const char *lines, size_t size, char *err, size_t room);
/* Of nothing, to be filled by trace_add, an event at a time. */
void trace_begin(trace *t);
void trace_add(trace *t, const fy_event *e);
void trace_free(trace *t);

/* Each event of so many lines, one at a time and kept by nobody: for logs of any length. What it refers to is gone with
 * it. Lines may begin anywhere in a log. On a bad line as trace_of_lines, after the visits before it. */
typedef void event_visit(void *user, const fy_event *e);
bool trace_each(const char *lines, size_t size, event_visit *visit, void *user, char *err, size_t room);

#endif
