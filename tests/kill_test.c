/* kill_test.c: a program is killed 200 times at random moments while two of its threads emit and a viewer shows it.
 * Events for which fy_emit had returned are in the log, complete and in order; at most one slot per thread is lost; the
 * page receives all of them; and the viewer, a separate process, survives. Each thread keeps the last returned seq in
 * shared memory. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "logs.h"
#include "text.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>

#include "page_client.h"
#include "server.h"

enum { KILLS = 200, THREADS = 2 };

/* Shared with the child. */
static struct page {
    _Atomic uint64_t returned[THREADS]; /* last seq plus 1 */
    _Atomic int running;
} * page;

/* ---- the program ---- */

static void *emit_forever(void *number)
{
    char text[300];
    atomic_fetch_add(&page->running, 1);
    for (int64_t i = 0;; i++) {
        int n = snprintf(text, sizeof text, "%0*lld", (int)(i % 250), (long long)i);
        fy_ref ref = fy_ref_bytes(text, (size_t)n);
        uint64_t seq = FY_EMIT(FY_AT("fy_mark", "text"), mark, .text = ref, .now = i);
        if (!seq) return NULL; /* the log is full */
        atomic_store(&page->returned[(intptr_t)number], seq + 1);
    }
}

static void emit_until_killed(int fd)
{
    char err[256];
    pthread_t other;
    if (!fy_log_adopt(fd, err, sizeof err)) _exit(1);
    FY_EMIT(NULL, mark, .now = FY_ABSENT); /* seq 0, so that later ones differ from "nothing" */
    if (pthread_create(&other, NULL, emit_forever, (void *)1)) _exit(1);
    emit_forever(NULL);
    for (;;) pause();
}

/* Lets it run: mostly some hundred microseconds, sometimes until the helper thread is needed. */
static void wait_random_time(unsigned round)
{
    struct timespec poll_interval = {0, 200000},
                    run_time = {0, (long)((round * 7919u) % 997u) * (round % 10 ? 1000 : 20000)};
    for (int i = 0; i < 50000 && atomic_load(&page->running) < THREADS; i++) nanosleep(&poll_interval, NULL);
    nanosleep(&run_time, NULL);
}

/* ---- the viewer ---- */

static struct viewer {
    pid_t pid;
    int line; /* sends a log to show, or the number of an ended run; the run's number is returned */
    server_address address;
    int page; /* a page that is open all the time */
} viewer;

/* Sends a number, and a descriptor unless it is -1. */
static bool pass(int line, int number, int fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof fd)];
    } c = {0};
    struct iovec data = {&number, sizeof number};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1};
    if (fd >= 0) {
        m.msg_control = &c;
        m.msg_controllen = sizeof c.room;
        c.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(&c.head), &fd, sizeof fd);
    }
    return sendmsg(line, &m, MSG_NOSIGNAL) == sizeof number;
}

static bool receive(int line, int *number, int *fd)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof *fd)];
    } c = {0};
    struct iovec data = {number, sizeof *number};
    struct msghdr m = {.msg_iov = &data, .msg_iovlen = 1, .msg_control = &c, .msg_controllen = sizeof c.room};
    if (recvmsg(line, &m, MSG_CMSG_CLOEXEC) != sizeof *number) return false;
    *fd = -1;
    if (m.msg_controllen >= CMSG_LEN(sizeof *fd)) memcpy(fd, CMSG_DATA(&c.head), sizeof *fd);
    return true;
}

/* Exits normally when the test closes the connection. */
static _Noreturn void show_logs(int line)
{
    char err[256];
    int number, fd;
    const server_options o = {.port = 18800, .mode = "view"};
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    server *s = server_start(&o, err, sizeof err);
    if (!s || send(line, server_url(s), strlen(server_url(s)) + 1, 0) < 0) _exit(1);
    while (receive(line, &number, &fd)) {
        if (fd < 0) {
            server_run_ended(s, number);
            continue;
        }
        feed *f = feed_of_log(fd, err, sizeof err);
        if (!f || !pass(line, server_add_run(s, f, NULL, "view", "a victim"), -1)) _exit(2);
    }
    server_stop(s);
    _exit(0);
}

static void start_viewer(void)
{
    int ends[2];
    char url[128] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
    fflush(NULL);
    viewer.pid = fork();
    assert_true(viewer.pid >= 0);
    if (!viewer.pid) {
        close(ends[0]);
        show_logs(ends[1]);
    }
    close(ends[1]);
    viewer.line = ends[0];
    assert_true(recv(viewer.line, url, sizeof url - 1, 0) > 0);
    viewer.address = parse_server_address(url);
    viewer.page = join_server(&viewer.address);
}

/* Shows the log; returns the viewer's run number. */
static int show(int log_fd)
{
    int run, none;
    assert_true(pass(viewer.line, 0, log_fd));
    assert_true(receive(viewer.line, &run, &none));
    assert_true(run > 0);
    return run;
}

static void assert_viewer_runs(void) { assert_int_equal(waitpid(viewer.pid, NULL, WNOHANG), 0); }

static void assert_viewer_exits(void)
{
    int status;
    assert_viewer_runs();
    close(viewer.page);
    close(viewer.line);
    assert_int_equal(waitpid(viewer.pid, &status, 0), viewer.pid);
    assert_int_equal(status, 0);
}

/* ---- checks after a kill ---- */

/* Every slot is published, except at most one per thread that was being filled. */
static void check_slots(const fy_log *log)
{
    uint64_t count = fy_log_count(log);
    int lost = 0;
    uint16_t kind;
    for (uint64_t seq = 0; seq < count; seq++)
        if (!fy_log_slot(log, seq, &kind)) lost++;
    assert_in_range(lost, 0, THREADS);
    for (int i = 0; i < THREADS; i++) {
        uint64_t returned = atomic_load(&page->returned[i]);
        assert_true(returned <= count);
        assert_true(!returned || fy_log_slot(log, returned - 1, &kind));
    }
}

static void check_lines(fy_log *log)
{
    fy_text text = {0};
    uint64_t cursor = 0, count = fy_log_count(log);
    while (fy_log_read(log, &cursor, &text, text.size + 65536)) continue;
    assert_int_equal(assert_lines_are_whole(&text), count);
    assert_in_range(count_of(text.data ? text.data : "", "\"kind\":\"lost\""), 0, THREADS);
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
}

/* The page has followed since before the first event; it gets each event once, in order. */
static void check_page(const fy_log *log, int run)
{
    run_follower f = {.fd = viewer.page, .run = run};
    assert_true(pass(viewer.line, run, -1)); /* tells the viewer that the run has ended */
    follow_to_end(&f);
    assert_int_equal(f.next, fy_log_count(log));
    for (int i = 0; i < THREADS; i++) assert_true(f.next >= atomic_load(&page->returned[i]));
    free(http_get(&viewer.address, "/"));
    assert_viewer_runs();
}

static void kill_once(unsigned round)
{
    char err[256];
    memset(page, 0, sizeof *page);
    int fd = fy_log_file(NULL, round % 10 == 3 ? 500 : 0, err, sizeof err); /* some reach their limit */
    if (fd < 0) fail_msg("%s", err);
    int run = show(fd);
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (!child) emit_until_killed(fd);
    wait_random_time(round);
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, NULL, 0), child);
    fy_log *log = log_to_read(fd);
    check_slots(log);
    if (round % 20 == 3 || round % 20 == 7) check_lines(log);
    check_page(log, run);
    fy_log_close(log);
    close(fd);
}

static void after_200_kills_the_log_holds_everything_emitted_without_holes(void **state)
{
    (void)state;
    start_viewer();
    for (unsigned round = 0; round < KILLS; round++) kill_once(round);
    assert_viewer_exits();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(after_200_kills_the_log_holds_everything_emitted_without_holes),
    };
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return cmocka_run_group_tests_name("kill", tests, NULL, NULL);
}
