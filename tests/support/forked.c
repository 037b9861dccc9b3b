/* forked.c: see forked.h. */
#include "forked.h"

forked last_child;

static void forked_child(void (*program)(void), const char *const *environment, int to, int stdout_too)
{
    alarm(FORKED_SECONDS);
    signal(SIGSEGV, SIG_DFL); /* replaces cmocka's handlers */
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

void run_forked(void (*program)(void), const char *const *environment, int stdout_too)
{
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) forked_child(program, environment, fileno(file), stdout_too);
    assert_int_equal(waitpid(child, &last_child.status, 0), child);
    ssize_t size = pread(fileno(file), last_child.output, sizeof last_child.output - 1, 0);
    last_child.output[size > 0 ? size : 0] = 0;
    fclose(file);
}

void assert_said(const char *text)
{
    if (!strstr(last_child.output, text)) fail_msg("not said: %s\nin: %s", text, last_child.output);
}

void assert_exited_with(int code)
{
    if (!WIFEXITED(last_child.status) || WEXITSTATUS(last_child.status) != code)
        fail_msg("status %#x, not exit %d; it said: %s", last_child.status, code, last_child.output);
}
