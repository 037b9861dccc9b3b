/* child_test.c: running a program always ends with a verdict, leaves no processes or files, and does not harm the
 * caller. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "child_program.h"
#include "paths.h"

static char folder[64] = "/tmp/ferry-child-XXXXXX";
static char program[96];

static int build_program(void **state)
{
    (void)state;
    char source[96], command[512];
    if (!mkdtemp(folder)) return -1;
    snprintf(source, sizeof source, "%s/p.c", folder);
    snprintf(program, sizeof program, "%s/p", folder);
    if (!file_write(source, child_program, strlen(child_program))) return -1;
    snprintf(command, sizeof command, "cc -O1 -w -o %s %s", program, source);
    return system(command);
}

static int remove_program(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

/* Small limits keep the tests fast. */
static child_result run_with(const char *how, child_limits limits, int stop_fd)
{
    const char *argv[] = {program, how, NULL};
    const char *env[] = {"FERRY_SEED=42", NULL};
    child_options o = {.argv = argv, .folder = folder, .env = env, .log_fd = -1, .stop_fd = stop_fd, .limits = limits};
    child_result r;
    char err[256] = "";
    if (!child_run(&o, &r, err, sizeof err)) fail_msg("child_run: %s", err);
    return r;
}

static child_result run(const char *how)
{
    return run_with(how, (child_limits){.seconds = 20, .memory = (size_t)256 << 20, .processes = 16}, -1);
}

static void assert_words(const child_result *r, const char *part)
{
    char words[256], hint[256];
    child_limits l = {.seconds = 2, .memory = (size_t)256 << 20, .processes = 16};
    child_describe(r, &l, words, sizeof words, hint, sizeof hint);
    if (!strstr(words, part)) fail_msg("'%s' is not in '%s'", part, words);
    assert_true(*hint);
}

static void output_and_status_come_back(void **state)
{
    (void)state;
    child_result r = run("hello");
    assert_int_equal(r.end, CHILD_EXITED);
    assert_int_equal(r.code, 0);
    assert_string_equal(r.output, "hello\nand stderr\n");
    assert_int_equal(r.printed, strlen(r.output));
    free(r.output);
    r = run("status");
    assert_int_equal(r.code, 7);
    assert_words(&r, "exit status 7");
    free(r.output);
}

static void a_crash_keeps_what_was_printed(void **state)
{
    (void)state;
    child_result r = run("null");
    assert_int_equal(r.end, CHILD_SIGNALLED);
    assert_int_equal(r.code, SIGSEGV);
    assert_string_equal(r.output, "before\n");
    assert_words(&r, "invalid memory access");
    free(r.output);
}

static void signals_are_named_in_messages(void **state)
{
    (void)state;
    child_result r = run("abort");
    assert_words(&r, "abort");
    free(r.output);
#if defined __x86_64__
    r = run("divide");
    assert_words(&r, "divided an integer by zero");
    free(r.output);
#endif
}

static void an_endless_loop_is_stopped(void **state)
{
    (void)state;
    child_result r = run_with("loop", (child_limits){.seconds = 0.3}, -1);
    assert_int_equal(r.end, CHILD_TIME);
    assert_words(&r, "still running");
    free(r.output);
}

static void endless_printing_is_stopped_and_a_part_is_kept(void **state)
{
    (void)state;
    child_result r = run("print");
    assert_int_equal(r.end, CHILD_OUTPUT);
    assert_true(r.kept < (size_t)2 << 20);
    assert_true(r.printed > (size_t)64 << 20);
    assert_words(&r, "printed more than");
    free(r.output);
}

static void endless_allocation_is_stopped(void **state)
{
    (void)state;
    child_result r = run("memory");
    assert_int_equal(r.end, CHILD_MEMORY);
    assert_words(&r, "256 MiB of memory");
    free(r.output);
}

static void a_fork_bomb_is_stopped(void **state)
{
    (void)state;
    child_result r = run("forks");
    assert_int_equal(r.end, CHILD_FORKS);
    assert_words(&r, "more than 16 processes");
    free(r.output);
}

static void a_fork_bomb_that_leaves_its_session_is_stopped(void **state)
{
    (void)state;
    child_result r = run("hidden-forks");
    assert_int_equal(r.end, CHILD_FORKS);
    free(r.output);
}

static void nothing_outlives_the_program(void **state)
{
    (void)state;
    child_result r = run("orphan");
    assert_int_equal(r.end, CHILD_EXITED);
    pid_t orphan = (pid_t)atoi(r.output);
    assert_true(orphan > 1);
    assert_int_equal(kill(orphan, 0), -1);
    assert_int_equal(errno, ESRCH);
    free(r.output);
}

static void killing_the_parent_harms_no_other_process(void **state)
{
    (void)state;
    child_result r = run("kill-parent");
    assert_int_equal(r.end, CHILD_ENDED_SUPERVISOR);
    assert_words(&r, "its supervisor");
    free(r.output);
    r = run("stop-parent");
    assert_int_equal(r.end, CHILD_ENDED_SUPERVISOR);
    free(r.output);
}

static void closing_every_descriptor_is_no_crime(void **state)
{
    (void)state;
    child_result r = run("close");
    assert_int_equal(r.end, CHILD_EXITED);
    assert_int_equal(r.code, 3);
    free(r.output);
}

static void input_is_empty_and_settings_are_clean(void **state)
{
    (void)state;
    child_result r = run("stdin");
    assert_int_equal(r.code, 0);
    free(r.output);
    setenv("FERRY_VIEW", "1", 1);
    setenv("CUDA_VISIBLE_DEVICES", "-1", 1);
    r = run("env");
    unsetenv("FERRY_VIEW");
    unsetenv("CUDA_VISIBLE_DEVICES");
    assert_string_equal(r.output, "42 - path\n");
    free(r.output);
}

static void no_descriptor_of_the_caller_is_inherited(void **state)
{
    (void)state;
    int own = open("/dev/null", O_WRONLY);
    child_result r = run("fds");
    close(own);
    assert_int_equal(r.code, 0);
    free(r.output);
}

static void a_stop_ends_the_program(void **state)
{
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    close(ends[1]);
    child_result r = run_with("loop", (child_limits){.seconds = 60}, ends[0]);
    close(ends[0]);
    assert_int_equal(r.end, CHILD_STOPPED);
    free(r.output);
}

/* The pid that a program wrote to a file, once it is there. */
static pid_t read_pid(const char *path)
{
    for (int i = 0; i < 2000; i++) {
        char *text = file_read(path, NULL);
        pid_t pid = text && strchr(text, '\n') ? (pid_t)atoi(text) : 0;
        free(text);
        if (pid) return pid;
        usleep(10000);
    }
    return 0;
}

static void the_program_ends_with_its_caller(void **state)
{
    (void)state;
    char path[96];
    snprintf(path, sizeof path, "%s/pid", folder);
    pid_t caller = fork();
    if (caller == 0) {
        run_with("pid", (child_limits){.seconds = 60}, -1);
        _exit(0);
    }
    pid_t program_pid = read_pid(path);
    assert_true(program_pid > 1);
    kill(caller, SIGKILL);
    assert_int_equal(waitpid(caller, NULL, 0), caller);
    for (int i = 0; i < 6000 && kill(program_pid, 0) == 0; i++) usleep(10000);
    assert_int_equal(kill(program_pid, 0), -1);
}

static void a_missing_program_is_said(void **state)
{
    (void)state;
    const char *argv[] = {"/nowhere/at/all", NULL};
    child_options o = {.argv = argv, .log_fd = -1, .stop_fd = -1};
    child_result r;
    char err[256];
    assert_true(child_run(&o, &r, err, sizeof err));
    assert_int_equal(r.end, CHILD_START_FAILED);
    assert_int_equal(r.code, ENOENT);
    assert_words(&r, "could not be started");
    free(r.output);
}

/* In a process of its own, which stays so. */
static void no_program_with_a_log_can_write_to_its_caller(void **state)
{
    (void)state;
    const char *argv[] = {"/bin/true", NULL};
    child_options o = {.argv = argv, .log_fd = open("/dev/null", O_RDWR), .stop_fd = -1};
    child_result r;
    char err[256];
    int status = -1;
    pid_t pid = fork();
    if (pid == 0)
        _exit(prctl(PR_SET_DUMPABLE, 1) != 0 || !child_run(&o, &r, err, sizeof err) || prctl(PR_GET_DUMPABLE));
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    close(o.log_fd);
}

/* CAP_SYS_PTRACE, which root has. */
static void a_program_may_not_write_to_any_process(void **state)
{
    (void)state;
    const char *argv[] = {"/bin/grep", "-E", "Cap(Inh|Prm|Eff|Bnd)", "/proc/self/status", NULL};
    child_options o = {.argv = argv, .log_fd = -1, .stop_fd = -1};
    child_result r;
    char err[256];
    int sets = 0;
    assert_true(child_run(&o, &r, err, sizeof err));
    for (const char *p = r.output; (p = strstr(p, ":\t")); sets++) {
        bool bounds = !strncmp(p - 3, "Bnd", 3); /* another user's has no right within it */
        unsigned long long rights = strtoull(p += 2, NULL, 16);
        if (!bounds || geteuid() == 0) assert_false(rights >> 19 & 1);
    }
    assert_int_equal(sets, 4);
    free(r.output);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_and_status_come_back),
        cmocka_unit_test(a_crash_keeps_what_was_printed),
        cmocka_unit_test(signals_are_named_in_messages),
        cmocka_unit_test(an_endless_loop_is_stopped),
        cmocka_unit_test(endless_printing_is_stopped_and_a_part_is_kept),
        cmocka_unit_test(endless_allocation_is_stopped),
        cmocka_unit_test(a_fork_bomb_is_stopped),
        cmocka_unit_test(a_fork_bomb_that_leaves_its_session_is_stopped),
        cmocka_unit_test(nothing_outlives_the_program),
        cmocka_unit_test(killing_the_parent_harms_no_other_process),
        cmocka_unit_test(closing_every_descriptor_is_no_crime),
        cmocka_unit_test(input_is_empty_and_settings_are_clean),
        cmocka_unit_test(no_descriptor_of_the_caller_is_inherited),
        cmocka_unit_test(a_stop_ends_the_program),
        cmocka_unit_test(the_program_ends_with_its_caller),
        cmocka_unit_test(a_missing_program_is_said),
        cmocka_unit_test(no_program_with_a_log_can_write_to_its_caller),
        cmocka_unit_test(a_program_may_not_write_to_any_process),
    };
    return cmocka_run_group_tests(tests, build_program, remove_program);
}
