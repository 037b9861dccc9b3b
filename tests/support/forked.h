/* forked.h: runs a function in a child process and captures its output, for programs that exit or crash. The child
 * exits with 0 when the function returns. */
#ifndef FORKED_H
#define FORKED_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FORKED_SECONDS = 250, FORKED_ROOM = 16384 };

/* Waits for a child. One that uses no processor for FORKED_SECONDS hangs, and one that has used so much of it does not
 * end: SIGALRM ends them. Where others have the processor it may take any time. */
int status_of_child(pid_t child);

/* NAME, value, NAME, value ...: set in the child; value NULL: unset. */
#define ENVIRONMENT(...) ((const char *const[]){__VA_ARGS__, NULL})

typedef struct forked {
    int status;               /* of waitpid */
    char output[FORKED_ROOM]; /* the start of its stderr, and of stdout if stdout_too */
} forked;

extern forked last_child; /* the last child */
void run_forked(void (*program)(void), const char *const *environment, int stdout_too);
void assert_said(const char *text);
void assert_exited_with(int code);

#endif
