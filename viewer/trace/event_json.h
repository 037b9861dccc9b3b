/* event_json.h: parses JSON lines into typed events, like those of a slot log (lib/trace/event_reader.h). Parsing and
 * validation are one pass over the line, driven by the schema's table. */
#ifndef FERRY_EVENT_JSON_H
#define FERRY_EVENT_JSON_H

#include "event_arena.h"

typedef enum line_says {
    LINE_NO_JSON,   /* not one well-formed JSON value */
    LINE_NO_OBJECT, /* a JSON value, but not an object */
    LINE_NO_EVENT,  /* no kind, or one that this version does not know */
    LINE_LOOSE,     /* an event that violates the schema */
    LINE_EVENT,     /* an event that conforms to the schema */
} line_says;

/* Parses a line; strings and lists go into the arena. A field that is missing or of the wrong type reads as absent: a
 * number as FY_ABSENT, a word as none, a string or list as 0, a seq as (uint64_t)-1. wrong: the first violation, for
 * the user; "" for LINE_EVENT. */
line_says event_of_line(event_arena *a, const char *line, size_t size, fy_event *e, char *wrong, size_t room);

#endif
