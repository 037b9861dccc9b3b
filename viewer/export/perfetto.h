/* perfetto.h: a saved run as a Chrome trace, which Perfetto (ui.perfetto.dev), chrome://tracing and tools for Kineto's
 * files read. */
#ifndef FERRY_PERFETTO_H
#define FERRY_PERFETTO_H

#include <stdio.h>

#include "trace.h"

typedef struct perfetto perfetto;

perfetto *perfetto_begin(void);
void perfetto_add(void *p, const fy_event *e); /* an event_visit: each event once, in order */
/* Writes the trace of all events added. shortened: how many slices overlapped another of their row, and were cut. */
void perfetto_write(perfetto *p, const char *name, FILE *out, uint64_t *shortened);
void perfetto_free(perfetto *p);

#endif
