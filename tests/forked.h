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

static forked ran; /* the last one */

static inline void forked_child(void (*program)(void), const char *const *environment, int to, int stdout_too)
{
    alarm(FORKED_SECONDS);
    signal(SIGSEGV, SIG_DFL); /* not the test framework's */
    signal(SIGBUS, SIG_DFL);
    dup2(to, STDERR_FILENO);
    if (stdout_too) dup2(to, STDOUT_FILENO);
    for (; environment && environment[0]; environment += 2) {
        if (environment[1]) setenv(environment[0], environment[1], 1);
        else unsetenv(environment[0]);
    }
    program();
    exit(0);
}

static inline void run_forked(void (*program)(void), const char *const *environment, int stdout_too)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) forked_child(program, environment, fileno(file), stdout_too);
    assert_int_equal(waitpid(child, &ran.status, 0), child);
    ssize_t size = pread(fileno(file), ran.said, sizeof ran.said - 1, 0);
    ran.said[size > 0 ? size : 0] = 0;
    fclose(file);
}

static inline void assert_said(const char *text)
{
    if (!strstr(ran.said, text)) fail_msg("not said: %s\nin: %s", text, ran.said);
}

static inline void assert_exited_with(int code)
{
    if (!WIFEXITED(ran.status) || WEXITSTATUS(ran.status) != code)
        fail_msg("status %#x, not exit %d; it said: %s", ran.status, code, ran.said);
}

#endif
