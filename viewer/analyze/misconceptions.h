/* misconceptions.h: what learners most often believe about two memories, and how a run shows that its author does.
 *
 * A signature is a rule over the events alone, as findings are, and answers one question: is this belief at work here?
 * `ferry explain` tells of everything that is dear or wrong; a lesson asks for the one belief that it is about. */
#ifndef FERRY_MISCONCEPTIONS_H
#define FERRY_MISCONCEPTIONS_H

#include <stdint.h>

#include "findings.h"

typedef struct misconception {
    int rank;         /* how often it is met, and how much it costs: 1 is the worst */
    const char *name; /* kebab-case, stable: "to-moves-it" */
    const char *believed, *truth;
    int64_t (*signature)(const findings *f); /* seq of the event that shows it; -1: nothing does */
    const char *waits_for;                   /* signature is NULL until Ferry has this: "autograd" */
} misconception;

/* All there are, by index; NULL behind the last. */
const misconception *misconception_at(int i);
const misconception *misconception_named(const char *name); /* NULL: no such one */

#endif
