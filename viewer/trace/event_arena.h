/* event_arena.h: memory for the strings and lists that events refer to, in the layout of a log's arena, so that
 * fy_event_bytes reads these events as it reads a log's. Not thread-safe; running out of memory ends the process. */
#ifndef FERRY_EVENT_ARENA_H
#define FERRY_EVENT_ARENA_H

#include "event_reader.h"

typedef struct event_arena event_arena;

/* keeps: for many events that share strings: short entries are interned. */
event_arena *event_arena_make(bool keeps);
void event_arena_empty(event_arena *a); /* invalidates all references; not for one that keeps */
void event_arena_free(event_arena *a);
const fy_log *event_arena_log(const event_arena *a); /* for the events' `log`; lives as long as the arena */

/* A reference to a copy of the bytes, not aligned; 0: the arena's address range is exhausted. */
fy_ref event_arena_put(event_arena *a, const void *bytes, size_t size);
/* A buffer for assembling an entry, valid until the next call. */
char *event_arena_scratch(event_arena *a, size_t size);

/* A copy of an event's text up to the first 0, with invalid UTF-8 replaced. Never NULL; the caller frees it. */
char *utf8_copy(fy_bytes text);

#endif
