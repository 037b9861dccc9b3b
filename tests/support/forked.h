/* forked.h: a function that is run in a process of its own, and what it wrote: for tests of programs that end, or die.
 * The child exits with 0 unless it does otherwise, and is ended after FORKED_SECONDS. */
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

/* NAME, value, NAME, value ... and NULL: set in the child; a value of NULL takes the name away. */
#define ENVIRONMENT(...) ((const char *const[]){__VA_ARGS__, NULL})

typedef struct forked {
    int status;             /* as waitpid gives it */
    char said[FORKED_ROOM]; /* the beginning of what it wrote to stderr, and to stdout where that was asked for */
} forked;

extern forked ran; /* the last one */
void run_forked(void (*program)(void), const char *const *environment, int stdout_too);
void assert_said(const char *text);
void assert_exited_with(int code);

#endif
