/* where.h: where a tensor's bytes are at a step of a run, in words: what the page shows of it. */
#ifndef FERRY_WHERE_H
#define FERRY_WHERE_H

#include <stdio.h>

#include "steps.h"

typedef struct where where;

where *where_begin(void);
void where_add(void *w, const fy_event *e); /* an event_visit: each event once, in order */
const steps *where_steps(const where *w);
/* Prints where the tensor `name` is when step `number` (from 1) has been shown. False: err says what there is instead. */
bool where_print(const where *w, const char *name, int number, FILE *out, char *err, size_t room);
void where_list(const where *w, FILE *out); /* a line for each step */
void where_free(where *w);

#endif
