/* trace.h: a finished run as an array of typed events, for the grader, findings and what-if; from a slot log or from
 * JSON lines, with the same result. */
#ifndef FERRY_TRACE_H
#define FERRY_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#include "event_arena.h"

enum { TRACE_MOST = 200000 }; /* events, about 40 MB; a lesson records a few hundred */

typedef struct trace {
    fy_event *events; /* events[i] has seq i */
    int count, room;
    bool over;          /* the run has more than TRACE_MOST events; only the first are here */
    event_arena *arena; /* owns their strings and lists: the log's memory may still be written by the program */
} trace;

/* All events in the log so far. The log may be closed afterwards. */
void trace_of_log(trace *t, fy_log *log);
/* From JSON lines. false on a bad line: err has its number, the error and the fix. Missing fields read as absent. */
bool trace_of_lines(trace *t, const char *lines, size_t size, char *err, size_t room);
/* Empty, to be filled by trace_add, which copies the event. */
void trace_begin(trace *t);
void trace_add(trace *t, const fy_event *e);
void trace_free(trace *t);

/* Visits each event without storing it, for logs of any length: the event is valid only during the visit. The lines may
 * start anywhere in a log. A bad line: as trace_of_lines, after the visits of the lines before it. */
typedef void event_visit(void *user, const fy_event *e);
bool trace_each(const char *lines, size_t size, event_visit *visit, void *user, char *err, size_t room);

#endif
