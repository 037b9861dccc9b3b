/* fy_view(): a run with its own server, for running and crashed programs and for files. Each test forks a program; the
 * viewer's output is read from a pipe. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "logs.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "http_client.h"
#include "view.h"

typedef struct program {
    pid_t pid, viewer;
    int stderr_fd, go_fd; /* stderr of the program and its viewer; a pipe that lets it continue */
    int port;
    char token[33], output[8192];
} program;

#define CLOSED_MS 700 /* how long a page may be closed in these tests */

/* The body of the program's main, between the viewer's start and end. */
typedef void body(int go_on);

static void wait_for_word(int go_on)
{
    char c;
    while (read(go_on, &c, 1) < 0 && errno == EINTR) continue;
}

static int opening_ms; /* how long the program's devices take to open */

static void note(int64_t n) { FY_EMIT(NULL, mark, .text = fy_ref_str("n"), .now = n); }

static _Noreturn void run_program(body *b, int err, int go_on, int pid_out)
{
    char why[256];
    dup2(err, STDERR_FILENO);
    int fd = fy_log_file(NULL, 10000, why, sizeof why);
    if (fd < 0 || !fy_log_adopt(fd, why, sizeof why)) _exit(99);
    pid_t viewer = fy_viewer(fd, "the-program");
    usleep((useconds_t)opening_ms * 1000);
    fy_viewer_why("no driver");
    if (write(pid_out, &viewer, sizeof viewer) != sizeof viewer) _exit(98);
    close(fd);
    b(go_on);
    FY_EMIT(NULL, end, .status = 7);
    fy_log_end();
    assert_int_equal(waitpid(-1, NULL, 0), -1); /* it is not a child of the program */
    for (uint64_t born = fy_process_started(viewer); born && fy_process_started(viewer) == born;) usleep(20000);
    _exit(7);
}

/* Reads the output until it contains `what`; false at its end. */
static bool read_until(program *p, const char *what)
{
    size_t n = strlen(p->output);
    while (!strstr(p->output, what) && n < sizeof p->output - 1) {
        struct pollfd ready = {.fd = p->stderr_fd, .events = POLLIN};
        if (poll(&ready, 1, TIMEOUT_S * 1000) <= 0) return false;
        ssize_t got = read(p->stderr_fd, p->output + n, sizeof p->output - 1 - n);
        if (got <= 0) break;
        p->output[n += (size_t)got] = 0;
    }
    return strstr(p->output, what);
}

static void read_address(program *p)
{
    if (!read_until(p, "#token=")) fail_msg("no URL: %s", p->output);
    while (!strchr(strstr(p->output, "#token="), '\n')) read_until(p, "\nnever said");
    assert_int_equal(
        sscanf(strstr(p->output, "http://127.0.0.1:"), "http://127.0.0.1:%d/#token=%32s", &p->port, p->token), 2);
}

/* Killed after a failed test; the viewer would run for another ten minutes. */
static pid_t running, serving;

static int clean_up(void **state)
{
    (void)state;
    if (serving > 0) kill(serving, SIGTERM);
    if (running > 0) kill(running, SIGKILL);
    if (running > 0) waitpid(running, NULL, 0);
    running = serving = 0;
    return 0;
}

static program start(body *b)
{
    program p = {0};
    int err[2], go_on[2], pids[2];
    assert_int_equal(pipe2(err, O_CLOEXEC) | pipe2(go_on, O_CLOEXEC) | pipe2(pids, O_CLOEXEC), 0);
    p.pid = fork();
    if (!p.pid) run_program(b, err[1], go_on[0], pids[1]);
    close(err[1]);
    close(go_on[0]);
    close(pids[1]);
    p.stderr_fd = err[0];
    p.go_fd = go_on[1];
    assert_int_equal(read(pids[0], &p.viewer, sizeof p.viewer), sizeof p.viewer);
    close(pids[0]);
    running = p.pid;
    serving = p.viewer;
    assert_true(p.viewer > 0);
    read_address(&p);
    return p;
}

static int join(const program *p)
{
    char host[32], origin[48];
    int status = 0;
    snprintf(host, sizeof host, "127.0.0.1:%d", p->port);
    snprintf(origin, sizeof origin, "http://%s", host);
    int fd = ws_dial(p->port, "/ws", host, origin, p->token, &status);
    assert_int_equal(status, 101);
    return fd;
}

/* Waits for the program; returns waitpid's status. */
static int status_of_program(program *p)
{
    int status = 0;
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    running = 0;
    return status;
}

static void finish(program *p)
{
    serving = 0;
    close(p->go_fd);
    close(p->stderr_fd);
}

/* The viewer of a dead program is not our child: its exit closes its stderr. */
static bool viewer_ends(program *p)
{
    read_until(p, "\nnever said");
    struct pollfd ready = {.fd = p->stderr_fd, .events = POLLIN};
    char c;
    return poll(&ready, 1, 0) == 1 && !read(p->stderr_fd, &c, 1);
}

/* Reads events until `ended`; returns their number. */
static int read_all_events(int fd)
{
    int opcode, run = 0, events = 0;
    size_t size;
    unsigned long long from, count;
    for (char *text; (text = ws_read(fd, &opcode, &size)) && opcode == 1; free(text)) {
        if (sscanf(text, "{\"type\":\"events\",\"run\":%d,\"from\":%llu,\"count\":%llu}", &run, &from, &count) == 3)
            events = (int)(from + count);
        if (strncmp(text, "{\"type\":\"ended\"", 15)) continue;
        free(text);
        break;
    }
    return events;
}

/* ---- programs ---- */

static void emit_wait_emit(int go_on)
{
    note(1);
    wait_for_word(go_on);
    note(2);
}

static void a_program_is_shown_live_and_waits_for_the_page(void **state)
{
    (void)state;
    program p = start(emit_wait_emit);
    int fd = join(&p);
    char *hello = ws_read_until(fd, "{\"type\":\"hello\"");
    bool told = hello && strstr(hello, "\"mode\":\"view\",\"why\":\"no driver\"");
    free(hello); /* first: later tests' children would inherit it, and valgrind call it a leak of theirs */
    assert_true(told);
    char *first = ws_read_until(fd, "{\"type\":\"events\"");
    assert_non_null(first); /* while the program waits for the test */
    assert_non_null(strstr(first, "\"now\":1"));
    assert_null(strstr(first, "\"now\":2"));
    free(first);
    assert_int_equal(write(p.go_fd, "x", 1), 1);
    assert_true(read_all_events(fd) >= 3);
    close(fd); /* and is not opened again: the viewer exits, then the program */
    int status = status_of_program(&p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7); /* the program's own */
    finish(&p);
}

static void return_at_once(int go_on) { (void)go_on, note(1); }

static void devices_that_open_slowly_say_why_all_the_same(void **state)
{
    (void)state;
    opening_ms = 6000;
    program p = start(return_at_once);
    opening_ms = 0;
    int fd = join(&p);
    char *hello = ws_read_until(fd, "{\"type\":\"hello\"");
    bool told = hello && strstr(hello, "\"why\":\"no driver\"");
    free(hello);
    assert_true(told);
    kill(p.viewer, SIGTERM);
    close(fd);
    assert_int_equal(WEXITSTATUS(status_of_program(&p)), 7);
    finish(&p);
}

/* A page that has received the whole run ends nothing: it may be reloaded, or lose its connection, at any time. */
static void a_finished_run_can_be_reloaded_at_any_time(void **state)
{
    (void)state;
    program p = start(return_at_once);
    int events = 0;
    for (int i = 0; i < 4; i++) {
        int fd = join(&p);
        int n = read_all_events(fd);
        assert_true(n >= 2);
        assert_true(!events || n == events); /* the whole run, each time */
        events = n;
        usleep(CLOSED_MS * 1000 + 200000); /* longer than it may be closed */
        assert_int_equal(waitpid(p.pid, NULL, WNOHANG), 0);
        close(fd);
        usleep(CLOSED_MS * 300);
    }
    if (!read_until(&p, "has been closed for")) fail_msg("the viewer said: %s", p.output);
    assert_int_equal(WEXITSTATUS(status_of_program(&p)), 7);
    assert_true(viewer_ends(&p));
    finish(&p);
}

static void sigterm_ends_the_viewer_under_an_open_page(void **state)
{
    (void)state;
    program p = start(return_at_once);
    int fd = join(&p);
    assert_true(read_all_events(fd) >= 2);
    kill(p.viewer, SIGTERM);
    assert_int_equal(ws_read_close(fd), 1001);
    assert_int_equal(WEXITSTATUS(status_of_program(&p)), 7);
    assert_true(viewer_ends(&p));
    close(fd);
    finish(&p);
}

static void crash(int go_on)
{
    note(1);
    note(2);
    wait_for_word(go_on);
    signal(SIGSEGV, SIG_DFL); /* neither the library's explanation nor a sanitizer's */
    raise(SIGSEGV);
}

static void a_crash_does_not_take_the_page_with_it(void **state)
{
    (void)state;
    program p = start(crash);
    assert_int_equal(write(p.go_fd, "x", 1), 1);
    int status = status_of_program(&p);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGSEGV);
    if (!read_until(&p, "the-program died")) fail_msg("the viewer said: %s", p.output);
    char *again = strstr(strstr(p.output, "died"), "http://127.0.0.1:"); /* the page's address */
    assert_non_null(again);
    int fd = join(&p);
    assert_true(read_all_events(fd) >= 2);
    close(fd);
    assert_true(viewer_ends(&p));
    finish(&p);
}

static void sleep_for_ever(int go_on)
{
    (void)go_on;
    note(1);
    for (;;) pause();
}

static void a_killed_program_stays_visible(void **state)
{
    (void)state;
    program p = start(sleep_for_ever);
    int fd = join(&p);
    free(ws_read_until(fd, "{\"type\":\"events\""));
    kill(p.pid, SIGKILL);
    assert_true(WIFSIGNALED(status_of_program(&p)));
    if (!read_until(&p, "the-program died")) fail_msg("the viewer said: %s", p.output);
    char *end = ws_read_until(fd, "{\"type\":\"ended\"");
    assert_non_null(end);
    free(end);
    kill(p.viewer, SIGTERM);
    assert_int_equal(ws_read_close(fd), 1001);
    assert_true(viewer_ends(&p));
    close(fd);
    finish(&p);
}

static void ctrl_c_ends_program_and_viewer(void **state)
{
    (void)state;
    program p = start(return_at_once);
    assert_true(read_until(&p, "the-program has ended"));
    kill(p.viewer, SIGINT); /* Ctrl-C reaches both; the program waits for its viewer */
    int status = status_of_program(&p);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 7);
    assert_true(viewer_ends(&p));
    finish(&p);
}

static int pipe_of_program; /* one of the program's descriptors */

static void hold_a_pipe(int go_on)
{
    close(pipe_of_program);
    note(1);
    wait_for_word(go_on);
}

static void the_viewer_holds_no_descriptor_of_the_program(void **state)
{
    (void)state;
    int fds[2];
    char c;
    assert_int_equal(pipe(fds), 0);
    pipe_of_program = fds[1];
    program p = start(hold_a_pipe);
    close(fds[1]);
    struct pollfd ready = {.fd = fds[0], .events = POLLIN};
    assert_int_equal(poll(&ready, 1, TIMEOUT_S * 1000), 1); /* it ends while the viewer is still running */
    assert_int_equal(read(fds[0], &c, 1), 0);
    close(fds[0]);
    kill(p.viewer, SIGTERM);
    assert_int_equal(write(p.go_fd, "x", 1), 1);
    status_of_program(&p);
    finish(&p);
}

/* ---- files ---- */

static program view_in_child(const char *path)
{
    int ends[2];
    assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
    program p = {.stderr_fd = ends[0], .go_fd = -1, .pid = fork()};
    if (!p.pid) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        _exit(view_files(path, NULL, 18790, NULL));
    }
    close(ends[1]);
    running = p.pid;
    return p;
}

/* All events, the end, then until SIGTERM. */
static void assert_served(const char *path, int events)
{
    program p = view_in_child(path);
    read_address(&p);
    int fd = join(&p);
    assert_int_equal(read_all_events(fd), events);
    usleep(100000);
    kill(p.pid, SIGTERM);
    assert_int_equal(ws_read_close(fd), 1001);
    assert_int_equal(status_of_program(&p), 0);
    close(fd);
    close(p.stderr_fd);
}

static void a_saved_run_is_served_until_sigterm(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-view-XXXXXX";
    static const char lines[] = "{\"seq\":0,\"t\":0,\"kind\":\"session\",\"th\":0,\"schema\":2,\"ferry\":\"0.1.0\","
                                "\"program\":\"p\",\"args\":[],"
                                "\"clock\":\"model\",\"seed\":0,\"devices\":[]}\n{\"seq\":1,\"t\":0,\"kind\":\"mark\","
                                "\"th\":0,\"text\":\"saved\"}\n";
    int file = mkstemp(path);
    assert_int_equal(write(file, lines, sizeof lines - 1), sizeof lines - 1);
    close(file);
    assert_served(path, 2);
    unlink(path);
}

static _Noreturn void log_and_die(const char *path)
{
    char why[256];
    int fd = fy_log_file(path, 0, why, sizeof why);
    if (fd < 0 || !fy_log_adopt(fd, why, sizeof why)) _exit(99);
    for (int i = 0; i < 3; i++) note(i);
    raise(SIGKILL);
    _exit(98);
}

/* FERRY_TRACE then leaves a file that is not JSON. */
static void a_killed_programs_log_is_served_to_its_end(void **state)
{
    (void)state;
    char path[] = "/tmp/ferry-view-XXXXXX";
    int status;
    close(mkstemp(path));
    pid_t victim = fork();
    if (!victim) log_and_die(path);
    assert_int_equal(waitpid(victim, &status, 0), victim);
    assert_true(WIFSIGNALED(status));
    assert_served(path, 3);
    unlink(path);
}

static void a_bad_file_ends_with_status_one_and_a_reason(void **state)
{
    (void)state;
    program p = view_in_child("/nonexistent.jsonl");
    assert_true(read_until(&p, "ferry: cannot open /nonexistent.jsonl"));
    assert_int_equal(WEXITSTATUS(status_of_program(&p)), 1);
    close(p.stderr_fd);
}

int main(void)
{
    view_closed_page_ms(CLOSED_MS);
    /* Independent of the machine's environment. */
    static const char *const names[] = {"SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) unsetenv(names[i]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(a_program_is_shown_live_and_waits_for_the_page, clean_up),
        cmocka_unit_test_teardown(devices_that_open_slowly_say_why_all_the_same, clean_up),
        cmocka_unit_test_teardown(a_finished_run_can_be_reloaded_at_any_time, clean_up),
        cmocka_unit_test_teardown(sigterm_ends_the_viewer_under_an_open_page, clean_up),
        cmocka_unit_test_teardown(a_crash_does_not_take_the_page_with_it, clean_up),
        cmocka_unit_test_teardown(a_killed_program_stays_visible, clean_up),
        cmocka_unit_test_teardown(ctrl_c_ends_program_and_viewer, clean_up),
        cmocka_unit_test_teardown(the_viewer_holds_no_descriptor_of_the_program, clean_up),
        cmocka_unit_test_teardown(a_saved_run_is_served_until_sigterm, clean_up),
        cmocka_unit_test_teardown(a_killed_programs_log_is_served_to_its_end, clean_up),
        cmocka_unit_test_teardown(a_bad_file_ends_with_status_one_and_a_reason, clean_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
