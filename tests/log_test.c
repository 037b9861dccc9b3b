/* log_test.c: the slot log: many writers, its limits, damaged files, readers elsewhere. */
#define _GNU_SOURCE
#include "logs.h"

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

static void every_event_of_many_threads_is_there_once_and_in_its_threads_order(void **state)
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

static void a_full_arena_ends_the_log_before_an_event_loses_its_bytes(void **state)
{
    (void)state;
    int fd = log_to_write(4000);
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
        memcpy(&mark, fy_log_slot(log, seq, &kind)->record, sizeof mark);
        assert_non_null(fy_log_bytes(log, mark.text, &size));
        assert_int_equal(size, bytes);
    }
    assert_non_null(fy_log_slot(log, seq, &kind));
    assert_int_equal(kind, FY_KIND_log_full);
    free(big);
    fy_log_close(log);
    close(fd);
}

static bool write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY);
    bool good = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);
    if (fd >= 0) close(fd);
    return good;
}

/* Be where mounting is allowed and is seen by nobody else. */
static bool private_mounts(void)
{
    char user[64], group[64];
    snprintf(user, sizeof user, "0 %d 1", (int)getuid());
    snprintf(group, sizeof group, "0 %d 1", (int)getgid());
    if (!unshare(CLONE_NEWNS)) return !mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
    return !unshare(CLONE_NEWUSER | CLONE_NEWNS) && write_file("/proc/self/uid_map", user) &&
           write_file("/proc/self/setgroups", "deny") && write_file("/proc/self/gid_map", group);
}

/* Runs in a child with a file system of its own; returns its exit status. */
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
    bool good = lines > 4000 && lines < 16384 && count_of(text.data, "\"kind\":\"log_full\"") == 1 &&
                count_of(text.data, "\"kind\":\"mark\"") == (int)lines - 1;
    umount2(dir, MNT_DETACH);
    rmdir(dir);
    return good ? 0 : 2;
}

static void a_full_disk_ends_the_log_and_not_the_program(void **state)
{
    (void)state;
    int status;
    const char *preload = getenv("LD_PRELOAD");
    if (preload && strstr(preload, "vgpreload")) skip(); /* valgrind does not survive a full disk of its own */
    fy_log_write_to(NULL);                               /* no helper thread, when it forks */
    fflush(NULL);
    pid_t child = fork();
    if (!child) _exit(fill_a_small_disk());
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    if (WEXITSTATUS(status) == 77) skip(); /* a user may not mount here */
    assert_int_equal(WEXITSTATUS(status), 0);
}

static void verdicts_are_appended_to_a_full_log_of_a_dead_program(void **state)
{
    (void)state;
    int fd = log_to_write(20);
    for (int i = 0; i < 50; i++) FY_EMIT(NULL, mark, .now = i);
    fy_log *log = log_to_read(fd);
    fy_log_writer_gone(log);
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

static void an_unpublished_slot_holds_readers_while_the_writer_lives_and_is_lost_after(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    FY_EMIT(NULL, mark, .now = 1);
    atomic_fetch_add(&fy_log_mine()->head->next, 1);
    FY_EMIT(NULL, mark, .now = 2);
    fy_log *log = log_to_read(fd);
    fy_text text = {0};
    uint64_t cursor = 0;
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 1);
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 0);
    assert_false(fy_log_drained(log, cursor));
    fy_log_writer_gone(log);
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 2);
    assert_int_equal(assert_lines_are_whole(&text), 3);
    assert_non_null(strstr(text.data, "\n{\"seq\":1,\"t\":0,\"kind\":\"lost\",\"th\":0}\n"));
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
    fy_log_close(log);
    close(fd);
}

/* ---- another process ---- */

/* Emit one event each time a byte comes; die with one claimed and never filled. */
static void write_when_told(int fd, int told, int tell)
{
    char err[256], byte;
    if (!fy_log_adopt(fd, err, sizeof err)) _exit(1);
    for (int i = 0; read(told, &byte, 1) == 1 && byte != 'k'; i++) {
        FY_EMIT(NULL, mark, .now = i);
        if (write(tell, "x", 1) != 1) _exit(1);
    }
    atomic_fetch_add(&fy_log_mine()->head->next, 1);
    raise(SIGKILL);
}

static void a_reader_follows_a_writer_in_another_process_and_notices_its_death(void **state)
{
    (void)state;
    int to[2], from[2];
    char err[256], byte = 'x';
    fy_log_write_to(NULL);
    int fd = fy_log_file(NULL, 0, err, sizeof err);
    assert_true(fd >= 0 && !pipe(to) && !pipe(from));
    fflush(NULL);
    pid_t child = fork();
    if (!child) write_when_told(fd, to[0], from[1]);
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
    assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0); /* a zombie is dead */
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 1);
    assert_non_null(strstr(text.data, "\"kind\":\"lost\""));
    assert_true(fy_log_drained(log, cursor));
    waitpid(child, NULL, 0);
    free(text.data);
    fy_log_close(log);
    close(fd);
    for (int i = 0; i < 2; i++) close(to[i]), close(from[i]);
}

/* ---- files that cannot be trusted ---- */

static void refused(int fd, const char *word)
{
    char err[256] = "";
    assert_null(fy_log_open(fd, err, sizeof err));
    if (!strstr(err, word)) fail_msg("'%s' is not in: %s", word, err);
}

static void a_log_of_another_layout_and_other_files_are_refused_with_a_word(void **state)
{
    (void)state;
    int fd = log_to_write(0), empty = memfd_create("empty", 0);
    uint64_t layout = fy_layout_hash() + 1;
    assert_true(fy_log_is_log(fd));
    assert_int_equal(pwrite(fd, &layout, 8, offsetof(fy_head, layout)), 8);
    refused(fd, "another version of Ferry");
    refused(empty, "not a Ferry log");
    assert_int_equal(pwrite(empty, "{\"seq\":0}\n", 10, 0), 10);
    assert_false(fy_log_is_log(empty));
    refused(empty, "not a Ferry log");
    close(fd);
    close(empty);
}

static void a_folder_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    char err[256] = "";
    assert_int_equal(fy_log_file("/nowhere/run.jsonl", 0, err, sizeof err), -1);
    assert_non_null(strstr(err, "/nowhere/run.jsonl"));
    assert_int_equal(fy_log_file("/dev/null", 0, err, sizeof err), -1);
    assert_non_null(strstr(err, "/dev/null"));
}

static uint64_t random_state = 20240607;

static uint64_t rnd(uint64_t below) /* splitmix64 */
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

static void some_of_everything(void)
{
    fy_site *at = FY_AT("fy_to", "a, \"cuda\"");
    int64_t dims[] = {3, 4};
    double values[] = {1, -2.5, 0.1};
    fy_use uses[] = {{1, 1, 0}, {2, 2, 1}};
    FY_EMIT(NULL, session, .schema = 1, .args = fy_ref_bytes("[\"a\"]", 5), .devices = fy_ref_bytes("[{}]", 4));
    for (uint32_t i = 1; i < 5; i++) {
        FY_EMIT(at, alloc, .storage = i, .device = 1, .mem = FY_WORD_device, .addr = 64 * i, .stream = FY_ABSENT);
        FY_EMIT(at, tensor, .tensor = i, .name = fy_ref_str("mat1"), .storage = i, .shape = fy_ref_bytes(dims, 16),
                .strides = fy_ref_bytes(dims, 16), .dtype = FY_WORD_float32, .device = 1);
        FY_EMIT(at, op, .id = i, .name = fy_ref_str("add"), .in = fy_ref_bytes(uses, sizeof uses),
                .out = fy_ref_bytes(uses, 12), .grid = {1, 1, 1}, .block = {256, 1, 1});
        FY_EMIT(at, copy, .id = i + 9, .src = {.storage = i, .mem = FY_WORD_pageable}, .dst = {.storage = i});
        FY_EMIT(at, values, .tensor = i, .data = fy_ref_bytes(values, sizeof values));
        FY_EMIT(at, error, .code = fy_ref_str("shape"), .message = fy_ref_str("no\n\"good\""));
    }
    FY_EMIT(NULL, end, .live = fy_ref_bytes(dims, 8));
}

/* What a log holds, without its holes: the first 4 KiB of the head, its slots and its arena. */
typedef struct image {
    unsigned char *bytes;
    size_t head, slots, arena;
    off_t arena_at, size;
} image;

static image image_of(const fy_log *log)
{
    image m = {.head = sizeof(fy_head),
               .slots = fy_log_count(log) * sizeof(fy_slot),
               .arena = atomic_load(&log->head->arena),
               .arena_at = log->arena - (unsigned char *)log->head,
               .size = log->arena - (unsigned char *)log->head + 65536}; /* the rest would be a hole */
    m.bytes = malloc(m.head + m.slots + m.arena);
    memcpy(m.bytes, log->head, m.head);
    memcpy(m.bytes + m.head, log->slots, m.slots);
    memcpy(m.bytes + m.head + m.slots, log->arena, m.arena);
    return m;
}

static int file_of(const image *m, const unsigned char *bytes)
{
    int fd = memfd_create("log", MFD_CLOEXEC);
    assert_int_equal(ftruncate(fd, m->size), 0);
    assert_int_equal(pwrite(fd, bytes, m->head, 0), m->head);
    assert_int_equal(pwrite(fd, bytes + m->head, m->slots, FY_LOG_PIECE), m->slots);
    assert_int_equal(pwrite(fd, bytes + m->head + m->slots, m->arena, m->arena_at), m->arena);
    return fd;
}

static void damage(const image *m, unsigned char *bytes)
{
    static const uint8_t odd[] = {0, 1, 0x7f, 0x80, 0xff};
    size_t kept = offsetof(fy_head, limit), all = m->head + m->slots + m->arena;
    for (uint64_t n = 1 + rnd(24); n; n--) {
        size_t at = kept + rnd(rnd(4) ? all - kept : m->head + m->slots - kept);
        bytes[at] = rnd(2) ? (uint8_t)rnd(256) : odd[rnd(sizeof odd)];
    }
}

/* Whoever reads it gets lines, whatever they say. */
static void read_damaged(int fd)
{
    char err[256];
    fy_log *log = fy_log_open(fd, err, sizeof err);
    if (!log) return;
    fy_log_writer_gone(log);
    fy_text text = {0}, story = {0};
    uint64_t cursor = 0, told = 0;
    if (!rnd(8)) assert_int_equal(ftruncate(fd, (off_t)rnd(200000)), 0);
    while (fy_log_read(log, &cursor, &text, text.size + 4096)) continue;
    assert_int_equal(text.data ? assert_lines_are_whole(&text) : 0, cursor);
    fy_narrate(log, &told, &story);
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
    free(story.data);
    fy_log_close(log);
}

static void damaged_and_truncated_logs_never_crash_a_reader(void **state)
{
    (void)state;
    int fd = log_to_write(100);
    some_of_everything();
    image m = image_of(fy_log_mine());
    size_t all = m.head + m.slots + m.arena;
    unsigned char *bytes = malloc(all);
    for (int i = 0; i < 1500; i++) {
        memcpy(bytes, m.bytes, all);
        if (i) damage(&m, bytes);
        int copy = file_of(&m, bytes);
        read_damaged(copy);
        close(copy);
    }
    free(bytes);
    free(m.bytes);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_event_of_many_threads_is_there_once_and_in_its_threads_order),
        cmocka_unit_test(the_last_slot_says_that_the_limit_was_reached),
        cmocka_unit_test(a_full_arena_ends_the_log_before_an_event_loses_its_bytes),
        cmocka_unit_test(a_full_disk_ends_the_log_and_not_the_program),
        cmocka_unit_test(verdicts_are_appended_to_a_full_log_of_a_dead_program),
        cmocka_unit_test(an_unpublished_slot_holds_readers_while_the_writer_lives_and_is_lost_after),
        cmocka_unit_test(a_reader_follows_a_writer_in_another_process_and_notices_its_death),
        cmocka_unit_test(a_log_of_another_layout_and_other_files_are_refused_with_a_word),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_named),
        cmocka_unit_test(damaged_and_truncated_logs_never_crash_a_reader),
    };
    return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
