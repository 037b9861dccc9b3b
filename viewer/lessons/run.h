/* run.h: from a learner's file to a verdict: compile, run with limits, read the log, grade; then run again
 * with another seed and other sizes, which is reported only if it fails. */
#ifndef FERRY_RUN_H
#define FERRY_RUN_H

#include <cjson/cJSON.h>

#include "child.h"
#include "diagnose.h"
#include "example.h"
#include "grader_process.h"
#include "lesson.h"
#include "progress.h"

typedef enum run_stage {
    RUN_COMPILING, /* log_fd is -1 */
    RUN_STARTED,   /* log_fd: the slot log that the program will write; borrowed, dup to keep it */
    RUN_OVER,      /* the last log is complete, including its verdict; log_fd is -1 */
} run_stage;

typedef struct run_options {
    const home *home;
    const lesson *lesson;
    bool demo;   /* run the worked example, which is never graded */
    bool varied; /* with demo: not demo.c itself, but this variant of it */
    example_variant variant;
    bool grade; /* grade the learner's program and record the attempt */
    bool unrecorded;
    bool is_built;              /* by an earlier run of the same file: it is not compiled again */
    uint64_t seed, second_seed; /* of both runs; the second 0: a random one */
    const char *temporary;      /* of compiler and program, see child.h; NULL: the caller's */
    const char *const *hidden;  /* from compiler and program, see child.h; NULL: none */
    unsigned as_user;           /* compiles and runs as another user, see child.h; 0: no */
    child_limits limits;        /* 0: the defaults */
    int stop_fd;                /* cancels the run, see child.h; -1: none */
    void (*stage)(void *user, run_stage stage, int log_fd); /* may be NULL */
    void *user;
} run_options;

typedef enum run_end {
    RUN_PASSED,            /* passed; ungraded: exited with status 0 */
    RUN_FAILED,            /* a check failed, or the program crashed, timed out ... */
    RUN_NOT_COMPILED,      /* it did not compile: see outcome.diagnosis */
    RUN_STOPPED,           /* cancelled through stop_fd */
    RUN_ENVIRONMENT_ERROR, /* not the program's fault: no compiler, no library, disk full ... */
} run_end;

typedef struct outcome {
    run_end end;
    char file[256];       /* "my/01-where-am-i.c", as the log names it */
    char path[PATH_ROOM]; /* of the learner's file; "": the example ran */
    char message[1024];   /* a sentence or two */
    char hint[640];       /* what to do next; may be "" */
    char source[240];     /* text of the line; may be "" */
    int line;             /* -1: none */
    int64_t seq;          /* of the event; -1: none */
    char event[400];      /* what the log tells of it, in a line; "": nothing */
    char expected[256];   /* of a graded run that failed; else "" */
    char got[256];
    diagnosis diagnosis; /* of the compilation: the error, or the first warning */
    bool ran;            /* the program did: what failed after that is no failure of the machine */
    bool graded, second; /* second: the message describes the run with other inputs */
    bool unfinished;     /* a signal, a limit or an exit status other than 0 ended the program */
    bool untouched;      /* it is the lesson's starter, which earns nothing */
    bool stopped;        /* by a failed Ferry call, which the message describes; the hint is the fix */
    verdict verdict;
    board board;          /* of a run that passed: the learner's own best; empty: the lesson has none */
    char board_of[64];    /* what it counts: "modelled time in us" */
    uint64_t seed;        /* of the run that the message describes */
    double seconds;       /* the program's wall time */
    char *output;         /* stdout and stderr of the program; never NULL */
    size_t kept, printed; /* bytes in output; bytes that it printed */
    int log_fd;           /* of the run that the message describes, or -1; outcome_free closes it */
} outcome;

void run(const run_options *o, outcome *out);
void outcome_free(outcome *out);

enum { OUTPUT_SHOWN = 16384 }; /* bytes of the output that the page gets */

/* For the page and `ferry grade --json`: pass, message, line, seq, checks, output ... */
cJSON *outcome_json(const outcome *out);
/* Adds untrusted text to an object; invalid UTF-8 is replaced. */
void json_text(cJSON *to, const char *key, const char *text, size_t size);

#endif
