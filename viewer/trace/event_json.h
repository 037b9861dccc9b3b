/* event_json.h: events of JSON lines as the typed ones that a log of slots yields (lib/trace/event_reader.h). */
#ifndef FERRY_EVENT_JSON_H
#define FERRY_EVENT_JSON_H

#include <cjson/cJSON.h>

#include "event_reader.h"

/* What the texts and lists of such events lie in. Make it before them; they die with it, or when it is emptied. */
typedef struct json_arena json_arena;
json_arena *json_arena_make(void);
void json_arena_empty(json_arena *a);
void json_arena_free(json_arena *a);

/* The event that one line says. What is missing, or is of another type than the schema's, reads as left out: a number
 * as FY_ABSENT, a word as none, a text or list as 0. A line without a known kind is an event of kind 0. */
void event_of_json(json_arena *a, const cJSON *line, fy_event *e);

#endif
