/* narrate_test.c: the narration on the terminal, literally. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "logs.h"
#include "text.h"
#include "narrate.h"

static fy_site at = {"demo.c", 5, "main", "fy_randn", "(64, 64)", 0, 0, 0, false};

#define LIST(type, ...) fy_ref_bytes((const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}))

static void make(uint32_t id, const char *name, uint8_t device)
{
    FY_EMIT(&at, alloc, .storage = id, .device = device, .asked = 16384, .bytes = 16384, .stream = FY_ABSENT);
    FY_EMIT(&at, tensor, .tensor = id, .name = fy_ref_str(name), .storage = id, .shape = LIST(int64_t, 64, 64),
            .strides = LIST(int64_t, 64, 1), .dtype = fy_ref_dtype(FY_FLOAT32), .device = device);
}

static void emit_complete(uint32_t id)
{
    FY_EMIT(&at, complete, .id = id, .start = 1000, .end = 4000, .engine = FY_WORD_compute);
}

/* A small complete run. */
static void emit_run(void)
{
    static const char devices[] = "[{\"name\":\"cpu\",\"kind\":\"cpu\"},"
                                  "{\"name\":\"cuda:0\",\"kind\":\"sim\",\"card\":\"NVIDIA H200 (simulated)\"}]";
    FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .ferry = fy_ref_str("0.1.0"), .program = fy_ref_str("demo"),
            .seed = 7, .devices = fy_ref_bytes(devices, strlen(devices)));
    make(1, "mat1", 0);
    FY_EMIT(&at, op, .id = 1, .name = fy_ref_str("randn"), .out = LIST(fy_use, {1, 1, 1}));
    emit_complete(1);
    make(2, "gpu", 1);
    FY_EMIT(&at, copy, .id = 2, .src = {.tensor = 1}, .dst = {.tensor = 2, .device = 1}, .bytes = 16384,
            .route = FY_WORD_staged, .why = FY_WORD_user, .held = 7000);
    make(3, NULL, 1);
    FY_EMIT(&at, op, .id = 3, .name = fy_ref_str("matmul"), .device = 1, .in = LIST(fy_use, {2, 2, 1}, {2, 2, 1}),
            .out = LIST(fy_use, {3, 3, 1}), .held = 4000);
    emit_complete(3);
    FY_EMIT(&at, tensor, .tensor = 4, .name = fy_ref_str("v"), .storage = 3, .shape = LIST(int64_t, 4096),
            .dtype = fy_ref_dtype(FY_FLOAT32), .device = 1, .view_of = 3);
    FY_EMIT(&at, same, .tensor = 2, .name = fy_ref_str("again"));
    FY_EMIT(&at, sync, .scope = FY_WORD_device, .device = 1, .why = FY_WORD_user, .held = 3000);
    FY_EMIT(&at, free, .storage = 2, .bytes = 16384);
    FY_EMIT(&at, mark, .text = fy_ref_str("half\x1b way"), .now = FY_ABSENT);
    FY_EMIT(&at, mark, .now = 41200);
    FY_EMIT(NULL, end, .status = 0, .live = LIST(uint32_t, 1, 3));
}

static const char story[] =
    "Ferry 0.1.0: demo, seed 7.\n"
    "cuda:0: NVIDIA H200 (simulated). Its times are modelled, not measured.\n"
    "\n"
    "make mat1 16 KiB float32 [64, 64] on cpu, takes 3.0 us demo.c:5\n"
    "copy mat1 -> gpu 16 KiB cpu -> cuda:0, staged, blocked the program 7.0 us demo.c:5\n"
    "run tensor 3 = matmul(gpu, gpu) 16 KiB on cuda:0, takes 3.0 us (1.0 us to 4.0 us), the call "
    "took 4.0 us demo.c:5\n"
    "view v of tensor 3 float32 [4096], shares memory demo.c:5\n"
    "same gpu has that device and dtype already, cuda:0: nothing to do; again is the same tensor demo.c:5\n"
    "wait for cuda:0 3.0 us until its work was complete demo.c:5\n"
    "free gpu 16 KiB on cuda:0 demo.c:5\n"
    "note half? way demo.c:5\n"
    "clock the program reads the clock: 41.2 us demo.c:5\n"
    "end exit status 0; still alive: mat1, tensor 3\n";

/* Without times, and with single blanks. */
static char *without_times(const char *narration)
{
    fy_text t = {0};
    for (const char *p = narration; *p; p++) {
        bool line = p == narration || p[-1] == '\n';
        if (line && *p == ' ') {
            p += strspn(p, " "); /* "    1.3 us  make" */
            p += strcspn(p, " ");
            p += strspn(p, " ");
            p += strcspn(p, " ");
            p += strspn(p, " ");
        }
        if (*p != ' ' || p[1] != ' ') fy_text_add(&t, p, 1);
    }
    return t.data;
}

static void a_run_is_narrated_line_by_line(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    emit_run();
    fy_log *log = log_to_read(fd);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_text narration = {0};
    assert_int_equal(fy_narrate(narrator, &narration), 13);
    assert_int_equal(fy_narrate(narrator, &narration), 0);
    char *words = without_times(narration.data);
    assert_string_equal(words, story);
    free(words);
    free(narration.data);
    fy_narrator_free(narrator);
    fy_log_close(log);
    close(fd);
}

static void launched(int64_t launch, int64_t marks)
{
    static uint32_t id;
    FY_EMIT(&at, op, .id = ++id, .name = fy_ref_str("relu_"), .device = 1, .in = LIST(fy_use, {1, 1, 1}),
            .out = LIST(fy_use, {1, 1, 2}), .inplace = 1);
    FY_EMIT(&at, complete, .id = id, .start = 1000, .end = 8400, .engine = FY_WORD_compute, .launch = launch,
            .marks = marks);
}

/* Between its two marks is then its launch, too; a busy stream's times are its work's. */
static void an_idle_streams_time_is_told_as_two_bounds(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    make(1, "x", 1);
    launched(FY_ABSENT, FY_ABSENT);
    launched(2300, 3000);
    launched(4400, 3000);
    launched(2300, FY_ABSENT);
    fy_log *log = log_to_read(fd);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_text narration = {0};
    fy_narrate(narrator, &narration);
    fy_narrator_free(narrator);
    const char *left = narration.data;
    for (int i = 0; i < 4; i++) {
        static const char *const told[] = {"takes 7.4 us (", "takes between 2.1 us and 7.4 us (",
                                           "takes at most 7.4 us (", "takes at most 7.4 us ("};
        left = strstr(left, "takes ");
        assert_non_null(left);
        assert_memory_equal(left, told[i], strlen(told[i]));
        left++;
    }
    free(narration.data);
    fy_log_close(log);
    close(fd);
}

static void emit_segments(void)
{
    FY_EMIT(&at, segment, .device = 1, .mem = FY_WORD_device, .bytes = 2 << 20, .stream = 0, .held = 100000);
    FY_EMIT(&at, segment, .device = 0, .mem = FY_WORD_pinned, .bytes = 4096, .stream = FY_ABSENT, .held = 1000);
    FY_EMIT(&at, segment, .device = 1, .mem = FY_WORD_device, .bytes = 20 << 20, .stream = 0, .held = 100000);
    FY_EMIT(&at, segment, .device = 2, .mem = FY_WORD_device, .bytes = 2 << 20, .stream = 0, .held = 0);
}

static void the_first_use_of_a_card_says_its_price(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    emit_segments();
    fy_log *log = log_to_read(fd);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_text narration = {0};
    assert_int_equal(fy_narrate(narrator, &narration), 4);
    fy_narrator_free(narrator);
    char *words = without_times(narration.data);
    assert_string_equal(
        words,
        "reserve a segment 2 MiB first use of the GPU: Ferry reserves 2 MiB to share among tensors (once, 100.0 us) "
        "demo.c:5\n"
        "reserve a segment 4 KiB page-locked, on cpu, blocked the program 1.0 us demo.c:5\n"
        "reserve a segment 20 MiB another one, shared by tensors on cuda:0, blocked the program 100.0 us demo.c:5\n"
        "reserve a segment 2 MiB first use of cuda:1: Ferry reserves 2 MiB to share among tensors (once) demo.c:5\n");
    free(words);
    free(narration.data);
    fy_log_close(log);
    close(fd);
}

static void happen_in_streams(void)
{
    make(1, "a", 1);
    FY_EMIT(&at, set_device, .device = 2);
    FY_EMIT(&at, set_stream, .device = 1, .stream = 2);
    FY_EMIT(&at, event_record, .event = 3, .device = 1, .stream = 2, .when = 70);
    FY_EMIT(&at, event_wait, .event = 3, .device = 1, .stream = 0);
    FY_EMIT(&at, query, .scope = FY_WORD_event, .device = 1, .stream = 2, .event = 3, .done = 1);
    FY_EMIT(&at, query, .scope = FY_WORD_stream, .device = 1, .stream = 2);
    FY_EMIT(&at, record_stream, .tensor = 1, .storage = 1, .device = 1, .stream = 2);
    FY_EMIT(&at, sync, .scope = FY_WORD_event, .device = 1, .stream = 2, .event = 3, .why = FY_WORD_user, .held = 2000);
    FY_EMIT(&at, sync, .scope = FY_WORD_stream, .device = 1, .stream = 0, .why = FY_WORD_policy, .held = 3000);
    FY_EMIT(&at, data_race, .type = FY_WORD_race, .storage = 1, .bytes = 16, .a = 2, .b = 3, .fix = fy_ref_str("wait"));
    FY_EMIT(&at, peer, .from = 1, .to = 2);
    FY_EMIT(&at, mode, .mode = fy_ref_str("launch_blocking"), .on = 1);
    FY_EMIT(&at, segment, .device = 1, .mem = FY_WORD_device, .bytes = 2 << 20);
    FY_EMIT(&at, segment_free, .device = 1, .bytes = 2 << 20, .why = FY_WORD_oom);
    FY_EMIT(&at, copy, .id = 2, .src = {.tensor = 1, .device = 1}, .bytes = 4, .stream = 2, .why = FY_WORD_user);
    FY_EMIT(&at, free, .storage = 1, .bytes = 16384, .deferred = 1);
}

static const char story_of_streams[] =
    "make a 16 KiB float32 [64, 64] on cuda:0 demo.c:5\n"
    "device cuda:1 is now the current device demo.c:5\n"
    "stream stream 2 of cuda:0 is now the current stream demo.c:5\n"
    "record event 3 completes when the work queued so far in stream 2 of cuda:0 is done demo.c:5\n"
    "order event 3 the default stream of cuda:0 waits for it demo.c:5\n"
    "query event 3 complete demo.c:5\n"
    "query stream 2 of cuda:0 not complete; a query does not wait demo.c:5\n"
    "use a also used in stream 2 of cuda:0: its memory is kept until that work is complete demo.c:5\n"
    "wait for event 3 2.0 us until it was complete demo.c:5\n"
    "wait for the default stream of cuda:0 3.0 us until its work was complete, because of launch blocking demo.c:5\n"
    "RACE a 16 B two streams access it without synchronization demo.c:5\n"
    "fix wait\n"
    "peer cuda:0 -> cuda:1 no direct copies: they go through the host demo.c:5\n"
    "mode launch_blocking on demo.c:5\n"
    "reserve a segment 2 MiB first use of the GPU: Ferry reserves 2 MiB to share among tensors (once) demo.c:5\n"
    "return a segment 2 MiB to cuda:0, to retry a failed allocation demo.c:5\n"
    "copy a 4 B cuda:0 -> cpu, stream 2 demo.c:5\n"
    "free a 16 KiB on cuda:0, after another stream has finished with it demo.c:5\n";

static void streams_and_events_are_narrated_in_a_line_each(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    happen_in_streams();
    fy_log *log = log_to_read(fd);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_text narration = {0};
    fy_narrate(narrator, &narration);
    char *words = without_times(narration.data);
    assert_string_equal(words, story_of_streams);
    free(words);
    free(narration.data);
    fy_narrator_free(narrator);
    fy_log_close(log);
    close(fd);
}

static void the_narration_is_the_same_event_by_event(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    fy_log *log = log_to_read(fd);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_text narration = {0};
    make(1, "a", 0);
    fy_narrate(narrator, &narration);
    assert_int_equal(narration.size, 0); /* the op that made it is not known yet */
    FY_EMIT(&at, op, .id = 1, .name = fy_ref_str("fill"), .out = LIST(fy_use, {1, 1, 1}));
    assert_int_equal(fy_narrate(narrator, &narration), 1);
    make(2, "b", 0);
    FY_EMIT(&at, drop, .tensor = 1, .why = FY_WORD_free);
    assert_int_equal(fy_narrate(narrator, &narration), 1);
    assert_non_null(strstr(narration.data, "make    b "));
    free(narration.data);
    fy_narrator_free(narrator);
    fy_log_close(log);
    close(fd);
}

static void the_places_in_the_source_stand_below_each_other(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    FY_EMIT(&at, mark, .text = fy_ref_str("a"), .now = FY_ABSENT);
    FY_EMIT(&at, mark, .text = fy_ref_str("gr\xc3\xbc\xc3\x9f"), .now = FY_ABSENT);
    fy_log *log = log_to_read(fd);
    fy_narrator *narrator = fy_narrator_of(log);
    fy_text narration = {0};
    assert_int_equal(fy_narrate(narrator, &narration), 2);
    char *first = strstr(narration.data, "demo.c"), *end = strchr(narration.data, '\n'),
         *second = strstr(end, "demo.c");
    assert_int_equal(first - narration.data, second - (end + 1) - 2); /* two characters of two bytes each */
    free(narration.data);
    fy_narrator_free(narrator);
    fy_log_close(log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_narrated_line_by_line),
        cmocka_unit_test(an_idle_streams_time_is_told_as_two_bounds),
        cmocka_unit_test(the_first_use_of_a_card_says_its_price),
        cmocka_unit_test(streams_and_events_are_narrated_in_a_line_each),
        cmocka_unit_test(the_narration_is_the_same_event_by_event),
        cmocka_unit_test(the_places_in_the_source_stand_below_each_other),
    };
    return cmocka_run_group_tests_name("narrate", tests, NULL, NULL);
}
