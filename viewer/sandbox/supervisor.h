/* supervisor.h: internal to the sandbox: the supervisor's entry point and its report, and the process tree. */
#ifndef FERRY_SUPERVISOR_H
#define FERRY_SUPERVISOR_H

#include <sys/types.h>

#include "child.h"

enum { OUTPUT_KEPT = 1 << 20 }; /* bytes of output kept */

/* In memory shared by the caller, the supervisor and, until exec, the program. */
typedef struct child_report {
    volatile pid_t program; /* 0 until it is started; leader of its own process group */
    volatile int no_start;  /* errno of a failed exec */
    volatile int finished;  /* set last: the fields below are complete */
    child_end end;
    int code;
    double seconds;
    size_t kept, printed;
    char output[OUTPUT_KEPT];
} child_report;

/* The supervisor's main; call it in a fresh fork. envp is the program's; with a log its first entry is FERRY_LOG_PID,
 * with room for a number. control: hangs up when the program is to be stopped. alive: stays open until the supervisor
 * exits. */
_Noreturn void supervisor_main(const child_options *o, char *const *envp, child_report *f, int control, int alive);

/* Descendants of a process, but one (process_tree.c): how many; the bytes of memory that they use, private and shared;
 * and those that they, the process and whom it has waited for have written to disks. Of shared memory counts what they
 * have mapped or what is in the files of it that they have open, whichever is more: most is both. limit: what they may
 * use. */
typedef struct process_tree {
    int count;
    size_t memory, written;
} process_tree;
process_tree process_tree_of(pid_t root, pid_t but, size_t page, size_t limit, int most);
/* Bytes that a process, and whom it has waited for, have written to disks. */
size_t process_written(pid_t pid);
/* Sends a signal to every descendant; returns how many received it. page: bytes of a memory page. */
int process_tree_signal(pid_t root, int signal);
/* Bytes of resident private memory, and of mapped data: the limits apply to both. */
void process_memory(pid_t pid, size_t page, size_t *used, size_t *mapped);

#endif
