/* grading.h: a run that is graded, shared by grade.c (verdicts) and event_query.c (queries over the log). */
#ifndef FERRY_GRADING_H
#define FERRY_GRADING_H

#include "grade.h"

struct grading {
    const trace *run;
    uint64_t seed;
    const char *given; /* "mat1:float32:4x3 ..." */
    verdict *out;
    struct allocation *allocations; /* freed by grading_end */
    const fy_event *lineage_of;     /* the answer of `lineage`; these three are computed on first use and cached */
    bool *lineage;                  /* by seq: did the event contribute to the answer? */
    struct findings *found;         /* NULL: not computed yet */
    const fy_event **completions;   /* by id of the work, below completion_room; NULL: not computed yet */
    size_t completion_room;
    bool *used; /* by seq: was the copy's destination read later? NULL: not computed yet */
};

/* Zeroed memory that grading_end frees; ends the process when memory runs out. */
void *grade_keep(grading *g, size_t bytes);
void grading_end(grading *g);

/* "3, 7, 9 ...": the lines of events, each once in a row, at most six. Begins as {.text = ""}. */
typedef struct line_list {
    const char *text;
    int listed, last;
} line_list;
void line_list_add(grading *g, line_list *l, const fy_event *e);

#endif
