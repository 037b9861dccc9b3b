/* grading.h: one run under judgement, for grade.c (verdicts) and event_query.c (what the log shows). */
#ifndef FERRY_GRADING_H
#define FERRY_GRADING_H

#include "grade.h"

struct grading {
    const trace *run;
    uint64_t seed;
    const char *given; /* "mat1:float32:4x3 ..." */
    verdict *out;
    struct kept *kept;          /* text and arrays that live as long as the grading */
    const fy_event *lineage_of; /* the answer that `lineage` is about */
    bool *lineage;              /* by seq: did the event contribute to it? */
    struct findings *found;     /* NULL: not looked yet */
    bool *used;                 /* by seq: was the copy's destination read later? NULL: not looked yet */
};

/* Zeroed memory that grading_end frees; ends the process when there is none. */
void *grade_keep(grading *g, size_t bytes);
void grading_end(grading *g);

#endif
