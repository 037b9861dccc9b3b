/* grade.h: what a lesson's check.c may use. A check judges events and answers, never source text and
 * never what the program printed. It calls `check` once for each thing that it demands, in the order
 * in which a learner should mend them. */
#ifndef FERRY_GRADE_H
#define FERRY_GRADE_H

#include "trace.h"

typedef struct grading grading; /* one run under judgement, and the verdicts so far */

typedef struct lesson_check {
    const char *id;                /* the lesson's folder name */
    void (*judge)(grading *g);
} lesson_check;

const trace *grade_trace(const grading *g);
uint64_t grade_seed(const grading *g);

/* Record a verdict. name: stable, kebab-case. at: the deciding event, or NULL. expected and got are
 * short, message is one plain sentence for the learner; all three as printf would make them
 * beforehand (see grade_say). Returns pass. */
bool check(grading *g, const char *name, bool pass, const cJSON *at,
           const char *expected, const char *got, const char *message);
/* Text that lives as long as the grading. */
const char *grade_say(grading *g, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The n-th event (from 0) of a kind whose field equals value (NULL: any); NULL if there is none. */
const cJSON *find_event(const grading *g, const char *kind, const char *field, const char *value, int n);
int count_events(const grading *g, const char *kind, const char *field, const char *value);

/* Inputs and answers. Values are doubles, row-major; the arrays live as long as the grading. */
typedef struct grade_array {
    const double *data; /* NULL: there is none */
    int64_t count;
    int64_t shape[8];
    int ndim;
    const char *dtype, *device; /* an answer's device when it was handed in */
    const cJSON *event;         /* the given or answer event */
} grade_array;
grade_array grade_given(grading *g, const char *name);  /* made again from seed, name, shape and dtype */
grade_array grade_answer(grading *g, const char *name);
/* |a - b| <= atol + rtol |b| for every element; on failure `where` is the first differing index, -1 if
 * the counts differ. NaN never matches. */
bool arrays_close(const double *a, int64_t na, const double *b, int64_t nb, double rtol, double atol, int64_t *where);

/* Follow bytes: the storage of the answer's tensor, and whether `storage` descends, through copies and
 * ops, from the input `given`. */
bool storage_comes_from(const grading *g, int64_t storage, int64_t ancestor);

#endif
