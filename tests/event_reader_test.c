/* event_reader_test.c: a slot and its JSON line give the same record. Events from damaged lines and logs can still be
 * read safely. */
#define _GNU_SOURCE
#include "event.h"
#include "event_json.h"
#include "event_reader.h"
#include "logs.h"
#include "record_fields.h"
#include "trace.h"

#include <glob.h>
#include <math.h>
#include <sys/mman.h>

static char parse_error[200];
static uint64_t random_state = 20260607;

static uint64_t rnd(uint64_t below) /* splitmix64 */
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

/* ---- equal? ---- */

static bool same_list(const fy_event *a, fy_ref ra, const fy_event *b, fy_ref rb, fy_type type)
{
    fy_bytes x = fy_event_bytes(a, ra), y = fy_event_bytes(b, rb);
    if (!ra != !rb || x.size != y.size) return false;
    if (type != FY_TYPE_NUMS) return !memcmp(x.data, y.data, x.size);
    for (size_t i = 0; i < x.size; i += sizeof(double)) {
        double p, q;
        memcpy(&p, x.data + i, sizeof p);
        memcpy(&q, y.data + i, sizeof q);
        if (memcmp(&p, &q, sizeof p) && !(isnan(p) && isnan(q))) return false; /* JSON does not keep a NaN's bits */
    }
    return true;
}

static size_t size_of(fy_type type)
{
    switch (type) {
    case FY_TYPE_BOOL:
    case FY_TYPE_FLAG:
    case FY_TYPE_DEV:
    case FY_TYPE_ENUM: return 1;
    case FY_TYPE_ID: return sizeof(uint32_t);
    case FY_TYPE_DIM3: return 3 * sizeof(uint32_t);
    case FY_TYPE_SIDE: return offsetof(fy_side, mem) + 1; /* the rest is a gap */
    default: return sizeof(int64_t);
    }
}

static bool same_field(const fy_event *a, const fy_event *b, const fy_field *f)
{
    const char *p = (const char *)&a->is + f->offset, *q = (const char *)&b->is + f->offset;
    fy_ref ra, rb;
    if (!fy_type_refers(f->type)) return !memcmp(p, q, size_of(f->type));
    memcpy(&ra, p, sizeof ra);
    memcpy(&rb, q, sizeof rb);
    return same_list(a, ra, b, rb, f->type);
}

static void assert_same_record(const fy_event *a, const fy_event *b)
{
    if (a->kind != b->kind)
        fail_msg("event %llu is a %s and a %s", (unsigned long long)a->seq, fy_kind_name(a->kind),
                 fy_kind_name(b->kind));
    for (const fy_field *f = fy_kind_fields(a->kind); f->name; f++)
        if (!same_field(a, b, f))
            fail_msg("event %llu: %s.%s differs", (unsigned long long)a->seq, fy_kind_name(a->kind), f->name);
}

static void assert_same_event(const fy_event *a, const fy_event *b)
{
    assert_int_equal(a->seq, b->seq);
    assert_same_record(a, b);
    assert_int_equal(a->t, b->t);
    assert_int_equal(a->th, b->th);
    assert_int_equal(a->line, b->line);
    assert_true(same_list(a, a->file, b, b->file, FY_TYPE_STR));
    assert_true(same_list(a, a->fn, b, b->fn, FY_TYPE_STR));
}

/* Compares the log's slots with its lines; returns the number of events. */
static uint64_t assert_slots_match_lines(fy_log *log)
{
    fy_text text = {0};
    uint64_t read = 0, slots = 0, n = 0;
    event_arena *arena = event_arena_make(false);
    while (fy_log_read(log, &read, &text, text.size + 65536)) continue;
    fy_text_add(&text, "", 1);
    for (char *p = text.data, *line; (line = next_line(&p)); n++) {
        fy_event slot, json;
        event_arena_empty(arena);
        if (event_of_line(arena, line, strlen(line), &json, parse_error, sizeof parse_error) < LINE_LOOSE)
            fail_msg("%s: %.200s", parse_error, line);
        if (!fy_event_next(log, &slots, &slot)) fail_msg("no slot for %.200s", line);
        assert_same_event(&slot, &json);
    }
    assert_int_equal(slots, n);
    assert_false(fy_event_next(log, &slots, &(fy_event){0}));
    event_arena_free(arena);
    free(text.data);
    return n;
}

/* ---- random records ---- */

/* Values that both forms can express: integers up to 2^53, texts without a 0 byte, the schema's words. */
static fy_ref random_reference(fy_type type)
{
    static const char *const texts[] = {"", "a", "w.grad", "two\nlines\t\"quoted\" \\", "\xc3\xa9\xe2\x82\xac"};
    unsigned char bytes[64] = {0};
    size_t n = rnd(4), step = fy_element_size(type);
    if (!rnd(4)) return 0;
    if (type == FY_TYPE_STR) return fy_ref_str(texts[rnd(5)]);
    if (type == FY_TYPE_JSON) return rnd(2) ? fy_ref_bytes("[]", 2) : fy_ref_bytes("[{\"a\":[1,\"x\"]}]", 16);
    for (size_t i = 0; i < n; i++) {
        unsigned char *to = bytes + i * step;
        double real = rnd(5) ? (double)rnd(1000) / 7 - 50 : rnd(2) ? NAN : -INFINITY;
        if (type == FY_TYPE_DIMS) memcpy(to, &(int64_t){(int64_t)rnd(1 << 20) - 5}, step);
        else if (type == FY_TYPE_IDS) memcpy(to, &(uint32_t){(uint32_t)rnd(UINT32_MAX)}, step);
        else if (type == FY_TYPE_NUMS) memcpy(to, &real, step);
        else memcpy(to, &(fy_use[]){{(uint32_t)rnd(9), (uint32_t)rnd(9), (uint32_t)rnd(9)}}, step);
    }
    return fy_ref_bytes(bytes, n * step);
}

static void random_field(fy_type type, unsigned char *to)
{
    uint8_t word = (uint8_t)rnd(FY_WORD_COUNT), device = rnd(4) ? (uint8_t)rnd(8) : FY_NO_DEVICE;
    int64_t number = (int64_t)(rnd(1ull << 53) >> rnd(53)) * (rnd(4) ? 1 : -1);
    uint32_t grid[3] = {(uint32_t)rnd(9) + 1, (uint32_t)rnd(9), 1};
    fy_side side = {rnd(1ull << 60), (uint32_t)rnd(5), (uint32_t)rnd(5), (uint32_t)rnd(5), device, word};
    if (device == FY_NO_DEVICE) side = (fy_side){.device = FY_NO_DEVICE}; /* an end that is not known */
    switch (type) {
    case FY_TYPE_OPT: number = rnd(3) ? number : FY_ABSENT; /* fall through */
    case FY_TYPE_INT: memcpy(to, &number, sizeof number); return;
    case FY_TYPE_ID: memcpy(to, &(uint32_t){rnd(3) ? (uint32_t)rnd(UINT32_MAX) : 0}, sizeof(uint32_t)); return;
    case FY_TYPE_SEQ: memcpy(to, &(uint64_t){rnd(3) ? rnd(1 << 30) : 0}, sizeof(uint64_t)); return;
    case FY_TYPE_BOOL:
    case FY_TYPE_FLAG: *to = (uint8_t)rnd(2); return;
    case FY_TYPE_ADDR: memcpy(to, &(uint64_t){rnd(3) ? rnd(UINT64_MAX) : 0}, sizeof(uint64_t)); return;
    case FY_TYPE_REAL: memcpy(to, &(double){(double)rnd(100000) / 3}, sizeof(double)); return;
    case FY_TYPE_DEV: *to = device; return;
    case FY_TYPE_ENUM: *to = word; return;
    case FY_TYPE_DIM3:
        if (rnd(2)) memcpy(to, grid, sizeof grid);
        return;
    case FY_TYPE_SIDE: memcpy(to, &side, sizeof side); return;
    default: memcpy(to, &(fy_ref){random_reference(type)}, sizeof(fy_ref));
    }
}

static void random_event_of(unsigned kind)
{
    unsigned char record[FY_RECORD_MAX] = {0};
    fy_site *at = rnd(2) ? FY_AT("fy_to", "a") : NULL;
    if (kind == FY_KIND_log_full) return; /* it would end the log early */
    for (const fy_field *f = fy_kind_fields(kind); f->name; f++) random_field(f->type, record + f->offset);
    fy_emit(at, (fy_kind)kind, record, fy_record_size(kind));
    if (rnd(8)) return;
    fy_emit_host_op(at, &(fy_host_op_record){.id = (uint32_t)rnd(99),
                                             .name = fy_ref_str("add"),
                                             .nin = (uint8_t)rnd(3),
                                             .in = {{1, 2, 3}, {4, 5, 6}},
                                             .out = {7, 8, 9},
                                             .dtype = FY_WORD_float32});
}

static void random_event(void) { random_event_of(1 + (unsigned)rnd(FY_KIND_COUNT - 1)); }

static void slots_and_lines_give_equal_records(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    for (int i = 0; i < 3000; i++) random_event();
    fy_log *log = log_to_read(fd);
    assert_true(assert_slots_match_lines(log) >= 3000 * 9 / 10);
    fy_log_close(log);
    close(fd);
}

/* ---- complete runs ---- */

static void assert_same_run(const trace *a, const trace *b)
{
    assert_int_equal(a->count, b->count);
    for (int i = 0; i < a->count; i++) {
        assert_int_equal(a->events[i].seq, i);
        assert_same_event(&a->events[i], &b->events[i]);
    }
}

/* The log, read in three ways, gives the same events; the caller frees the run. */
static trace assert_readers_agree(int fd)
{
    trace live, dead, lines;
    fy_event e;
    fy_text text = lines_of(fd);
    fy_log *log = log_to_read(fd); /* its writer, this process, is alive */
    trace_of_log(&live, log);
    for (uint64_t cursor = 0; fy_event_next(log, &cursor, &e);) assert_same_event(&e, &live.events[e.seq]);
    fy_log_close(log);
    log = log_to_read(fd);
    fy_log_writer_died(log);
    trace_of_log(&dead, log);
    fy_log_close(log);
    if (!trace_of_lines(&lines, text.data, text.size, parse_error, sizeof parse_error)) fail_msg("%s", parse_error);
    assert_same_run(&live, &dead);
    assert_same_run(&live, &lines);
    trace_free(&live);
    trace_free(&dead);
    free(text.data);
    return lines;
}

static void each_kind_reads_alike_live_dead_and_as_a_line(void **state)
{
    (void)state;
    int fd = log_to_write(0), full = log_to_write(16);
    bool seen[FY_KIND_COUNT] = {false};
    for (int i = 0; i < 30; i++) FY_EMIT(NULL, mark, .text = fy_ref_str("more than fits"), .now = FY_ABSENT);
    trace small = assert_readers_agree(full);
    assert_int_equal(small.events[small.count - 1].kind, FY_KIND_log_full);
    close(fd);
    fd = log_to_write(0);
    for (int i = 0; i < 20; i++)
        for (unsigned kind = 1; kind < FY_KIND_COUNT; kind++) random_event_of(kind);
    trace run = assert_readers_agree(fd);
    for (int i = 0; i < run.count; i++) seen[run.events[i].kind] = true;
    for (unsigned kind = 1; kind < FY_KIND_COUNT; kind++)
        if (!seen[kind] && kind != FY_KIND_log_full) fail_msg("no %s was read", fy_kind_name(kind));
    trace_free(&small);
    trace_free(&run);
    close(full);
    close(fd);
}

/* A graded program may have left a process that still writes to the log. */
static void a_run_that_was_read_changes_no_more(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    for (int i = 0; i < 40; i++) FY_EMIT(FY_AT("fy_mark", ""), mark, .text = fy_ref_str(i % 2 ? "odd" : "even"));
    fy_log *log = log_to_read(fd);
    trace run;
    trace_of_log(&run, log);
    memset(log->arena, 0, log->arena_bytes > 4096 ? 4096 : log->arena_bytes);
    memset(log->slots, 0, 40 * sizeof(fy_slot));
    for (int i = run.count - 40; i < run.count; i++) {
        const fy_event *e = &run.events[i];
        assert_true(fy_event_is(e, e->is.mark.text, (i - run.count) % 2 ? "odd" : "even"));
        assert_true(e->line > 0 && fy_event_bytes(e, e->file).size > 5);
    }
    trace_free(&run);
    fy_log_close(log);
    close(fd);
}

/* ---- the golden logs ---- */

static char *text_of_file(const char *path, size_t *size)
{
    FILE *in = fopen(path, "r");
    char *text = NULL;
    size_t room = 0;
    assert_non_null(in);
    ssize_t n = getdelim(&text, &room, 0, in);
    assert_true(n > 0);
    fclose(in);
    *size = (size_t)n;
    return text;
}

/* Emits a copy of the event, with its references interned in the current log. */
static void emit_copy(const fy_event *e)
{
    unsigned char record[FY_RECORD_MAX];
    memcpy(record, &e->is, fy_record_size(e->kind));
    for (const fy_field *f = fy_kind_fields(e->kind); f->name; f++) {
        fy_ref ref;
        if (!fy_type_refers(f->type)) continue;
        memcpy(&ref, record + f->offset, sizeof ref);
        if (!ref) continue;
        fy_bytes bytes = fy_event_bytes(e, ref);
        ref = fy_ref_bytes(bytes.data, bytes.size);
        memcpy(record + f->offset, &ref, sizeof ref);
    }
    fy_emit(NULL, (fy_kind)e->kind, record, fy_record_size(e->kind));
}

static void check_golden_log(const char *path)
{
    size_t size;
    uint64_t cursor = 0;
    int fd = log_to_write(0);
    fy_log *log = log_to_read(fd);
    char *text = text_of_file(path, &size), *p = text, *line;
    event_arena *arena = event_arena_make(false);
    while ((line = next_line(&p))) {
        fy_event json, slot;
        event_arena_empty(arena);
        assert_int_equal(event_of_line(arena, line, strlen(line), &json, parse_error, sizeof parse_error), LINE_EVENT);
        emit_copy(&json);
        while (fy_event_next(log, &cursor, &slot) && slot.kind == FY_KIND_source && json.kind != FY_KIND_source)
            continue;
        assert_same_record(&slot, &json);
    }
    assert_true(assert_slots_match_lines(log) == cursor && cursor > 10);
    event_arena_free(arena);
    free(text);
    fy_log_close(log);
    close(fd);
}

static void golden_logs_are_the_same_as_slots(void **state)
{
    (void)state;
    glob_t found;
    assert_int_equal(glob("tests/golden/*.jsonl", 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= 10);
    for (size_t i = 0; i < found.gl_pathc; i++) check_golden_log(found.gl_pathv[i]);
    globfree(&found);
}

/* ---- damage ---- */

/* Reads all that the event refers to; sanitizers check that nothing beyond is read. */
static void read_all_fields(const fy_event *e)
{
    size_t seen = 0;
    const fy_field *f = fy_kind_fields(e->kind);
    for (; f && f->name; f++) {
        fy_ref ref;
        if (!fy_type_refers(f->type)) continue;
        memcpy(&ref, (const char *)&e->is + f->offset, sizeof ref);
        fy_bytes bytes = fy_event_bytes(e, ref);
        for (size_t i = 0; i < bytes.size; i++) seen += (unsigned char)bytes.data[i];
        fy_use u;
        assert_int_equal(fy_event_use(e, ref, bytes.size / sizeof u, &u), false);
        assert_int_equal(bytes.size % fy_element_size(f->type), 0);
    }
    assert_true(seen < SIZE_MAX);
}

static void damaged_lines_never_crash(void **state)
{
    static const char *const parts[] = {"null", "-1", "1e400", "\"\"", "[]", "{}", "[[1]]", "true", "\"cuda:\"", "0.5"};
    (void)state;
    size_t size;
    int read = 0;
    char *text = text_of_file("tests/golden/03-round-trip.jsonl", &size), *p = text, *line;
    event_arena *arena = event_arena_make(false);
    while ((line = next_line(&p)))
        for (int i = 0; i < 60; i++) {
            char *copy = strdup(line), *at = copy + rnd(strlen(copy));
            char *colon = strchr(at, ':'), *broken = NULL;
            if (rnd(4)) *at = (char)(32 + rnd(95));
            const char *rest = colon ? strpbrk(colon, ",}") : NULL;
            if (rest)
                assert_true(asprintf(&broken, "%.*s%s%s", (int)(colon + 1 - copy), copy, parts[rnd(10)], rest) > 0);
            const char *said = broken && rnd(2) ? broken : copy;
            fy_event e;
            event_arena_empty(arena);
            read += event_of_line(arena, said, strlen(said), &e, parse_error, sizeof parse_error) >= LINE_LOOSE;
            read_all_fields(&e);
            free(broken);
            free(copy);
        }
    assert_true(read > 1000);
    event_arena_free(arena);
    free(text);
}

/* Random bytes of slots and arena are changed: both readers see the same events, or both see them as lost. */
static void a_damaged_log_is_read_as_its_lines_are(void **state)
{
    (void)state;
    for (int round = 0; round < 300; round++) {
        int fd = log_to_write(0);
        for (int i = 0; i < 60; i++) random_event();
        fy_log *log = log_to_read(fd);
        uint64_t slots = fy_log_count(log) * sizeof(fy_slot), arena = atomic_load(&log->head->arena);
        off_t arena_at = log->arena - (unsigned char *)log->head;
        fy_log_writer_died(log);
        for (int i = 0; i < 30; i++) {
            static const uint8_t odd[] = {0, 1, 0x7f, 0xff};
            off_t at = rnd(2) ? FY_LOG_ALIGN + (off_t)rnd(slots) : arena_at + (off_t)rnd(arena);
            assert_int_equal(pwrite(fd, &odd[rnd(4)], 1, at), 1);
        }
        fy_event e;
        for (uint64_t cursor = 0; fy_event_next(log, &cursor, &e);) read_all_fields(&e);
        uint64_t cursor = 0, n = 0;
        fy_text text = {0};
        while (fy_log_read(log, &cursor, &text, text.size + 65536)) continue;
        fy_text_add(&text, "", 1);
        char *p = text.data, *line;
        for (uint64_t at = 0; (line = next_line(&p)); n++) {
            assert_true(fy_event_next(log, &at, &e));
            bool lost = strstr(line, "\"kind\":\"lost\"") != NULL;
            if (lost != (e.kind == FY_KIND_lost)) fail_msg("a %s is %s", fy_kind_name(e.kind), line);
        }
        assert_true(n > 0);
        free(text.data);
        fy_log_close(log);
        close(fd);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(slots_and_lines_give_equal_records),
        cmocka_unit_test(each_kind_reads_alike_live_dead_and_as_a_line),
        cmocka_unit_test(a_run_that_was_read_changes_no_more),
        cmocka_unit_test(golden_logs_are_the_same_as_slots),
        cmocka_unit_test(damaged_lines_never_crash),
        cmocka_unit_test(a_damaged_log_is_read_as_its_lines_are),
    };
    return cmocka_run_group_tests_name("event_reader", tests, NULL, NULL);
}
