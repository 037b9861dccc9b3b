/* steps.h: the steps of a run, the same that the page shows (www/model/steps.js): a step is a call, with what it
 * allocates, copies, computes and waits for. */
#ifndef FERRY_STEPS_H
#define FERRY_STEPS_H

#include "trace.h"

typedef struct step {
    uint64_t from, to; /* its events */
    int kind;          /* of its main event, an fy_kind */
    int file;          /* steps_file(); 0: none */
    uint32_t line, storage;
    bool call; /* several kernels, joined */
} step;

typedef struct steps steps;

steps *steps_begin(void);
void steps_add(steps *s, const fy_event *e); /* each event once, in order */
int steps_count(const steps *s);
const step *steps_at(const steps *s, int i);
const char *steps_file(const steps *s, int file); /* as compiled; "" */
/* Line `line` of a file's text, without indentation; its length in *size, 0 if the text is not known. */
const char *steps_source(const steps *s, int file, uint32_t line, size_t *size);
void steps_free(steps *s);

#endif
