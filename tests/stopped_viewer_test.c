/* A program whose viewer is stopped (SIGSTOP) ends all the same when it is told to. */
#define _GNU_SOURCE 1

#include "event.h"
#include "logs.h"
#include "session_hooks.h"

#include <sys/wait.h>

#include "ferry_process.h"

enum { ITS_OWN_STATUS = 7 };

static _Noreturn void be_shown(int err)
{
    dup2(err, STDERR_FILENO);
    setenv("FERRY_VIEW", "1", 1);
    fy_session_start();
    exit(ITS_OWN_STATUS);
}

/* A field of /proc/PID/status, "State" or "SigCgt": does its text, or number, hold? */
static bool is_stopped(const char *value) { return *value == 'T'; }
static bool catches_sigterm(const char *value) { return strtoull(value, NULL, 16) >> (SIGTERM - 1) & 1; }

static bool process_is(pid_t pid, const char *field, bool (*is)(const char *value))
{
    char path[48], line[512];
    bool found = false;
    size_t n = strlen(field);
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && !found && fgets(line, sizeof line, f))
        found = !strncmp(line, field, n) && line[n] == ':' && is(line + n + 1 + strspn(line + n + 1, "\t "));
    if (f) fclose(f);
    return found;
}

static void wait_until(pid_t pid, const char *field, bool (*is)(const char *value))
{
    for (int i = 0; i < GUARD_MS && !process_is(pid, field, is); i++) usleep(1000);
}

/* The program waits for its viewer, which is stopped then. Returns the viewer. */
static int show_and_stop(running *program)
{
    int ends[2], viewer = 0;
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    fflush(NULL);
    *program = (running){.out = ends[0], .pid = fork()};
    if (!program->pid) be_shown(ends[1]);
    close(ends[1]);
    await(program, "` stops the viewer)\n");
    assert_int_equal(sscanf(strstr(program->text, "`kill "), "`kill %d`", &viewer), 1);
    wait_until(program->pid, "SigCgt", catches_sigterm);
    kill(viewer, SIGSTOP);
    wait_until(viewer, "State", is_stopped);
    return viewer;
}

static void ends_by(int signal_number)
{
    running program;
    char rest[256];
    int viewer = show_and_stop(&program), status = 0;
    kill(program.pid, signal_number);
    for (int i = 0; i < GUARD_MS && !waitpid(program.pid, &status, WNOHANG); i++) usleep(1000);
    bool ended = WIFEXITED(status) && WEXITSTATUS(status) == ITS_OWN_STATUS;
    bool goes_on = !ended || process_is(viewer, "State", is_stopped);
    if (goes_on) kill(viewer, SIGKILL);
    if (!ended) kill(program.pid, SIGKILL), waitpid(program.pid, NULL, 0);
    assert_true(ended);
    assert_false(goes_on);
    while (read(program.out, rest, sizeof rest) > 0) continue; /* the viewer has exited */
    close(program.out);
}

static void a_stopped_viewer_does_not_outlast_ctrl_c(void **state)
{
    (void)state;
    ends_by(SIGINT);
}

static void a_stopped_viewer_does_not_outlast_sigterm(void **state)
{
    (void)state;
    ends_by(SIGTERM);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stopped_viewer_does_not_outlast_ctrl_c),
        cmocka_unit_test(a_stopped_viewer_does_not_outlast_sigterm),
    };
    return cmocka_run_group_tests_name("stopped_viewer", tests, make_learner_folder, remove_learner_folder);
}
