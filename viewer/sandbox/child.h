/* child.h: run a program that nobody vouches for, with limits, and come back with a verdict.
 *
 * The program never is a child of the caller: between them stands a supervisor, a process of its own
 * (supervisor.c), which holds the limits, collects the output and ends every descendant. A program that
 * kills its parent kills the supervisor; the caller notices, and is unharmed. Several threads may run
 * programs at the same time. */
#ifndef FERRY_CHILD_H
#define FERRY_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct child_limits {
    double seconds; /* wall time; 10 */
    size_t memory;  /* bytes of memory of its own, all descendants together; 2 GiB */
    size_t output;  /* bytes printed before it is stopped; 64 MiB, of which the first 1 MiB is kept */
    int processes;  /* descendants alive at once; 64 */
} child_limits;

/* What a field left 0 becomes. */
child_limits child_default_limits(void);

typedef struct child_options {
    const char *const *argv; /* argv[0] is a path, or looked up in PATH */
    const char *folder;      /* to run in; NULL: the current one */
    const char *const *env;  /* "NAME=value" ..., beside the caller's own without any FERRY_*; may be NULL */
    int log_fd;              /* inherited under its number, told as FERRY_LOG_FD; -1: none */
    int stop_fd;             /* readable or hung up: stop the program; -1: none */
    child_limits limits;
} child_options;

typedef enum child_end {
    CHILD_EXITED,           /* code is the exit status */
    CHILD_SIGNALLED,        /* code is the signal */
    CHILD_TIME,             /* ran too long */
    CHILD_MEMORY,           /* took too much memory */
    CHILD_OUTPUT,           /* printed too much */
    CHILD_FORKS,            /* too many processes */
    CHILD_STOPPED,          /* stop_fd said so */
    CHILD_ENDED_SUPERVISOR, /* it killed or stopped its supervisor */
    CHILD_NO_START,         /* code is errno */
} child_end;

typedef struct child_result {
    child_end end;
    int code;
    double seconds;
    char *output;         /* stdout and stderr together, ended by NUL; free() it */
    size_t kept, printed; /* bytes in output; bytes printed in all */
} child_result;

/* Blocks until the program and all its descendants are gone. False only when the caller's own means ran
 * out (no process, no descriptor); then err says which. */
bool child_run(const child_options *o, child_result *r, char *err, size_t room);

/* The verdict in plain words: "the program crashed: ..." or "" for exit status 0; hint: what to look for. */
void child_words(const child_result *r, const child_limits *limits, char *words, size_t room, char *hint,
                 size_t hint_room);

#endif
