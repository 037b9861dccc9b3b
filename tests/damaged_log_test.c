/* damaged_log_test.c: files that are not logs, or damaged ones, are refused with a message or read as far as they are
 * valid. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "logs.h"
#include "text.h"
#include "narrate.h"

#include <sys/mman.h>

static void refused(int fd, const char *word)
{
    char err[256] = "";
    assert_null(fy_log_open(fd, err, sizeof err));
    if (!strstr(err, word)) fail_msg("'%s' is not in: %s", word, err);
}

static void other_layouts_and_other_files_are_refused_with_a_reason(void **state)
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

static void emit_every_kind(void)
{
    fy_site *at = FY_AT("fy_to", "a, \"cuda\"");
    int64_t dims[] = {3, 4};
    double values[] = {1, -2.5, 0.1};
    fy_use uses[] = {{1, 1, 0}, {2, 2, 1}};
    FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .args = fy_ref_bytes("[\"a\"]", 5),
            .devices = fy_ref_bytes("[{}]", 4));
    for (uint32_t i = 1; i < 5; i++) {
        FY_EMIT(at, alloc, .storage = i, .device = 1, .mem = FY_WORD_device, .addr = 64 * i, .stream = FY_ABSENT);
        FY_EMIT(at, tensor, .tensor = i, .name = fy_ref_str("mat1"), .storage = i, .shape = fy_ref_bytes(dims, 16),
                .strides = fy_ref_bytes(dims, 16), .dtype = fy_ref_dtype(FY_FLOAT32), .device = 1);
        FY_EMIT(at, op, .id = i, .name = fy_ref_str("add"), .in = fy_ref_bytes(uses, sizeof uses),
                .out = fy_ref_bytes(uses, 12), .grid = {1, 1, 1}, .block = {256, 1, 1});
        fy_emit_host_op(at, &(fy_host_op_record){.id = i, .name = fy_ref_str("add"), .out = uses[1], .nin = 2});
        FY_EMIT(at, copy, .id = i + 9, .src = {.storage = i, .mem = FY_WORD_pageable}, .dst = {.storage = i});
        FY_EMIT(at, values, .tensor = i, .data = fy_ref_bytes(values, sizeof values));
        FY_EMIT(at, error, .code = fy_ref_str("shape"), .message = fy_ref_str("no\n\"good\""));
    }
    FY_EMIT(NULL, end, .live = fy_ref_bytes(dims, 8));
}

/* The log without its holes: the first 4 KiB of the head, the slots and the arena. */
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
               .size = log->arena - (unsigned char *)log->head + 65536}; /* the rest is a hole */
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
    assert_int_equal(pwrite(fd, bytes + m->head, m->slots, FY_LOG_ALIGN), m->slots);
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

/* Readers get well-formed lines, whatever the content. */
static void read_damaged(int fd)
{
    char err[256];
    fy_log *log = fy_log_open(fd, err, sizeof err);
    if (!log) return;
    fy_log_writer_died(log);
    fy_text text = {0}, story = {0};
    uint64_t cursor = 0;
    if (!rnd(8)) assert_int_equal(ftruncate(fd, (off_t)rnd(200000)), 0);
    while (fy_log_read(log, &cursor, &text, text.size + 4096)) continue;
    assert_int_equal(text.data ? assert_lines_are_whole(&text) : 0, cursor);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_narrate(narrator, &story);
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
    free(story.data);
    fy_narrator_free(narrator);
    fy_log_close(log);
}

static void damaged_and_truncated_logs_never_crash_a_reader(void **state)
{
    (void)state;
    int fd = log_to_write(100);
    emit_every_kind();
    image m = image_of(fy_log_of_process());
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

/* The counter claims more slots than a dead process can have left: readers are not flooded with lost events. */
static void a_damaged_counter_ends_the_log_at_its_last_event(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    for (int i = 0; i < 3; i++) FY_EMIT(NULL, mark, .now = i);
    atomic_store(&fy_log_of_process()->head->next, 3000000);
    fy_log_write_to(NULL);
    fy_log *log = log_to_read(fd);
    fy_text text = {0};
    uint64_t cursor = 0;
    fy_log_writer_died(log);
    while (fy_log_read(log, &cursor, &text, SIZE_MAX)) continue;
    assert_int_equal(assert_lines_are_whole(&text), 3);
    assert_int_equal(fy_log_count(log), 3);
    assert_true(fy_log_drained(log, cursor));
    free(text.data);
    fy_log_close(log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_layouts_and_other_files_are_refused_with_a_reason),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_named),
        cmocka_unit_test(damaged_and_truncated_logs_never_crash_a_reader),
        cmocka_unit_test(a_damaged_counter_ends_the_log_at_its_last_event),
    };
    return cmocka_run_group_tests_name("damaged_log", tests, NULL, NULL);
}
