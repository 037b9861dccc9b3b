/* explain_test.c: `ferry explain`, and properties of all findings: totals, order, independence of names; damaged and
 * long logs. */
#define _GNU_SOURCE 1
#include "findings_log.h"

#include <cjson/cJSON.h>

#include "learner_folder.h"
#include "trace.h"

/* ---- messages, names, damage ---- */

static void a_run_with_several(handmade *h)
{
    log_begin(h);
    log_alloc(h, 3, 1, "cuda:0", "device", 64);
    log_op(h, 3, "cuda:0", 0, 1, 1);
    log_complete(h, 0, 50, "compute");
    for (int i = 0; i < 3; i++) {
        log_alloc(h, 5, 10 + 2 * i, "cpu", "pageable", 64);
        log_copy(h, 5, 1, "cuda:0", 10 + 2 * i, "cpu", 64, "d2h", PAGEABLE_D2H);
        log_complete(h, 0, 5000, "d2h");
        log_alloc(h, 6, 11 + 2 * i, "cuda:0", "device", 64);
        log_copy(h, 6, 10 + 2 * i, "cpu", 11 + 2 * i, "cuda:0", 64, "h2d", i ? PAGEABLE_D2H : STAGED);
        log_complete(h, 5000, 9000, "h2d");
        log_op(h, 7, "cuda:0", 0, 11 + 2 * i, 1);
    }
    log_oom(h, 8, 100, 50, 150, 100, 99);
    log_data_race(h, 9, "race", 4, 6);
    log_end(h);
}

static void costs_are_summed_and_what_is_wrong_comes_first(void **state)
{
    (void)state;
    handmade h;
    a_run_with_several(&h);
    findings f = findings_of_log(&h);
    const finding *x = one_of(&f, "round-trip");
    assert_non_null(x);
    assert_int_equal(x->line, 6);
    assert_int_equal(x->times, 3);
    assert_int_equal(x->ns, 3 * (5000 + 3000 + 4000 + 3000));
    assert_int_equal(x->bytes, 3 * 128);
    assert_string_equal(x->file, "p.c");
    assert_string_equal(x->source, "six");
    assert_int_equal(f.list[0].rule->weight, FINDING_WRONG);
    assert_int_equal(f.list[1].rule->weight, FINDING_WRONG);
    for (int i = 3; i < f.count; i++)
        if (f.list[i - 1].rule->weight == f.list[i].rule->weight) assert_true(f.list[i - 1].ns >= f.list[i].ns);
    findings_free(&f);
    hand_end(&h);
}

static void what_the_log_lacks_is_said(void **state)
{
    (void)state;
    handmade h;
    log_begin(&h);
    findings f = findings_of_log(&h);
    assert_int_equal(f.count, 0);
    assert_non_null(strstr(f.note, "does not reach the end"));
    findings_free(&f);
    hand(&h, "'kind':'log_full','limit':3");
    f = findings_of_log(&h);
    assert_non_null(strstr(f.note, "events are missing"));
    findings_free(&f);
    hand_end(&h);
}

/* Replaces every `from` by a `to` of the same length. */
static void rename_all(handmade *h, const char *from, const char *to)
{
    for (char *p = h->text; (p = strstr(p, from)); p += strlen(to)) memcpy(p, to, strlen(to));
}

static void other_names_change_nothing_but_the_words(void **state)
{
    (void)state;
    handmade h;
    a_run_with_several(&h);
    findings before = findings_of_log(&h);
    rename_all(&h, "\"name\":\"t1", "\"name\":\"zz");
    rename_all(&h, "p.c", "q.c");
    rename_all(&h, "\"fn\":\"main\"", "\"fn\":\"niam\"");
    findings after = findings_of_log(&h);
    assert_true(before.count > 3);
    assert_int_equal(before.count, after.count);
    for (int i = 0; i < before.count; i++) {
        const finding *a = &before.list[i], *b = &after.list[i];
        assert_ptr_equal(a->rule, b->rule);
        assert_int_equal(a->line, b->line);
        assert_int_equal(a->times, b->times);
        assert_true(a->ns == b->ns && a->bytes == b->bytes && a->seq == b->seq);
        assert_string_equal(b->file, "q.c");
    }
    findings_free(&before);
    findings_free(&after);
    hand_end(&h);
}

/* For a part of a log, findings may only concern its copies, ops and data races. */
static void a_log_cut_anywhere_does_no_harm(void **state)
{
    (void)state;
    handmade h;
    a_run_with_several(&h);
    findings whole = findings_of_log(&h), f;
    char err[256];
    for (size_t n = 0; n < h.size; n += 7) {
        char *part = malloc(n + 1); /* exact size, so that a read beyond it is detected */
        memcpy(part, h.text, n);
        if (!findings_of_lines(&f, part, n, err, sizeof err)) assert_true(strlen(err) > 20);
        else
            for (int i = 0; i < f.count; i++)
                assert_true(f.list[i].line > 0 && *f.list[i].fix && f.count <= whole.count + 2);
        findings_free(&f);
        free(part);
    }
    findings_free(&whole);
    hand_end(&h);
}

static uint64_t random_state = 7;

static uint64_t rnd(uint64_t below) /* splitmix64 */
{
    uint64_t z = (random_state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return (z ^ (z >> 31)) % below;
}

static void flipped_bytes_do_no_harm(void **state)
{
    (void)state;
    static const char likely[] = "0123456789\"-e.:,{}[]";
    int read = 0;
    for (int i = 0; i < 1500; i++) {
        handmade h;
        findings f;
        char err[256];
        a_run_with_several(&h);
        for (uint64_t n = 1 + rnd(8); n-- > 0;) {
            size_t at = (size_t)rnd(h.size);
            bool digit = h.text[at] >= '0' && h.text[at] <= '9';
            h.text[at] = digit ? (char)('0' + rnd(10)) : rnd(3) ? h.text[at] : likely[rnd(sizeof likely - 1)];
        }
        read += findings_of_lines(&f, h.text, h.size, err, sizeof err);
        findings_free(&f);
        hand_end(&h);
    }
    assert_true(read > 100);
}

/* Quadratic time would exceed the suite's limit. */
static void a_long_log_is_explained(void **state)
{
    (void)state;
    handmade h;
    log_begin(&h);
    log_alloc(&h, 3, 1, "cpu", "pageable", 64);
    for (int i = 0; i < 20000; i++) {
        log_alloc(&h, 5, 2 + i, "cuda:0", "device", 64);
        log_copy(&h, 5, 1, "cpu", 2 + i, "cuda:0", 64, "h2d", PAGEABLE_D2H);
        log_complete(&h, i * 10, i * 10 + 9, "h2d");
        log_op(&h, 6, "cuda:0", 0, 2 + i, 2 + i);
        log_oom(&h, 8, 100, 50, 150, 100, 99);
    }
    log_end(&h);
    findings f = findings_of_log(&h);
    assert_int_equal(one_of(&f, "fragmentation")->times, 20000);
    findings_free(&f);
    hand_end(&h);
}

/* Sent twice, unchanged. */
static void a_run_after(handmade *h, const char *note, const char *next)
{
    log_begin(h);
    log_alloc(h, 3, 1, "cpu", "pageable", 64);
    log_alloc(h, 4, 2, "cuda:0", "device", 64);
    hand(h, "'kind':'mark'," AT "'text':'%s'", 4, note);
    log_copy(h, 5, 1, "cpu", 2, "cuda:0", 64, "h2d", PAGEABLE_D2H);
    log_op(h, 6, "cuda:0", 0, 2, 1);
    hand(h, "'kind':'mark'," AT "'now':7", 6); /* reading the clock ends nothing */
    if (*next) hand(h, "'kind':'mark'," AT "'text':'%s'", 6, next);
    log_alloc(h, 7, 3, "cuda:0", "device", 64);
    log_copy(h, 8, 1, "cpu", 3, "cuda:0", 64, "h2d", PAGEABLE_D2H);
    log_data_race(h, 9, "race", h->seq - 1, h->seq - 1);
    log_end(h);
}

static void costs_of_a_demonstration_are_no_waste(void **state)
{
    (void)state;
    static const struct {
        const char *note, *next;
        bool waste;
    } runs[] = {{"one way", "", true}, {"demo: one way", "", false}, {"demo: one way", "done", true}};
    for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
        handmade h;
        a_run_after(&h, runs[i].note, runs[i].next);
        findings f = findings_of_log(&h);
        assert_int_equal(one_of(&f, "unused-copy") != NULL, runs[i].waste);
        assert_int_equal(f.shown > 0, !runs[i].waste);
        assert_non_null(one_of(&f, "data-race")); /* wrong answers fail first */
        findings_free(&f);
        hand_end(&h);
    }
}

/* Marks in the program do not suppress findings. */
static void a_grader_believes_no_demonstration(void **state)
{
    (void)state;
    handmade h;
    trace t;
    findings f;
    char err[256];
    a_run_after(&h, "demo: all of it", "");
    assert_true(trace_of_lines(&t, h.text, h.size, err, sizeof err));
    findings_of_run(&f, &t);
    assert_non_null(one_of(&f, "unused-copy"));
    findings_free(&f);
    trace_free(&t);
    hand_end(&h);
}

/* ---- the command ---- */

static void expect_of(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

/* Writes the text to a file of this name in the learner's folder; returns the arguments to explain it. */
static const char *explain_command(const char *name, const char *text, size_t size)
{
    static char arguments[200];
    snprintf(arguments, sizeof arguments, "explain %s/%s", learner_folder, name);
    assert_true(file_write(arguments + strlen("explain "), text, size));
    return arguments;
}

static void files_that_are_no_log_are_named(void **state)
{
    (void)state;
    expect_of("explain", 2, "usage: ferry explain FILE");
    expect_of("explain a b", 2, "one argument too many: 'b'");
    expect_of("explain --fast x", 2, "unknown option '--fast'");
    expect_of("explain /nowhere/run.jsonl", 1,
              "cannot open /nowhere/run.jsonl: No such file or directory; name a file");
    expect_of("explain lib", 1, "lib is a folder; name a file that FERRY_TRACE wrote");
    expect_of("explain /dev/null", 1, "/dev/null is not a regular file");
    expect_of(explain_command("empty", "", 0), 1, "is empty; record a run");
    expect_of(explain_command("words", "hello\n", 6), 1, "line 1: this is not JSON");
}

/* The command validates every line by the schema; handmade logs omit fields that the rules do not read. */
static const char quiet[] =
    "{\"seq\":0,\"t\":0,\"kind\":\"session\",\"th\":0,\"schema\":2,\"ferry\":\"0\",\"program\":\"p\",\"args\":[],"
    "\"clock\":\"%s\",\"seed\":0,\"devices\":[]}\n%s"
    "{\"seq\":%d,\"t\":0,\"kind\":\"end\",\"th\":0,\"status\":0,\"live\":[]}\n";
static const char trouble[] =
    "{\"seq\":1,\"t\":0,\"kind\":\"data_race\",\"th\":0,\"calls\":[{\"id\":1,\"file\":\"p.c\",\"line\":7,\"fn\":"
    "\"main\"}],\"call\":1,\"type\":\"race\","
    "\"storage\":1,\"first\":0,\"bytes\":64,\"a\":0,\"b\":0,\"fix\":\"wait \\u001b[31mfor it\"}\n";

static void a_saved_run_is_explained(void **state)
{
    (void)state;
    char text[2048];
    int n = snprintf(text, sizeof text, quiet, "model", "", 1);
    expect_of(explain_command("quiet", text, (size_t)n), 0, "Nothing wasteful or wrong was found in ");
    n = snprintf(text, sizeof text, quiet, "measured", trouble, 2);
    expect_of(explain_command("race", text, (size_t)n), 0, "1. wrong: data-race, p.c:7\n");
    expect_of(explain_command("race", text, (size_t)n), 0, "Times are measured.");
    expect_of(explain_command("race", text, (size_t)n), 0, "   fix:  ");
    expect_of(explain_command("race", text, (size_t)n), 0, "   fix:  wait \\x1b[31mfor it\n");
    expect_of(explain_command("cut", text, (size_t)n - 5), 0, "line 3, the last one, is incomplete and was left out");
}

static const char first_use[] =
    "{\"seq\":1,\"t\":100000,\"kind\":\"segment\",\"th\":0,\"calls\":[{\"id\":1,\"file\":\"p.c\",\"line\":7,\"fn\":"
    "\"main\"}],\"call\":1,\"device\":"
    "\"cuda:0\","
    "\"mem\":\"device\",\"addr\":\"0x7000000000\",\"bytes\":2097152,\"pool\":\"small\",\"stream\":0,\"held\":100000}\n";

static void the_first_use_of_a_card_is_narrated(void **state)
{
    (void)state;
    char text[2048];
    int n = snprintf(text, sizeof text, quiet, "model", first_use, 2);
    expect_of(explain_command("first", text, (size_t)n), 0,
              "First use of the GPU: Ferry reserved 2 MiB to share among tensors (once, 100.0 us).\n");
}

static void as_json_for_other_programs(void **state)
{
    (void)state;
    char text[2048], arguments[256], *printed = NULL;
    int n = snprintf(text, sizeof text, quiet, "model", trouble, 2);
    snprintf(arguments, sizeof arguments, "%s --json", explain_command("race", text, (size_t)n));
    assert_int_equal(run_ferry(arguments, &printed), 0);
    cJSON *o = cJSON_Parse(printed), *list = cJSON_GetObjectItem(o, "findings"), *x = cJSON_GetArrayItem(list, 0);
    assert_int_equal(cJSON_GetArraySize(list), 1);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(o, "clock")), "model");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(x, "rule")), "data-race");
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItem(x, "file")), "p.c");
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(x, "line")), 7);
    assert_int_equal((int)cJSON_GetNumberValue(cJSON_GetObjectItem(x, "bytes")), 64);
    cJSON_Delete(o);
    free(printed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_are_summed_and_what_is_wrong_comes_first),
        cmocka_unit_test(what_the_log_lacks_is_said),
        cmocka_unit_test(other_names_change_nothing_but_the_words),
        cmocka_unit_test(a_log_cut_anywhere_does_no_harm),
        cmocka_unit_test(flipped_bytes_do_no_harm),
        cmocka_unit_test(a_long_log_is_explained),
        cmocka_unit_test(costs_of_a_demonstration_are_no_waste),
        cmocka_unit_test(a_grader_believes_no_demonstration),
        cmocka_unit_test(files_that_are_no_log_are_named),
        cmocka_unit_test(a_saved_run_is_explained),
        cmocka_unit_test(the_first_use_of_a_card_is_narrated),
        cmocka_unit_test(as_json_for_other_programs),
    };
    return cmocka_run_group_tests_name("explain", tests, make_learner_folder, remove_learner_folder);
}
