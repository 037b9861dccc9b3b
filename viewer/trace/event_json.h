/* event_json.h: events of JSON lines, as the typed ones that a log of slots yields (lib/trace/event_reader.h). The
 * reader of a line is its validator as well: both go by the schema's table, so that a line is gone through once. */
#ifndef FERRY_EVENT_JSON_H
#define FERRY_EVENT_JSON_H

#include "event_arena.h"

typedef enum line_says {
    LINE_NO_JSON,   /* not one well-formed JSON value */
    LINE_NO_OBJECT, /* another value than an object */
    LINE_NO_EVENT,  /* without a kind, or of one that this version does not know */
    LINE_LOOSE,     /* an event that the schema does not allow as it is */
    LINE_EVENT,     /* as the schema has it */
} line_says;

/* The event that a line says; its texts and lists go into the arena. What is missing, or is of another type than the
 * schema's, reads as left out: a number as FY_ABSENT, a word as none, a text or list as 0, a seq as (uint64_t)-1.
 * wrong: what is not as the schema has it, in words, from LINE_NO_EVENT on; "" when nothing is. */
line_says event_of_line(event_arena *a, const char *line, size_t size, fy_event *e, char *wrong, size_t room);

#endif
