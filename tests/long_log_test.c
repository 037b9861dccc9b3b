/* long_log_test.c: logs that left their rings: all that was emitted is in the file, whatever happens meanwhile: kills,
 * full disks, threads that are late, signals, forks, large entries. Each event names its thread and its number, and
 * every third has a text that must fit them. */
#define _GNU_SOURCE
#include "event.h"
#include "event_reader.h"
#include "log.h"
#include "log_format.h"
#include "session_hooks.h"
#include "text.h"
#include "traced.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>

#define PER_THREAD (1ll << 40)
enum { THREADS = 3, RING = 65536 /* slots */, MIB = 1 << 20 };

/* ---- writing ---- */

static _Atomic uint64_t *returned; /* by thread: events whose emission has returned; shared with children */

static size_t text_of(int64_t now, char *text)
{
    return (size_t)sprintf(text, "%0*lld", (int)(now % 190) + 2, (long long)now);
}

/* False: it was not recorded. */
static bool emit(int thread, int64_t i)
{
    char text[256];
    int64_t now = thread * PER_THREAD + i;
    fy_ref ref = i % 3 ? 0 : fy_ref_bytes(text, text_of(now, text));
    if (!(i % 3) && !ref) return false;
    if (!FY_EMIT(NULL, mark, .text = ref, .now = now)) return false;
    atomic_store(&returned[thread], (uint64_t)i + 1);
    return true;
}

static void emit_from_to(int thread, int64_t from, int64_t to)
{
    while (from < to && emit(thread, from)) from++;
}

static int open_log(uint64_t bytes)
{
    char err[256] = "";
    int fd = bytes ? fy_log_file_within(bytes, err, sizeof err) : fy_log_file(NULL, 0, err, sizeof err);
    if (fd < 0 || !fy_log_adopt(fd, err, sizeof err)) fail_msg("%s", err);
    for (int i = 0; i < THREADS; i++) atomic_store(&returned[i], 0);
    FY_EMIT(NULL, mark, .now = -1); /* seq 0, which fy_emit returns for "not recorded" as well */
    return fd;
}

static _Atomic int64_t each;

static void *emit_each(void *thread)
{
    emit_from_to((int)(intptr_t)thread, 0, atomic_load(&each));
    return NULL;
}

static void emit_in_threads(int threads, int64_t count)
{
    pthread_t all[THREADS];
    atomic_store(&each, count);
    for (intptr_t i = 0; i < threads; i++) assert_int_equal(pthread_create(&all[i], NULL, emit_each, (void *)i), 0);
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
}

/* ---- reading ---- */

/* What a reader has seen; each thread's events come in order, and none is missing but those that are lost. */
typedef struct seen {
    uint64_t events, lost, full, other, next[THREADS];
    bool wrong;
} seen;

static void see(seen *s, const fy_event *e)
{
    char text[256];
    int64_t now = e->is.mark.now, i = now % PER_THREAD;
    s->events++;
    if (e->kind == FY_KIND_lost || e->kind == FY_KIND_log_full || e->kind != FY_KIND_mark || now < 0) {
        s->lost += e->kind == FY_KIND_lost;
        s->full += e->kind == FY_KIND_log_full;
        s->other += e->kind != FY_KIND_lost && e->kind != FY_KIND_log_full;
        return;
    }
    fy_bytes bytes = fy_event_bytes(e, e->is.mark.text);
    size_t size = i % 3 ? 0 : text_of(now, text);
    s->wrong |= bytes.size != size || memcmp(bytes.data, text, size) != 0;
    s->wrong |= now / PER_THREAD >= THREADS || (uint64_t)i < s->next[now / PER_THREAD];
    if (!s->wrong) s->next[now / PER_THREAD] = (uint64_t)i + 1;
}

static seen see_all(fy_log *log)
{
    seen s = {0};
    fy_event e;
    for (uint64_t cursor = 0; fy_event_next(log, &cursor, &e);) {
        see(&s, &e);
        if (e.seq + 1 != cursor) s.wrong = true;
    }
    return s;
}

/* All that returned is there, and nothing else is missing. */
static void assert_all_there(fy_log *log, uint64_t others, int most_lost)
{
    seen s = see_all(log);
    uint64_t marks = 0;
    assert_false(s.wrong);
    for (int i = 0; i < THREADS; i++) {
        if (s.next[i] < atomic_load(&returned[i])) fail_msg("thread %d lost its last events", i);
        marks += s.next[i];
    }
    assert_in_range(s.lost, 0, most_lost);
    assert_int_equal(s.events, marks + others + s.lost);
}

static void assert_log_has_all(int fd, uint64_t others)
{
    fy_log *log = log_to_read(fd);
    assert_all_there(log, others, 0);
    fy_log_close(log);
}

/* ---- length ---- */

static long resident_kib(void)
{
    char *text = slurp("/proc/self/status"), *line = strstr(text, "VmHWM:");
    long kib = line ? strtol(line + 6, NULL, 10) : 0;
    free(text);
    return kib;
}

static void write_long_log(void)
{
    enum { EVENTS = 4300000 };
    fy_log_adopt(STDIN_FILENO, (char[256]){0}, 256);
    const long before = resident_kib();
    (void)before;
    FY_EMIT(NULL, mark, .now = -1);
    emit_from_to(0, 0, EVENTS);
    if (atomic_load(&returned[0]) != EVENTS) exit(1);
#ifndef __SANITIZE_THREAD__ /* which takes memory for what it watches */
    if (resident_kib() - before > 64 << 10) exit(2);
#endif
}

static void more_than_four_million_events_are_read_in_little_memory(void **state)
{
    (void)state;
    char err[256];
    int fd = fy_log_file(NULL, 0, err, sizeof err), in = dup(0);
    assert_true(fd >= 0);
    fy_log_write_to(NULL);
    dup2(fd, 0);
    assert_exits(write_long_log, 3);
    dup2(in, 0);
    close(in);
    fy_log *log = log_to_read(fd);
    fy_log_writer_died(log);
    assert_int_equal(fy_log_count(log), 4300001);
    assert_all_there(log, 1, 0);
    fy_log_close(log);
    close(fd);
}

static void threads_share_a_long_log(void **state)
{
    (void)state;
    int fd = open_log(0);
    emit_in_threads(THREADS, 200000);
    assert_log_has_all(fd, 1);
    close(fd);
}

/* Follows a log in another process until its last event. */
static _Noreturn void follow(int fd, uint64_t events)
{
    char err[256];
    fy_event e;
    seen s = {0};
    fy_log *log = fy_log_open(fd, err, sizeof err);
    for (uint64_t cursor = 0; log && cursor < events;)
        if (fy_event_next(log, &cursor, &e)) see(&s, &e);
        else usleep(100);
    _exit(!log || s.wrong || s.lost || s.next[0] + s.next[1] + s.next[2] + s.other != events);
}

static void a_reader_that_follows_sees_every_event(void **state)
{
    (void)state;
    enum { EACH = 150000 };
    int status, fd = open_log(0);
    fflush(NULL);
    pid_t reader = fork();
    if (!reader) follow(fd, 1 + THREADS * EACH);
    emit_in_threads(THREADS, EACH);
    assert_int_equal(waitpid(reader, &status, 0), reader);
    assert_int_equal(status, 0);
    close(fd);
}

/* ---- kills ---- */

static _Noreturn void emit_until_killed(int fd)
{
    char err[256];
    if (!fy_log_adopt(fd, err, sizeof err)) _exit(1);
    FY_EMIT(NULL, mark, .now = -1);
    emit_in_threads(THREADS, PER_THREAD);
    for (;;) pause();
}

static void kill_once(unsigned round)
{
    char err[256];
    int fd = fy_log_file(NULL, 0, err, sizeof err);
    for (int i = 0; i < THREADS; i++) atomic_store(&returned[i], 0);
    assert_true(fd >= 0);
    fflush(NULL);
    pid_t child = fork();
    if (!child) emit_until_killed(fd);
    while (!atomic_load(&returned[0])) usleep(100);
    usleep(round * 7919u % 40000u);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fy_log *log = log_to_read(fd);
    assert_all_there(log, 1, THREADS);
    assert_true(fy_log_drained(log, fy_log_count(log)));
    fy_log_close(log);
    close(fd);
}

static void a_kill_at_any_instant_loses_nothing_that_had_returned(void **state)
{
    (void)state;
    fy_log_write_to(NULL);
    for (unsigned round = 0; round < 40; round++) kill_once(round);
}

/* ---- limits ---- */

static void a_full_log_says_what_gives_it_more_bytes(void **state)
{
    (void)state;
    char why[200];
    for (int i = 0; i < 2; i++) {
        if (i) setenv("FERRY_LOG_LIMIT", "40MiB", 1);
        int fd = open_log(20 * MIB);
        unsetenv("FERRY_LOG_LIMIT");
        emit_from_to(0, 0, 2000000);
        fy_log *log = log_to_read(fd);
        uint64_t count = fy_log_count(log);
        assert_in_range(count, i ? 200000 : 80000, i ? 400000 : 200000);
        assert_int_equal(log->head->full, count);
        assert_all_there(log, 2, 0);
        assert_non_null(
            strstr(fy_log_why_full(why, sizeof why), i ? "FERRY_LOG_LIMIT=160MiB" : "FERRY_LOG_LIMIT=80MiB"));
        fy_log_close(log);
        close(fd);
    }
}

static void limit_in_words(void)
{
    char err[256];
    setenv("FERRY_LOG_LIMIT", "a lot", 1);
    if (fy_log_file(NULL, 0, err, sizeof err) < 0) exit(1);
}

static void a_limit_that_is_no_size_is_named(void **state)
{
    (void)state;
    assert_exits(limit_in_words, 3);
    assert_said("FERRY_LOG_LIMIT=a lot is not a size such as 16GiB or 500MiB; the limit is 4096 MiB");
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return ok;
}

/* A disk of 64 MiB at `dir`, that this process alone sees. */
static bool mount_disk(const char *dir)
{
    char user[64], group[64];
    snprintf(user, sizeof user, "0 %d 1", (int)getuid());
    snprintf(group, sizeof group, "0 %d 1", (int)getgid());
    bool own = !unshare(CLONE_NEWNS) && !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    own = own || (!unshare(CLONE_NEWUSER | CLONE_NEWNS) && write_file("/proc/self/uid_map", user) &&
                  write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", group));
    return own && !mount("tmpfs", dir, "tmpfs", 0, "size=64m");
}

static void fill_disk(const char *path)
{
    static char zeros[MIB];
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    while (write(fd, zeros, sizeof zeros) > 0) continue;
    close(fd);
}

/* The disk is full for a while: the ring holds what comes. Then the log fills it, but for its last tenth. */
static void use_small_disk(void)
{
    char path[96], filler[96], err[256], why[200];
    struct statvfs disk;
    if (!mount_disk(traced_folder)) exit(77);
    snprintf(path, sizeof path, "%s/log", traced_folder);
    snprintf(filler, sizeof filler, "%s/filler", traced_folder);
    int fd = fy_log_file(path, 0, err, sizeof err);
    if (fd < 0 || !fy_log_adopt(fd, err, sizeof err)) exit(1);
    FY_EMIT(NULL, mark, .now = -1);
    fill_disk(filler);
    emit_from_to(0, 0, RING / 2);
    unlink(filler);
    emit_from_to(0, RING / 2, 200000);
    if (atomic_load(&returned[0]) != 200000) exit(2);
    emit_from_to(0, 200000, 1000000);
    if (statvfs(path, &disk) || disk.f_bavail < disk.f_blocks / 10) exit(8);
    fill_disk(filler);
    unlink(filler);
    if (FY_EMIT(NULL, mark, .now = 0)) exit(4);
    fy_log *log = log_to_read(fd);
    seen s = see_all(log);
    if (s.wrong || s.lost || s.full != 1 || s.next[0] < 200000 || s.next[0] == 1000000) exit(5);
    if (!strstr(fy_log_why_full(why, sizeof why), "the last tenth of its disk is not used")) exit(6);
    fy_log_close(log);
}

static void a_disk_that_is_full_for_a_while_costs_nothing(void **state)
{
    (void)state;
    fy_log_write_to(NULL);
    int status = run_program(use_small_disk);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip(); /* users may not mount here */
    assert_int_equal(WEXITSTATUS(status), 3);
}

/* ---- a thread that is late ---- */

static void *fill_the_ring(void *unused)
{
    emit_from_to(1, 0, RING + RING / 2);
    return unused;
}

/* Another thread claimed a slot and fills it after so long. Returns the seq. */
static uint64_t claim_and_publish_after(int ms)
{
    pthread_t other;
    uint64_t seq = atomic_fetch_add(&fy_log_of_process()->head->next, 1);
    assert_int_equal(pthread_create(&other, NULL, fill_the_ring, NULL), 0);
    usleep((unsigned)ms * 1000);
    if (ms < 5000) fy_log_put(seq, FY_KIND_mark, &(fy_ev_mark){.now = -1}, sizeof(fy_ev_mark));
    pthread_join(other, NULL);
    if (ms >= 5000) fy_log_put(seq, FY_KIND_mark, &(fy_ev_mark){.now = -1}, sizeof(fy_ev_mark));
    return seq;
}

static void a_full_ring_waits_for_a_thread_that_is_late(void **state)
{
    (void)state;
    int fd = open_log(0);
    claim_and_publish_after(300);
    assert_log_has_all(fd, 2);
    assert_int_equal(fy_log_lost(), 0);
    close(fd);
}

static void what_is_late_by_seconds_is_given_up(void **state)
{
    (void)state;
    int fd = open_log(0);
    uint64_t seq = claim_and_publish_after(5000), cursor = seq;
    fy_event e;
    fy_log *log = log_to_read(fd);
    assert_true(fy_event_next(log, &cursor, &e));
    assert_int_equal(e.kind, FY_KIND_lost);
    assert_all_there(log, 1, 1);
    assert_int_equal(fy_log_lost(), 1);
    fy_log_close(log);
    close(fd);
}

/* ---- signals and forks ---- */

static int64_t by_handler;

static void emit_in_handler(int signal_number)
{
    int error = errno;
    (void)signal_number;
    for (int i = 0; i < 100; i++) emit(1, by_handler++);
    errno = error;
}

static void a_signal_handler_that_emits_loses_nothing(void **state)
{
    (void)state;
    const struct itimerval often = {{0, 500}, {0, 500}}, never = {0};
    int fd = open_log(0);
    by_handler = 0;
    signal(SIGALRM, emit_in_handler);
    setitimer(ITIMER_REAL, &often, NULL);
    emit_from_to(0, 0, 400000);
    setitimer(ITIMER_REAL, &never, NULL);
    signal(SIGALRM, SIG_DFL);
    assert_true(by_handler > 0);
    assert_log_has_all(fd, 1);
    close(fd);
}

static void *fork_now_and_then(void *forks)
{
    for (int i = 0; i < 30; i++, usleep(2000)) {
        pid_t child = fork();
        if (!child) {
            fy_log_forked();
            _exit(0);
        }
        *(int *)forks += child > 0 && waitpid(child, NULL, 0) == child;
    }
    return NULL;
}

static void children_leave_the_log_alone(void **state)
{
    (void)state;
    int fd = open_log(0), forks = 0;
    pthread_t other;
    assert_int_equal(pthread_create(&other, NULL, fork_now_and_then, &forks), 0);
    emit_in_threads(2, 300000);
    pthread_join(other, NULL);
    assert_int_equal(forks, 30);
    assert_log_has_all(fd, 1);
    close(fd);
}

/* ---- large entries ---- */

static const size_t sizes[] = {127 << 10, 128 << 10, 200000, (512 << 10) - 8, 512 << 10, 3 * MIB, 9 * MIB, 1};
enum { SIZES = sizeof sizes / sizeof *sizes };

static void *emit_large(void *thread)
{
    for (int i = 0; i < 2 * SIZES; i++) {
        size_t bytes = sizes[i % SIZES];
        char *text = malloc(bytes);
        for (size_t k = 0; k < bytes; k++) text[k] = (char)(k * 7 + k / 4096 + (size_t)i);
        FY_EMIT(NULL, values, .first = i, .data = fy_ref_bytes(text, bytes / 8 * 8), .version = (uint32_t)bytes);
        emit_from_to((int)(intptr_t)thread, i * 500, i * 500 + 500);
        free(text);
    }
    return NULL;
}

static bool is_right(const fy_event *e)
{
    fy_bytes data = fy_event_bytes(e, e->is.values.data);
    bool right = data.size == (size_t)e->is.values.version / 8 * 8;
    for (size_t k = 0; right && k < data.size; k++)
        right = data.data[k] == (char)(k * 7 + k / 4096 + (size_t)e->is.values.first);
    return right;
}

static void large_entries_are_whole_beside_small_ones(void **state)
{
    (void)state;
    pthread_t all[THREADS];
    int fd = open_log(0), large = 0;
    for (intptr_t i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&all[i], NULL, emit_large, (void *)i), 0);
    for (int i = 0; i < THREADS; i++) pthread_join(all[i], NULL);
    assert_int_equal(fy_log_lost(), 0);
    assert_log_has_all(fd, 1 + THREADS * 2 * SIZES);
    fy_log *log = log_to_read(fd);
    fy_event e;
    for (uint64_t cursor = 0; fy_event_next(log, &cursor, &e);) {
        if (e.kind != FY_KIND_values) continue;
        assert_true(is_right(&e));
        large++;
    }
    assert_int_equal(large, THREADS * 2 * SIZES);
    fy_log_close(log);
    close(fd);
}

/* ---- after the program ---- */

static void verdicts_follow_a_log_that_left_its_rings(void **state)
{
    (void)state;
    int fd = open_log(20 * MIB);
    emit_from_to(0, 0, 1000000);
    fy_log *log = log_to_read(fd);
    uint64_t count = fy_log_count(log), cursor = count;
    fy_log_writer_died(log);
    fy_log_write_to(log);
    for (unsigned i = 0; i < 500; i++)
        FY_EMIT(NULL, check, .lesson = fy_ref_str("01"), .check = fy_ref_bytes(&i, sizeof i), .pass = 1);
    fy_log_write_to(NULL);
    fy_event e;
    for (unsigned i = 0; i < 500; i++) {
        assert_true(fy_event_next(log, &cursor, &e));
        assert_int_equal(e.kind, FY_KIND_check);
        assert_true(fy_event_is(&e, e.is.check.lesson, "01"));
        assert_memory_equal(fy_event_bytes(&e, e.is.check.check).data, &i, sizeof i);
    }
    assert_int_equal(fy_log_count(log), count + 500);
    assert_all_there(log, 2 + 500, 0);
    fy_log_close(log);
    close(fd);
}

static void trace_a_million(void)
{
    setenv("FERRY_TRACE", traced_path, 1);
    fy_session_start();
    for (int i = 0; i < THREADS; i++) atomic_store(&returned[i], 0);
    emit_from_to(0, 0, 1000000);
}

static void a_long_run_stays_binary_and_says_so(void **state)
{
    (void)state;
    fy_log_write_to(NULL);
    assert_exits(trace_a_million, 3);
    assert_said("run.jsonl has 1000002 events and stays in binary form");
    assert_said("run.jsonl > lines.jsonl` makes JSON lines of it");
    int fd = open(traced_path, O_RDONLY);
    assert_true(fd >= 0 && fy_log_is_log(fd));
    assert_log_has_all(fd, 2);
    close(fd);
}

static int prepare(void **state)
{
    returned = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return returned == MAP_FAILED || make_folder(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_four_million_events_are_read_in_little_memory),
        cmocka_unit_test(threads_share_a_long_log),
        cmocka_unit_test(a_reader_that_follows_sees_every_event),
        cmocka_unit_test(a_kill_at_any_instant_loses_nothing_that_had_returned),
        cmocka_unit_test(a_full_log_says_what_gives_it_more_bytes),
        cmocka_unit_test(a_limit_that_is_no_size_is_named),
        cmocka_unit_test(a_disk_that_is_full_for_a_while_costs_nothing),
        cmocka_unit_test(a_full_ring_waits_for_a_thread_that_is_late),
        cmocka_unit_test(what_is_late_by_seconds_is_given_up),
        cmocka_unit_test(a_signal_handler_that_emits_loses_nothing),
        cmocka_unit_test(children_leave_the_log_alone),
        cmocka_unit_test(large_entries_are_whole_beside_small_ones),
        cmocka_unit_test(a_long_run_stays_binary_and_says_so),
        cmocka_unit_test(verdicts_follow_a_log_that_left_its_rings),
    };
    return cmocka_run_group_tests_name("long_log", tests, prepare, remove_folder);
}
