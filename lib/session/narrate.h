/* narrate.h: the run as a story for people. A narrator reads a log as any other reader does, from its first event on,
 * and remembers what tensors and storages are called. Any thread may ask it to go on: each event is told once. */
#ifndef FERRY_NARRATE_H
#define FERRY_NARRATE_H

#include <stdio.h>

#include "log.h"
#include "text.h"

typedef struct fy_narrator fy_narrator;

fy_narrator *fy_narrator_of(fy_log *log); /* the log stays the caller's, and must live longer; NULL without memory */
void fy_narrator_free(fy_narrator *n);

/* Tell what has happened since it told last, a line for each thing; returns the number of lines. Without memory some
 * are missing, and out->lost says so. */
size_t fy_narrate(fy_narrator *n, fy_text *out);
/* The same, written to `out` in the order of the story whatever threads ask. False: there was no memory for all. */
bool fy_narrate_to(fy_narrator *n, FILE *out);

#endif
