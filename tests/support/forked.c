/* forked.c: see forked.h. */
#include "forked.h"

#include <sys/prctl.h>
#include <time.h>

forked last_child;

/* Seconds of processor that a process has used. */
static double seconds_used(pid_t child)
{
    clockid_t clock;
    struct timespec used = {0};
    if (clock_getcpuclockid(child, &clock) == 0) clock_gettime(clock, &used);
    return (double)used.tv_sec + 1e-9 * (double)used.tv_nsec;
}

int status_of_child(pid_t child)
{
    enum { LOOK_MS = 1, IDLE_LOOKS = FORKED_SECONDS * 1000 / LOOK_MS };
    double before = 0;
    int status = 0, idle = 0;
    pid_t ended;
    while ((ended = waitpid(child, &status, WNOHANG)) == 0) {
        double used = seconds_used(child);
        idle = used > before + 0.1 ? 0 : idle + 1;
        if (!idle) before = used;
        if (idle == IDLE_LOOKS || used > FORKED_SECONDS) kill(child, SIGALRM);
        usleep(LOOK_MS * 1000);
    }
    assert_int_equal(ended, child);
    return status;
}

static void forked_child(void (*program)(void), const char *const *environment, int to, int stdout_too)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* with the test */
    signal(SIGSEGV, SIG_DFL);         /* replaces cmocka's handlers */
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
    last_child.status = status_of_child(child);
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
