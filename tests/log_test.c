/* log_test.c: the slot log: concurrent writers, limits, readers in other processes. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "logs.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { WRITERS = 4, EACH = 12000 };

static void note(int64_t now) { FY_EMIT(FY_AT("fy_mark", "now"), mark, .text = fy_ref_str("note"), .now = now); }

static void *write_notes(void *which)
{
    for (int64_t i = 0; i < EACH; i++) note((intptr_t)which * EACH + i);
    return NULL;
}

static void every_threads_events_are_there_once_and_in_order(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    pthread_t threads[WRITERS];
    for (intptr_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_notes, (void *)i), 0);
    for (int i = 0; i < WRITERS; i++) pthread_join(threads[i], NULL);

    fy_text text = lines_of(fd);
    int64_t next[WRITERS] = {0}, number_of[WRITERS] = {0};
    assert_lines_are_whole(&text);
    for (char *p = text.data, *line; (line = next_line(&p));) {
        const char *now = strstr(line, "\"now\":"), *number = strstr(line, "\"th\":");
        if (!now) continue; /* the source */
        int64_t value = strtoll(now + 6, NULL, 10), writer = value / EACH, th = strtoll(number + 5, NULL, 10);
        assert_in_range(writer, 0, WRITERS - 1);
        assert_int_equal(value % EACH, next[writer]++);
        if (!number_of[writer]) number_of[writer] = th;
        assert_int_equal(th, number_of[writer]);
        assert_in_range(th, 1, WRITERS);
    }
    for (int i = 0; i < WRITERS; i++) assert_int_equal(next[i], EACH);
    free(text.data);
    close(fd);
}

static void *note_once(void *unused)
{
    FY_EMIT(NULL, mark, .now = 7);
    return unused;
}

/* a slot stores its number in 16 bits */
static void no_thread_but_the_first_is_ever_number_0(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    pthread_t thread;
    for (int i = 0; i < UINT16_MAX + 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, note_once, NULL), 0);
        pthread_join(thread, NULL);
    }
    FY_EMIT(NULL, mark, .now = 8);
    fy_text text = lines_of(fd);
    assert_int_equal(count_of(text.data, "\"th\":0,"), 1);
    assert_int_equal(count_of(text.data, "\"th\":1,"), 1);
    assert_int_equal(count_of(text.data, "\"th\":65534,"), 1);
    assert_int_equal(count_of(text.data, "\"th\":65535,"), 4);
    free(text.data);
    close(fd);
}

static void *write_past_the_end(void *unused)
{
    for (int i = 0; i < 500; i++) FY_EMIT(NULL, mark, .now = i);
    return unused;
}

static void the_last_slot_says_that_the_limit_was_reached(void **state)
{
    (void)state;
    int fd = log_to_write(300);
    pthread_t other;
    pthread_create(&other, NULL, write_past_the_end, NULL);
    write_past_the_end(NULL);
    pthread_join(other, NULL);
    assert_int_equal(FY_EMIT(NULL, mark, .now = 1), 0);
    fy_text text = lines_of(fd);
    assert_int_equal(assert_lines_are_whole(&text), 300);
    assert_int_equal(count_of(text.data, "\"kind\":\"mark\""), 299);
    assert_non_null(strstr(text.data, "\"limit\":300}\n"));
    free(text.data);
    close(fd);
}

static void a_full_arena_ends_the_log_before_events_lose_bytes(void **state)
{
    (void)state;
    char err[256];
    int fd = fy_log_file_within(128 << 20, err, sizeof err);
    assert_true(fd >= 0 && fy_log_adopt(fd, err, sizeof err));
    size_t bytes = 4 << 20;
    char *big = calloc(1, bytes);
    for (int i = 0; i < 20; i++) FY_EMIT(NULL, mark, .text = fy_ref_bytes(big, bytes), .now = FY_ABSENT);
    assert_int_equal(fy_ref_str("one more"), 0);
    fy_log *log = log_to_read(fd);
    uint64_t count = fy_log_count(log), seq;
    uint16_t kind;
    assert_in_range(count, 10, 20);
    for (seq = 0; seq + 1 < count; seq++) {
        fy_ev_mark mark;
        size_t size = 0;
        assert_non_null(fy_log_slot(log, seq, &kind));
        assert_true(fy_log_record(log, seq, kind, &mark));
        assert_non_null(fy_log_bytes(log, mark.text, &size));
        assert_int_equal(size, bytes);
    }
    assert_non_null(fy_log_slot(log, seq, &kind));
    assert_int_equal(kind, FY_KIND_log_full);
    free(big);
    fy_log_close(log);
    close(fd);
}

/* The line without its seq. */
static const char *after_seq(const char *line) { return strchr(line, ','); }

static void a_host_op_reads_as_if_logged_one_by_one(void **state)
{
    (void)state;
    int fd = log_to_write(4096);
    fy_use in[] = {{1, 2, 3}, {4, 5, 6}}, out = {7, 8, 9};
    fy_ref numbers = fy_ref_str("{\"alpha\":2}");
    fy_host_op_record o = {.id = 11,
                           .name = fy_ref_str("add"),
                           .flops = 12,
                           .bytes = 13,
                           .held = 14,
                           .start = 15,
                           .end = 16,
                           .numbers = numbers,
                           .overhead = 17,
                           .in = {in[0], in[1]},
                           .out = out,
                           .nin = 2,
                           .dtype = FY_WORD_int64};
    FY_EMIT(NULL, op, .id = 11, .name = fy_ref_str("add"), .stream = FY_ABSENT, .in = fy_ref_bytes(in, sizeof in),
            .out = fy_ref_bytes(&out, sizeof out), .numbers = numbers, .dtype = FY_WORD_int64, .flops = 12, .bytes = 13,
            .held = 14);
    FY_EMIT(NULL, complete, .launch = FY_ABSENT, .marks = FY_ABSENT, .id = 11, .start = 15, .end = 16,
            .engine = FY_WORD_host, .wire = FY_ABSENT, .wire_up = FY_ABSENT, .staging = FY_ABSENT, .overhead = 17);
    assert_true(fy_emit_host_op(NULL, &o));
    fy_text text = lines_of(fd);
    char *p = text.data, *line[4];
    for (int i = 0; i < 4; i++) line[i] = next_line(&p);
    assert_string_equal(after_seq(line[2]), after_seq(line[0]));
    assert_string_equal(after_seq(line[3]), after_seq(line[1]));
    free(text.data);
    close(fd);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return ok;
}

/* Enters a mount namespace of its own. */
static bool private_mounts(void)
{
    char user[64], group[64];
    snprintf(user, sizeof user, "0 %d 1", (int)getuid());
    snprintf(group, sizeof group, "0 %d 1", (int)getgid());
    if (!unshare(CLONE_NEWNS)) return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    return !unshare(CLONE_NEWUSER | CLONE_NEWNS) && write_file("/proc/self/uid_map", user) &&
           write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", group);
}

/* Runs in a child with its own file system; returns its exit status. */
static int fill_a_small_disk(void)
{
    char err[256] = "", dir[] = "/tmp/ferry-disk-XXXXXX", path[64];
    if (!private_mounts() || !mkdtemp(dir)) return 77;
    if (mount("tmpfs", dir, "tmpfs", 0, "size=2m")) return rmdir(dir), 77;
    snprintf(path, sizeof path, "%s/run", dir);
    int fd = fy_log_file(path, 0, err, sizeof err);
    if (fd < 0 || !fy_log_adopt(fd, err, sizeof err)) return fprintf(stderr, "%s\n", err), 1;
    for (int i = 0; i < 40000; i++) FY_EMIT(NULL, mark, .now = i);
    fy_text text = lines_of(fd);
    uint64_t lines = assert_lines_are_whole(&text);
    bool ok = lines > 4000 && lines < (2 << 20) / sizeof(fy_slot) &&
              count_of(text.data, "\"kind\":\"log_full\"") == 1 &&
              count_of(text.data, "\"kind\":\"mark\"") == (int)lines - 1;
    umount2(dir, MNT_DETACH);
    rmdir(dir);
    return ok ? 0 : 2;
}

static void a_full_disk_ends_the_log_and_not_the_program(void **state)
{
    (void)state;
    int status;
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload")) skip(); /* valgrind fails on a full disk */
    fy_log_write_to(NULL);                               /* no helper thread at the fork */
    fflush(NULL);
    pid_t child = fork();
    if (!child) _exit(fill_a_small_disk());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip(); /* users may not mount here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void verdicts_are_appended_to_a_dead_programs_full_log(void **state)
{
    (void)state;
    int fd = log_to_write(20);
    for (int i = 0; i < 50; i++) FY_EMIT(NULL, mark, .now = i);
    fy_log *log = log_to_read(fd);
    fy_log_writer_died(log);
    fy_log_write_to(log);
    uint64_t seq = FY_EMIT(NULL, check, .lesson = fy_ref_str("01"), .check = fy_ref_str("born"), .pass = 1);
    assert_int_equal(seq, 20);
    fy_log_write_to(NULL);
    fy_text text = {0};
    uint64_t cursor = 0;
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 21);
    assert_lines_are_whole(&text);
    assert_non_null(
        strstr(text.data, "\"kind\":\"check\",\"th\":0,\"lesson\":\"01\",\"check\":\"born\",\"pass\":true"));
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
    fy_log_close(log);
    close(fd);
}

/* ---- unpublished slots ---- */

static void an_unpublished_slot_holds_readers_only_while_the_writer_lives(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    FY_EMIT(NULL, mark, .now = 1);
    atomic_fetch_add(&fy_log_of_process()->head->next, 1);
    FY_EMIT(NULL, mark, .now = 2);
    fy_log *log = log_to_read(fd);
    fy_text text = {0};
    uint64_t cursor = 0;
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 1);
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 0);
    assert_false(fy_log_drained(log, cursor));
    fy_log_writer_died(log);
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 2);
    assert_int_equal(assert_lines_are_whole(&text), 3);
    assert_non_null(strstr(text.data, "\n{\"seq\":1,\"t\":0,\"kind\":\"lost\",\"th\":0}\n"));
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
    fy_log_close(log);
    close(fd);
}

/* ---- another process ---- */

/* Emits one event for each byte received; dies with one slot claimed but not filled. */
static void write_on_command(int fd, int command_fd, int reply_fd)
{
    char err[256], byte;
    if (!fy_log_adopt(fd, err, sizeof err)) _exit(1);
    for (int i = 0; read(command_fd, &byte, 1) == 1 && byte != 'k'; i++) {
        FY_EMIT(NULL, mark, .now = i);
        if (write(reply_fd, "x", 1) != 1) _exit(1);
    }
    atomic_fetch_add(&fy_log_of_process()->head->next, 1);
    raise(SIGKILL);
}

static void a_reader_follows_another_process_and_notices_its_death(void **state)
{
    (void)state;
    int to[2], from[2];
    char err[256], byte = 'x';
    fy_log_write_to(NULL);
    int fd = fy_log_file(NULL, 0, err, sizeof err);
    assert_true(fd >= 0 && !pipe(to) && !pipe(from));
    fflush(NULL);
    pid_t child = fork();
    if (!child) write_on_command(fd, to[0], from[1]);
    fy_log *log = log_to_read(fd);
    uint64_t cursor = 0;
    fy_text text = {0};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(write(to[1], &byte, 1), 1);
        assert_int_equal(read(from[0], &byte, 1), 1);
        assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 1);
        assert_false(fy_log_drained(log, cursor));
    }
    assert_int_equal(write(to[1], "k", 1), 1);
    siginfo_t info;
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* a zombie counts as dead */
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 1);
    assert_non_null(strstr(text.data, "\"kind\":\"lost\""));
    assert_true(fy_log_drained(log, cursor));
    waitpid(child, NULL, 0);
    free(text.data);
    fy_log_close(log);
    close(fd);
    for (int i = 0; i < 2; i++) close(to[i]), close(from[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_threads_events_are_there_once_and_in_order),
        cmocka_unit_test(no_thread_but_the_first_is_ever_number_0),
        cmocka_unit_test(a_host_op_reads_as_if_logged_one_by_one),
        cmocka_unit_test(the_last_slot_says_that_the_limit_was_reached),
        cmocka_unit_test(a_full_arena_ends_the_log_before_events_lose_bytes),
        cmocka_unit_test(a_full_disk_ends_the_log_and_not_the_program),
        cmocka_unit_test(verdicts_are_appended_to_a_dead_programs_full_log),
        cmocka_unit_test(an_unpublished_slot_holds_readers_only_while_the_writer_lives),
        cmocka_unit_test(a_reader_follows_another_process_and_notices_its_death),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
