/* child.h: runs an untrusted program under limits and reports how it ended.
 *
 * The program is never a child of the caller: between them is a supervisor process (supervisor.c), which
 * enforces the limits, collects the output and kills every descendant. Where there are namespaces, the program cannot
 * see the supervisor, and whichever of them is killed, none is left (isolation.h). Elsewhere a program that kills its
 * parent kills the supervisor; the caller detects that. Thread-safe: several threads may run programs at once. */
#ifndef FERRY_CHILD_H
#define FERRY_CHILD_H

#include <stdbool.h>
#include <stddef.h>

typedef struct child_limits {
    double seconds; /* of wall time; default 10 */
    size_t memory;  /* bytes of private and of shared memory, all descendants together; default 2 GiB */
    size_t disk;    /* bytes written to disks, all descendants together; default 2 GiB */
    size_t output;  /* bytes printed; default 64 MiB, of which the first 1 MiB is kept */
    int processes;  /* descendants alive at once; default 64 */
    size_t file;    /* bytes of each file that it writes; default 1 GiB: more than a run's log has */
} child_limits;

/* The values that fields left 0 get. */
child_limits child_default_limits(void);

typedef struct child_options {
    const char *const *argv;   /* argv[0] is a path, or looked up in PATH */
    const char *folder;        /* working directory; NULL: the caller's */
    const char *const *env;    /* "NAME=value" ..., added to the caller's without its FERRY_*; may be NULL */
    const char *temporary;     /* its TMPDIR and HOME; of the caller's environment it then gets no more than a compiler
                                  and Ferry need (names_needed); NULL: all of the caller's */
    int log_fd;                /* inherited under the same number, passed as FERRY_LOG_FD; -1: none */
    int stop_fd;               /* the program is stopped when this is readable or hung up; -1: none */
    int or_stop_fd;            /* or when this is; 0 or -1: none */
    const char *const *hidden; /* with as_user: folders that are empty for it, NULL-terminated; NULL: none */
    unsigned as_user; /* root alone: the program runs with this uid and gid, without network; 0: as the caller */
    child_limits limits;
} child_options;

typedef enum child_end {
    CHILD_EXITED,           /* code is the exit status */
    CHILD_SIGNALLED,        /* code is the signal */
    CHILD_TIME,             /* exceeded limits.seconds */
    CHILD_MEMORY,           /* exceeded limits.memory */
    CHILD_DISK,             /* exceeded limits.disk */
    CHILD_OUTPUT,           /* exceeded limits.output */
    CHILD_FORKS,            /* exceeded limits.processes */
    CHILD_STOPPED,          /* cancelled through stop_fd */
    CHILD_ENDED_SUPERVISOR, /* it killed or stopped its supervisor */
    CHILD_START_FAILED,     /* code is errno */
} child_end;

typedef struct child_result {
    child_end end;
    int code;
    double seconds;
    char *output;         /* stdout and stderr together, NUL-terminated; the caller frees it */
    size_t kept, printed; /* bytes in output; bytes that it printed */
} child_result;

/* Blocks until the program and all its descendants have ended. False, with the reason in err, only if the
 * supervisor could not be started (no process, no descriptor). */
bool child_run(const child_options *o, child_result *r, char *err, size_t room);

/* Can a program be kept off the network here (as_user)? */
bool child_can_unplug(void);
/* Can it have a namespace of processes, in which whatever it starts ends with it? For root: as another user. */
bool child_can_isolate(void);

/* Describes the result: "the program crashed: ...", or "" for exit status 0; hint: what to look for. */
void child_describe(const child_result *r, const child_limits *limits, char *words, size_t room, char *hint,
                    size_t hint_room);

#endif
