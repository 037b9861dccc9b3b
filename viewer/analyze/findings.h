/* findings.h: what a run did that was wrong or wasteful, each with its line, its cost and a fix.
 *
 * Rules find them in the events alone: names of tensors and files affect only the text. A truncated log yields fewer
 * findings, never different ones. Between fy_mark("demo: ...") and the next mark a program demonstrates costs on
 * purpose: only wrong results are reported there. Costs are summed over all executions of a line; times are modelled or
 * measured, as the log's clock is. */
#ifndef FERRY_FINDINGS_H
#define FERRY_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "feed.h"
#include "replay.h"
#include "text.h"
#include "trace.h"

typedef enum finding_weight {
    FINDING_WRONG, /* results may be wrong, or the program stopped */
    FINDING_WASTE, /* correct results at an avoidable cost */
    FINDING_HINT,  /* possibly intended */
} finding_weight;

typedef struct finding_rule {
    const char *name; /* kebab-case, stable: "round-trip" */
    const char *about;
    finding_weight weight;
} finding_rule;

typedef struct finding {
    const finding_rule *rule;
    const char *file, *source; /* "train.c", the text of the line; "": not in the log */
    int line, times;           /* line 0: unknown; times: how often it happened there */
    int64_t seq;               /* of the first event that shows it */
    int64_t ns, bytes;         /* the cost; 0: none, or unknown */
    char what[640], fix[320];  /* the first occurrence, in a sentence or two; what to do */
    const char *change; /* what `ferry whatif` and the page can try: "without the second copies"; NULL: nothing */
    char no_try[200];   /* why they cannot, where they could be expected to; "": nothing is said */
    replay_edit *edits; /* likewise, as changes of events; in no order */
    int edit_count, edit_room;
    int next; /* internal to findings.c: the next finding of the same line; -1 */
} finding;

typedef struct findings {
    finding *list; /* wrong first, then by cost */
    int count;
    bool measured;           /* the log's clock; false: modelled */
    bool strict;             /* for a grader: demonstrations are not exempt */
    int shown;               /* findings left out because they are part of a demonstration */
    char note[200];          /* what is missing in the log, for the user; "": nothing */
    struct history *history; /* owns the strings that the list points to */
    struct findings_work *work;
} findings;

/* false, with the reason in err: no such file, not a log, a damaged line. The caller frees f after a success. */
bool findings_of_file(findings *f, const char *path, char *err, size_t room);
bool findings_of_lines(findings *f, const char *lines, size_t size, char *err, size_t room);
void findings_of_run(findings *f, const trace *run); /* strict */
void findings_of_feed(findings *f, feed *run);       /* all lines so far */
void findings_free(findings *f);

/* As JSON: {"clock", "note", "findings": [...]}, at most so many; "more": how many were left out. */
void findings_json(const findings *f, int most, fy_text *out);

/* The rules by index; NULL past the last. */
const finding_rule *findings_rule(int i);
const char *finding_weight_name(finding_weight w); /* "wrong", "waste", "hint" */

#endif
