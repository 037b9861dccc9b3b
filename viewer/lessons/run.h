/* run.h: from a learner's file to a verdict: compile, run with limits, read the log, grade; then once
 * more with another seed and other sizes, which only shows when it fails. */
#ifndef FERRY_RUN_H
#define FERRY_RUN_H

#include <cjson/cJSON.h>

#include "child.h"
#include "diagnose.h"
#include "grader_process.h"
#include "lesson.h"

typedef enum run_stage {
    RUN_COMPILING, /* log_fd is -1 */
    RUN_STARTED,   /* log_fd is a slot log that the program is about to write; borrowed, dup it to keep it */
    RUN_OVER,      /* all is in the last log, its verdict too; log_fd is -1 */
} run_stage;

typedef struct run_options {
    const home *home;
    const lesson *lesson;
    bool demo;  /* the worked example, which is not graded */
    bool grade; /* judge the learner's program, and note the attempt */
    uint64_t seed;
    child_limits limits;                                    /* 0: the defaults */
    int stop_fd;                                            /* see child.h; -1: none */
    void (*stage)(void *user, run_stage stage, int log_fd); /* may be NULL */
    void *user;
} run_options;

typedef enum run_end {
    RUN_FINE,    /* passed; or, where nothing is graded, ran to its end */
    RUN_FAILED,  /* a check failed, or the program crashed, hung ... */
    RUN_REFUSED, /* it did not compile: d says why */
    RUN_STOPPED, /* stop_fd */
    RUN_TROUBLE, /* the surroundings: no compiler, no library, no disk ... */
} run_end;

typedef struct outcome {
    run_end end;
    char file[256];      /* "my/01-where-am-i.c" */
    char message[1024];  /* one plain sentence or two */
    char hint[640];      /* what to do next; may be "" */
    char source[240];    /* text of the line; may be "" */
    int line;            /* -1: none */
    int64_t seq;         /* event; -1: none */
    diagnosis diagnosis; /* after compiling: the refusal, or the first warning */
    bool graded, second; /* second: the message is about the run with other inputs */
    bool stopped;        /* by a mistake in a call, which the message is about; the hint is the fix */
    verdict verdict;
    uint64_t seed;  /* of the run that the message is about */
    double seconds; /* the program's wall time */
    char *output;   /* what it printed; never NULL */
    size_t kept, printed;
    int log_fd; /* of the run that the message is about, or -1; outcome_free closes it */
} outcome;

void run(const run_options *o, outcome *out);
void outcome_free(outcome *out);

enum { OUTPUT_SHOWN = 16384 }; /* what the page gets of it */

/* The verdict as the page and `ferry grade --json` get it: pass, message, line, seq, checks, output ... */
cJSON *outcome_json(const outcome *out);
/* Add text of unknown origin to an object: what is not UTF-8 in it is replaced. */
void json_text(cJSON *to, const char *key, const char *text, size_t size);

#endif
