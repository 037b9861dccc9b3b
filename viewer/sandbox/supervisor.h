/* supervisor.h: between child.c and supervisor.c: what the supervisor is told, and where it writes its child_report. */
#ifndef FERRY_WARDEN_H
#define FERRY_WARDEN_H

#include <sys/types.h>

#include "child.h"

enum { OUTPUT_KEPT = 1 << 20 }; /* bytes of output kept */

/* In memory shared by the caller, the supervisor and, until exec, the program. */
typedef struct child_report {
    volatile pid_t program; /* 0 until it was started; leads a process group of its own */
    volatile int no_start;  /* errno of a failed exec */
    volatile int finished;  /* the fields below are whole */
    child_end end;
    int code;
    double seconds;
    size_t kept, printed;
    char output[OUTPUT_KEPT];
} child_report;

/* The whole life of the supervisor; called in a fresh fork, does not return. envp is the program's.
 * control: hangs up when the program is to be stopped. alive: held open until the supervisor ends. */
_Noreturn void supervisor_main(const child_options *o, char *const *envp, child_report *f, int control, int alive);

/* Descendants of a process (process_tree.c): how many there are, and the bytes of memory of their own. */
typedef struct process_tree {
    int count;
    size_t memory;
} process_tree;
process_tree process_tree_of(pid_t root, size_t page);
/* Send a signal to every descendant; returns how many there were. */
int process_tree_signal(pid_t root, int signal);
/* Bytes of private memory that a process has in use, and that it has asked for. */
void process_memory(pid_t pid, size_t page, size_t *used, size_t *asked);

#endif
