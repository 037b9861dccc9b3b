/* findings.h: what a run did that was wasteful or wrong, each with its line, its cost and a fix.
 *
 * Found by rules over the events alone: other names of tensors and files change nothing but the words. A log that was
 * cut yields fewer findings, never others. Between fy_mark("demo: ...") and the next note a program shows what things
 * cost: what is dear there is meant, and only what is wrong is told. Costs are sums over all times that the line did
 * it; an amount of time is as the log's clock is, modelled or measured. */
#ifndef FERRY_FINDINGS_H
#define FERRY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace.h"

typedef enum finding_weight {
    FINDING_WRONG, /* results may be wrong, or the program stopped */
    FINDING_WASTE, /* right, and dearer than it had to be */
    FINDING_HINT,  /* perhaps meant so; worth a look */
} finding_weight;

typedef struct finding_rule {
    const char *name; /* kebab-case, stable: "round-trip" */
    const char *about;
    finding_weight weight;
} finding_rule;

typedef struct finding {
    const finding_rule *rule;
    const char *file, *source; /* "train.c", the text of the line; "" where the log does not say */
    int line, times;           /* 0: no line known */
    int64_t seq;               /* of the first event that shows it */
    int64_t ns, bytes;         /* 0: costs none, or none that can be told */
    char what[480], fix[320];  /* the first time, in a sentence or two; what to do */
    int next;                  /* findings.c's own: the next one of the same line */
} finding;

typedef struct findings {
    finding *list; /* wrong first, then by cost */
    int count;
    bool measured;           /* the clock: else modelled */
    bool strict;             /* for a grader: what the program calls a demonstration counts like the rest */
    int shown;               /* what would be waste was left out so often: in a demonstration */
    char note[200];          /* what the log does not hold, in words; "" */
    struct history *history; /* whose texts the list quotes */
    struct findings_work *work;
} findings;

/* False with the reason in err: no such file, not a log, a damaged line. */
bool findings_of_file(findings *f, const char *path, char *err, size_t room);
bool findings_of_lines(findings *f, const char *lines, size_t size, char *err, size_t room);
void findings_of_run(findings *f, const trace *run); /* strict: for a grader */
void findings_free(findings *f);

/* All rules there are, by index; NULL behind the last. */
const finding_rule *findings_rule(int i);
const char *finding_weight_name(finding_weight w); /* "wrong", "waste", "hint" */

#endif
