/* child_test.c: running a program always ends with a verdict, leaves no processes or files, and does not harm the
 * caller. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statfs.h>
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

/* In files that nobody maps, and in mappings. What several map counts once. */
static void shared_memory_counts_once(void **state)
{
    (void)state;
    static const char *const ways[] = {"memfd", "shared"};
    child_result r;
    for (int i = 0; i < 2; i++) {
        r = run(ways[i]);
        assert_int_equal(r.end, CHILD_MEMORY);
        free(r.output);
    }
    r = run("shared-by-all");
    assert_true(r.end == CHILD_EXITED && r.code == 6);
    free(r.output);
}

static void what_is_written_to_disk_counts(void **state)
{
    (void)state;
    struct statfs disk;
    if (statfs(folder, &disk) == 0 && disk.f_type == TMPFS_MAGIC) skip(); /* that is memory */
    child_result r = run_with("disk", (child_limits){.seconds = 60, .disk = (size_t)256 << 20}, -1);
    assert_int_equal(r.end, CHILD_DISK);
    char words[256], hint[256];
    child_describe(&r, &(child_limits){.disk = (size_t)256 << 20}, words, sizeof words, hint, sizeof hint);
    assert_string_equal(words, "the program wrote more than 256 MiB to disk and was stopped");
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

/* Opens the lock that a program holds for as long as it or any process that it started lives. */
static int open_held(void)
{
    char path[96];
    snprintf(path, sizeof path, "%s/held", folder);
    int fd = open(path, O_RDWR | O_CREAT, 0666);
    assert_true(fd >= 0 && fchmod(fd, 0666) == 0);
    return fd;
}

/* Waits until all have ended. */
static bool all_have_ended(int held)
{
    for (int i = 0; i < 6000; i++, usleep(10000))
        if (flock(held, LOCK_EX | LOCK_NB) == 0) return flock(held, LOCK_UN) == 0;
    return false;
}

static void nothing_outlives_the_program(void **state)
{
    (void)state;
    int held = open_held();
    child_result r = run("orphan");
    assert_int_equal(r.end, CHILD_EXITED);
    assert_int_equal(r.code, 4);
    assert_int_equal(flock(held, LOCK_EX | LOCK_NB), 0);
    close(held);
    free(r.output);
}

static bool write_to(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    ssize_t n = write(fd, text, strlen(text));
    close(fd);
    return n == (ssize_t)strlen(text);
}

/* It cannot, or that is noticed. */
static void assert_supervised(const char *how)
{
    child_result r = run(how);
    if (r.end == CHILD_ENDED_SUPERVISOR) assert_words(&r, "its supervisor");
    else assert_true(r.end == CHILD_EXITED && r.code == 5);
    free(r.output);
}

static void killing_the_parent_harms_no_other_process(void **state)
{
    (void)state;
    assert_supervised("kill-parent");
    assert_supervised("stop-parent");
}

/* A child of this process: the program, or another; 0: none. */
static pid_t child_of(pid_t parent, bool is_program)
{
    pid_t found = 0;
    DIR *all = opendir("/proc");
    for (const struct dirent *e; !found && (e = readdir(all));) {
        char path[300], name[64];
        int of = 0;
        snprintf(path, sizeof path, "/proc/%s/stat", e->d_name);
        char *stat = atoi(e->d_name) > 0 ? file_read(path, NULL) : NULL;
        bool is_child = stat && sscanf(stat, "%*d (%63[^)]) %*c %d", name, &of) == 2 && of == parent;
        if (is_child && !strcmp(name, "p") == is_program) found = atoi(e->d_name);
        free(stat);
    }
    closedir(all);
    return found;
}

/* What a program that killed its supervisor has left, where nothing keeps it from that. */
static void end_orphans(void)
{
    for (pid_t one; (one = child_of(getpid(), true)) > 0; waitpid(one, NULL, 0)) kill(one, SIGKILL);
}

/* In a user namespace in which no other namespace can be made. 77: there is none here. */
static int kill_parent_unisolated(void)
{
    if (unshare(CLONE_NEWUSER) != 0) return 77;
    static const char *const limits[] = {"/proc/sys/user/max_user_namespaces", "/proc/sys/user/max_pid_namespaces"};
    for (int i = 0; i < 2; i++)
        if (!write_to(limits[i], "0")) return 77;
    if (unshare(CLONE_NEWPID) == 0) return 1;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    child_result r = run("kill-parent");
    end_orphans();                                       /* they hold the lock that the next program waits for */
    bool is_kept = r.end == CHILD_EXITED && r.code == 5; /* by Landlock */
    free(r.output);
    if (!is_kept && r.end != CHILD_ENDED_SUPERVISOR) return 2;
    r = run("orphan");
    free(r.output);
    return r.end == CHILD_EXITED && r.code == 4 ? 0 : 3;
}

static void without_namespaces_killing_the_parent_is_noticed(void **state)
{
    (void)state;
    int held = open_held(), status = -1;
    pid_t pid = fork();
    if (pid == 0) _exit(kill_parent_unisolated());
    assert_int_equal(waitpid(pid, &status, 0), pid);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77) skip();
    assert_int_equal(status, 0);
    close(held);
}

enum { USER = 61000 };

static bool become_user(void) { return setresgid(USER, USER, USER) == 0 && setresuid(USER, USER, USER) == 0; }

typedef enum victim { PROGRAM, KEEPER, SUPERVISOR, CALLER } victim;

typedef struct family {
    pid_t pids[4]; /* by victim */
    char said[64]; /* by the program, in the file "ready" */
} family;

/* Of a program that stays, and has said so. */
static family start_family(bool as_user)
{
    char ready[96];
    snprintf(ready, sizeof ready, "%s/ready", folder);
    unlink(ready);
    pid_t caller = fork();
    if (caller == 0) {
        if (as_user && !become_user()) _exit(1);
        prctl(PR_SET_PDEATHSIG, SIGKILL); /* with this test */
        const char *argv[] = {program, "stay", NULL};
        child_options o = {.argv = argv, .folder = folder, .log_fd = open("/dev/null", O_RDWR), .stop_fd = -1};
        child_result r;
        char err[256];
        o.limits.seconds = 600;
        _exit(!child_run(&o, &r, err, sizeof err));
    }
    family f = {.pids = {[CALLER] = caller}};
    for (char *said = NULL; !strchr(f.said, '\n') && waitpid(caller, NULL, WNOHANG) == 0; free(said), usleep(10000))
        if ((said = file_read(ready, NULL))) snprintf(f.said, sizeof f.said, "%s", said);
    f.pids[SUPERVISOR] = child_of(caller, false);
    f.pids[PROGRAM] = child_of(f.pids[SUPERVISOR], true);
    f.pids[KEEPER] = child_of(f.pids[SUPERVISOR], false);
    bool is_whole = true;
    for (int i = 0; i < 4; i++) is_whole &= f.pids[i] > 1;
    if (!is_whole) kill(caller, SIGKILL), waitpid(caller, NULL, 0);
    assert_true(is_whole);
    return f;
}

static void kill_one(victim who, bool as_user)
{
    int held = open_held();
    family f = start_family(as_user);
    assert_int_equal(flock(held, LOCK_EX | LOCK_NB), -1);
    assert_int_equal(kill(f.pids[who], SIGKILL), 0);
    bool have_ended = all_have_ended(held);
    kill(f.pids[CALLER], SIGKILL);
    assert_int_equal(waitpid(f.pids[CALLER], NULL, 0), f.pids[CALLER]);
    assert_true(have_ended);
    close(held);
}

/* Can the program have a namespace of processes? */
static bool can_isolate(bool as_user)
{
    int status = -1;
    pid_t pid = fork();
    if (pid == 0) {
        if (as_user && !become_user()) _exit(1);
        _exit(unshare(geteuid() ? CLONE_NEWUSER | CLONE_NEWPID : CLONE_NEWPID) != 0);
    }
    return waitpid(pid, &status, 0) == pid && status == 0;
}

static void whichever_process_is_killed_all_end(void **state)
{
    (void)state;
    if (!can_isolate(false)) skip();
    for (int who = PROGRAM; who <= CALLER; who++) kill_one((victim)who, false);
}

/* Not those of its namespaces. */
static void its_number_and_user_are_those_that_others_see(void **state)
{
    (void)state;
    unsigned user = geteuid() ? geteuid() : USER, said_user = 0;
    int said = 0;
    if (!can_isolate(geteuid() == 0)) skip();
    assert_int_equal(chmod(folder, 0777), 0);
    family f = start_family(geteuid() == 0);
    kill(f.pids[CALLER], SIGKILL);
    assert_int_equal(waitpid(f.pids[CALLER], NULL, 0), f.pids[CALLER]);
    assert_int_equal(sscanf(f.said, "%d %u", &said, &said_user), 2);
    assert_int_equal(said, f.pids[PROGRAM]);
    assert_int_equal(said_user, user);
}

static void whichever_is_killed_all_of_an_ordinary_user_end(void **state)
{
    (void)state;
    if (geteuid() != 0 || !can_isolate(true)) skip();
    assert_int_equal(chmod(folder, 0777), 0);
    for (int who = PROGRAM; who <= CALLER; who++) kill_one((victim)who, true);
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
        cmocka_unit_test(shared_memory_counts_once),
        cmocka_unit_test(what_is_written_to_disk_counts),
        cmocka_unit_test(a_fork_bomb_is_stopped),
        cmocka_unit_test(a_fork_bomb_that_leaves_its_session_is_stopped),
        cmocka_unit_test(nothing_outlives_the_program),
        cmocka_unit_test(killing_the_parent_harms_no_other_process),
        cmocka_unit_test(without_namespaces_killing_the_parent_is_noticed),
        cmocka_unit_test(whichever_process_is_killed_all_end),
        cmocka_unit_test(whichever_is_killed_all_of_an_ordinary_user_end),
        cmocka_unit_test(its_number_and_user_are_those_that_others_see),
        cmocka_unit_test(closing_every_descriptor_is_no_crime),
        cmocka_unit_test(input_is_empty_and_settings_are_clean),
        cmocka_unit_test(no_descriptor_of_the_caller_is_inherited),
        cmocka_unit_test(a_stop_ends_the_program),
        cmocka_unit_test(a_missing_program_is_said),
        cmocka_unit_test(no_program_with_a_log_can_write_to_its_caller),
        cmocka_unit_test(a_program_may_not_write_to_any_process),
    };
    return cmocka_run_group_tests(tests, build_program, remove_program);
}
