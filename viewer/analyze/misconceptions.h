/* misconceptions.h: common misconceptions about host and device memory, and how a run shows one.
 *
 * A signature detects one misconception from the events alone, as the rules of findings do. `ferry explain` reports
 * all findings; a lesson asks for the one misconception that it is about. */
#ifndef FERRY_MISCONCEPTIONS_H
#define FERRY_MISCONCEPTIONS_H

#include <stdint.h>

#include "findings.h"

typedef struct misconception {
    int rank;         /* by frequency and cost; 1: the worst */
    const char *name; /* kebab-case, stable: "to-moves-it" */
    const char *believed;
    const char *truth, *wanted;              /* what a run that shows it is told, and what it should show instead */
    int64_t (*signature)(const findings *f); /* seq of the event that shows it; -1: none */
} misconception;

/* By index; NULL past the last. */
const misconception *misconception_at(int i);
const misconception *misconception_named(const char *name); /* NULL: unknown */

#endif
