/* event_arena.h: memory for the strings and lists that events refer to, in the layout of a log's arena, so that
 * fy_event_bytes reads these events as it reads a log's. Not thread-safe; running out of memory ends the process. */
#ifndef FERRY_EVENT_ARENA_H
#define FERRY_EVENT_ARENA_H

#include "event_reader.h"

struct fy_call_entry; /* log_format.h */

typedef struct event_arena event_arena;

/* keeps: for many events that share strings: short entries are interned. */
event_arena *event_arena_make(bool keeps);
void event_arena_empty(event_arena *a); /* invalidates all references but those of calls; not for one that keeps */
void event_arena_free(event_arena *a);
const fy_log *event_arena_log(const event_arena *a); /* for the events' `log`; lives as long as the arena */

/* A reference to a copy of the bytes, not aligned; 0: the arena's address range is exhausted. */
fy_ref event_arena_put(event_arena *a, const void *bytes, size_t size);
/* Calls, by their ids; they and what they refer to stay when the arena is emptied: between keep_begin and keep_end,
 * what is put there stays. */
void event_arena_keep_begin(event_arena *a);
void event_arena_keep_end(event_arena *a);
fy_ref event_arena_call(const event_arena *a, uint32_t id); /* 0: there is none of that id */
/* The call's references are to this arena. Of a call that is here already the first counts. */
fy_ref event_arena_add_call(event_arena *a, const struct fy_call_entry *call);
enum { DEEPEST = 1024 }; /* calls in each other that are followed: a thread has fewer frames, with its loader's */
/* The event's call and its parents, copied from another log; its reference here. */
fy_ref event_arena_copy_call(event_arena *a, const fy_event *e, fy_ref call);
/* The session's devices that Ferry has no name for, by their place in its list; they stay when the arena is emptied. */
void event_arena_add_device(event_arena *a, fy_bytes name, int place);
int event_arena_device(const event_arena *a, fy_bytes name); /* its place; -1: there is none of that name */
/* A buffer for assembling an entry, valid until the next call. */
char *event_arena_scratch(event_arena *a, size_t size);

/* A copy of an event's text up to the first 0, with invalid UTF-8 replaced. Never NULL; the caller frees it. */
char *utf8_copy(fy_bytes text);

#endif
