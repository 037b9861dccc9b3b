/* event_arena.h: memory for what events refer to, texts and lists, laid out as a log's arena is: an event that points
 * here is asked by fy_event_bytes like one of a log. */
#ifndef FERRY_EVENT_ARENA_H
#define FERRY_EVENT_ARENA_H

#include "event_reader.h"

typedef struct event_arena event_arena;

/* keeps: for many events, of which most refer to the same few texts: each is there once. */
event_arena *event_arena_make(bool keeps);
void event_arena_empty(event_arena *a); /* what it held is gone; not of one that keeps */
void event_arena_free(event_arena *a);
const fy_log *event_arena_log(const event_arena *a); /* the `log` of events that point here; as long-lived as it */

/* References to a copy of so many bytes; 0: there is no room for so many. Not aligned. */
fy_ref event_arena_put(event_arena *a, const void *bytes, size_t size);
/* Bytes that are put together first: room for them, until the next call. */
char *event_arena_scratch(event_arena *a, size_t size);

/* An event's text for people: a copy up to the first 0, in UTF-8 whatever it was. The caller frees it; never NULL. */
char *utf8_copy(fy_bytes text);

#endif
