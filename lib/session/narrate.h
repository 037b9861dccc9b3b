/* narrate.h: the run as text for people. A narrator reads a log from its first event on and remembers the names of
 * tensors and storages. Thread-safe; each event is narrated once. */
#ifndef FERRY_NARRATE_H
#define FERRY_NARRATE_H

#include <stdio.h>

#include "log.h"
#include "text.h"

typedef struct fy_narrator fy_narrator;

fy_narrator *fy_narrator_of(fy_log *log); /* the caller keeps the log, which must outlive the narrator; NULL if out of
                                    memory */
void fy_narrator_free(fy_narrator *n);

/* Appends the lines of all events since the last call; returns the number of lines. If out of memory some are missing,
 * and out->lost is set. */
size_t fy_narrate(fy_narrator *n, fy_text *out);
/* The same, written to `out`; lines stay in event order whichever threads call. False if out of memory: lines are
 * missing. */
bool fy_narrate_to(fy_narrator *n, FILE *out);
/* Appends the line that tells of event `seq`, of a log that is complete; nothing if no line does. */
void fy_narrate_event(fy_log *log, uint64_t seq, fy_text *out);

#endif
