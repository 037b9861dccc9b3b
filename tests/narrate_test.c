/* narrate_test.c: the story on the terminal, word for word. */
#include "logs.h"

static fy_site at = {"demo.c", 5, "main", "fy_randn", "(64, 64)", 0, 0};

#define LIST(type, ...) fy_ref_bytes((const type[]){__VA_ARGS__}, sizeof((const type[]){__VA_ARGS__}))

static void make(uint32_t id, const char *name, uint8_t device)
{
    FY_EMIT(&at, alloc, .storage = id, .device = device, .asked = 16384, .bytes = 16384, .stream = FY_ABSENT);
    FY_EMIT(&at, tensor, .tensor = id, .name = fy_ref_str(name), .storage = id, .shape = LIST(int64_t, 64, 64),
            .strides = LIST(int64_t, 64, 1), .dtype = FY_WORD_float32, .device = device);
}

static void work(uint32_t id)
{
    FY_EMIT(&at, complete, .id = id, .start = 1000, .end = 4000, .engine = FY_WORD_compute);
}

/* A whole small run. */
static void happen(void)
{
    static const char devices[] = "[{\"name\":\"cpu\",\"kind\":\"cpu\"},"
                                  "{\"name\":\"cuda:0\",\"kind\":\"sim\",\"card\":\"NVIDIA H200 (simulated)\"}]";
    FY_EMIT(NULL, session, .schema = 1, .ferry = fy_ref_str("0.1.0"), .program = fy_ref_str("demo"), .seed = 7,
            .devices = fy_ref_bytes(devices, strlen(devices)));
    make(1, "mat1", 0);
    FY_EMIT(&at, op, .id = 1, .name = fy_ref_str("randn"), .out = LIST(fy_use, {1, 1, 1}));
    work(1);
    make(2, "gpu", 1);
    FY_EMIT(&at, copy, .id = 2, .src = {.tensor = 1}, .dst = {.tensor = 2, .device = 1}, .bytes = 16384,
            .route = FY_WORD_staged, .why = FY_WORD_user, .held = 7000);
    make(3, NULL, 1);
    FY_EMIT(&at, op, .id = 3, .name = fy_ref_str("matmul"), .device = 1, .in = LIST(fy_use, {2, 2, 1}, {2, 2, 1}),
            .out = LIST(fy_use, {3, 3, 1}), .held = 4000);
    work(3);
    FY_EMIT(&at, tensor, .tensor = 4, .name = fy_ref_str("v"), .storage = 3, .shape = LIST(int64_t, 4096),
            .dtype = FY_WORD_float32, .device = 1, .view_of = 3);
    FY_EMIT(&at, sync, .scope = FY_WORD_device, .device = 1, .why = FY_WORD_user, .held = 3000);
    FY_EMIT(&at, free, .storage = 2, .bytes = 16384);
    FY_EMIT(&at, mark, .text = fy_ref_str("half\x1b way"), .now = FY_ABSENT);
    FY_EMIT(NULL, end, .status = 0, .live = LIST(uint32_t, 1, 3));
}

static const char story[] =
    "Ferry 0.1.0 tells what demo does (seed 7).\n"
    "cuda:0: NVIDIA H200 (simulated). Its times are modelled, not measured.\n"
    "\n"
    "make mat1 16 KiB float32 [64, 64] on cpu, takes 3.0 us demo.c:5\n"
    "copy mat1 -> gpu 16 KiB cpu -> cuda:0, staged, held the program 7.0 us demo.c:5\n"
    "run tensor 3 = matmul(gpu, gpu) 16 KiB on cuda:0, takes 3.0 us, held the program 4.0 us demo.c:5\n"
    "view v of tensor 3 float32 [4096], the same bytes demo.c:5\n"
    "wait for cuda:0 3.0 us until it had finished demo.c:5\n"
    "free gpu 16 KiB on cuda:0 demo.c:5\n"
    "note half? way demo.c:5\n"
    "end exit status 0; still alive: mat1, tensor 3\n";

/* Without the times, and with one blank where there are several. */
static char *words_of(const char *told)
{
    fy_text t = {0};
    for (const char *p = told; *p; p++) {
        bool line = p == told || p[-1] == '\n';
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

static void a_run_is_told_line_by_line(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    happen();
    fy_log *log = log_to_read(fd);
    uint64_t cursor = 0;
    fy_text told = {0};
    assert_int_equal(fy_narrate(log, &cursor, &told), 11);
    assert_int_equal(cursor, fy_log_count(log));
    char *words = words_of(told.data);
    assert_string_equal(words, story);
    free(words);
    free(told.data);
    fy_log_close(log);
    close(fd);
}

static void the_story_is_the_same_when_told_event_by_event(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    fy_log *log = log_to_read(fd);
    uint64_t cursor = 0;
    fy_text told = {0};
    make(1, "a", 0);
    fy_narrate(log, &cursor, &told);
    assert_int_equal(told.size, 0); /* how it came to be is not known yet */
    FY_EMIT(&at, op, .id = 1, .name = fy_ref_str("fill"), .out = LIST(fy_use, {1, 1, 1}));
    assert_int_equal(fy_narrate(log, &cursor, &told), 1);
    make(2, "b", 0);
    FY_EMIT(&at, drop, .tensor = 1, .why = FY_WORD_free);
    assert_int_equal(fy_narrate(log, &cursor, &told), 1);
    assert_non_null(strstr(told.data, "make    b "));
    free(told.data);
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
    uint64_t cursor = 0;
    fy_text told = {0};
    assert_int_equal(fy_narrate(log, &cursor, &told), 2);
    char *first = strstr(told.data, "demo.c"), *end = strchr(told.data, '\n'), *second = strstr(end, "demo.c");
    assert_int_equal(first - told.data, second - (end + 1) - 2); /* two letters of two bytes */
    free(told.data);
    fy_log_close(log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_is_told_line_by_line),
        cmocka_unit_test(the_story_is_the_same_when_told_event_by_event),
        cmocka_unit_test(the_places_in_the_source_stand_below_each_other),
    };
    return cmocka_run_group_tests_name("narrate", tests, NULL, NULL);
}
