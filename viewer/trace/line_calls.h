/* line_calls.h: for readers of a log's lines by cJSON: each event gets the place of its call, "file", "line" and "fn",
 * which only the first event of a call tells. Of a node that a backward pass runs, that is the place of the call whose
 * gradient it computes. Running out of memory ends the process. */
#ifndef FERRY_LINE_CALLS_H
#define FERRY_LINE_CALLS_H

#include <cjson/cJSON.h>

#include "id_map.h"

typedef struct line_call {
    char *file, *fn;
    double line;
    int of; /* index of the call whose gradient it is; -1 */
} line_call;

typedef struct line_calls { /* {0}: none yet */
    line_call *all;
    int count, room;
    id_map ids;
} line_calls;

void line_calls_place(line_calls *c, cJSON *event); /* events in the order of the log */
void line_calls_free(line_calls *c);

#endif
