/* Parsing a run: completely or not at all; invalid lines do not crash the parser. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "handmade.h"
#include "trace.h"

static bool parse(trace *t, const char *text, char err[256])
{
    err[0] = 0;
    return trace_of_lines(t, text, strlen(text), err, 256);
}

static void assert_refused(const char *text, const char *words)
{
    trace t;
    char err[256];
    assert_false(parse(&t, text, err));
    if (!strstr(err, words)) fail_msg("'%s' does not say '%s'", err, words);
    assert_null(t.events);
    assert_null(t.arena);
}

static void an_empty_log_has_no_events(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(trace_of_lines(&t, NULL, 0, err, sizeof err));
    assert_int_equal(t.count, 0);
    trace_free(&t);
    assert_true(parse(&t, "\n\n  \n", err));
    assert_int_equal(t.count, 0);
    trace_free(&t);
}

static void lines_become_typed_events(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(
        parse(&t,
              "{\"seq\":0,\"kind\":\"session\"}\r\n\n"
              "{\"seq\":1,\"kind\":\"copy\",\"src\":{\"device\":\"cpu\",\"storage\":7},\"dir\":\"h2d\",\"bytes\":48,"
              "\"calls\":[{\"id\":9,\"file\":\"a.c\",\"line\":3,\"fn\":\"fy_to\"}],\"call\":9}",
              err));
    assert_int_equal(t.count, 2);
    const fy_event *e = &t.events[1];
    assert_int_equal(e->kind, FY_KIND_copy);
    assert_int_equal(e->seq, 1);
    assert_int_equal(e->line, 3);
    assert_true(fy_event_is(e, e->fn, "fy_to"));
    assert_int_equal(e->is.copy.src.device, 0);
    assert_int_equal(e->is.copy.src.storage, 7);
    assert_int_equal(e->is.copy.dir, FY_WORD_h2d);
    assert_int_equal(e->is.copy.bytes, 48);
    trace_free(&t);
}

static void what_a_line_lacks_reads_as_left_out(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(
        parse(&t, "{\"seq\":0,\"kind\":\"op\",\"in\":7,\"name\":5,\"bytes\":\"x\",\"src\":3,\"dtype\":\"lead\"}", err));
    const fy_event *e = t.events;
    fy_use use;
    assert_int_equal(e->is.op.device, FY_NO_DEVICE);
    assert_int_equal(e->is.op.name, 0);
    assert_int_equal(e->is.op.dtype, FY_WORD_none);
    assert_true(e->is.op.bytes == FY_ABSENT && e->is.op.stream == FY_ABSENT);
    assert_int_equal(fy_event_bytes(e, e->is.op.name).size, 0);
    assert_false(fy_event_use(e, e->is.op.in, 0, &use));
    trace_free(&t);
}

static void huge_numbers_do_not_overflow(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(parse(&t,
                      "{\"seq\":0,\"kind\":\"op\",\"flops\":1e300,\"held\":-1e300,\"bytes\":9007199254740992,"
                      "\"stream\":123456789012345678901234567890,\"id\":4294967296,\"grid\":[1,2,-3]}",
                      err));
    const fy_ev_op *op = &t.events->is.op;
    assert_true(op->flops == FY_ABSENT && op->held == FY_ABSENT && op->stream == FY_ABSENT);
    assert_true(op->bytes == INT64_C(9007199254740992));
    assert_true(op->id == 0 && op->grid[1] == 2 && op->grid[2] == 0);
    trace_free(&t);
}

static void escapes_say_what_they_stand_for(void **state)
{
    (void)state;
    static const struct {
        const char *written, *says;
    } texts[] = {{"a\\n\\t\\\"\\\\\\/b", "a\n\t\"\\/b"},
                 {"\\u00e9\\u20AC", "\xc3\xa9\xe2\x82\xac"},
                 {"\\ud83d\\ude00", "\xf0\x9f\x98\x80"},
                 {"cut\\u0000here", "cut"}};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        trace t;
        char err[256], line[200];
        snprintf(line, sizeof line, "{\"seq\":0,\"kind\":\"mark\",\"text\":\"%s\"}", texts[i].written);
        assert_true(parse(&t, line, err));
        if (!fy_event_is(t.events, t.events->is.mark.text, texts[i].says)) fail_msg("%s", texts[i].written);
        trace_free(&t);
    }
}

/* A repeated text is stored once, and the log can be freed. */
static void what_events_refer_to_is_there_once(void **state)
{
    (void)state;
    trace t;
    char err[256];
    handmade h = {0};
    for (int i = 0; i < 500; i++) hand(&h, "'kind':'mark','text':'the same \\u00e9','file':'a.c','line':%d", i + 1);
    assert_true(trace_of_lines(&t, h.text, h.size, err, sizeof err));
    hand_end(&h);
    for (int i = 0; i < 500; i++) {
        assert_true(fy_event_is(&t.events[i], t.events[i].is.mark.text, "the same \xc3\xa9"));
        assert_int_equal(t.events[i].is.mark.text, t.events[0].is.mark.text);
        assert_int_equal(t.events[i].file, t.events[0].file);
    }
    trace_free(&t);
}

static void a_bad_line_is_named_by_its_number(void **state)
{
    (void)state;
    const char *good = "{\"seq\":0,\"kind\":\"session\"}\n";
    char text[512];
    const char *bad[][2] = {
        {"{\"seq\":1,\"kind\":\"op\"", "is not JSON"},
        {"{\"seq\":1,\"kind\":\"op\"} and more", "is not JSON"},
        {"hello", "is not JSON"},
        {"[1, 2]", "is not a JSON object"},
        {"7", "is not a JSON object"},
        {"{\"seq\":1}", "has no \"kind\""},
        {"{\"seq\":1,\"kind\":\"teleport\"}", "no kind of event \"teleport\""},
        {"{\"kind\":\"op\"}", "has no \"seq\""},
        {"{\"seq\":\"1\",\"kind\":\"op\"}", "has no \"seq\""},
        {"{\"seq\":2,\"kind\":\"op\"}", "not the next number"},
        {"{\"seq\":0,\"kind\":\"op\"}", "not the next number"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(text, sizeof text, "%s%s\n", good, bad[i][0]);
        assert_refused(text, "line 2");
        assert_refused(text, bad[i][1]);
        assert_refused(text, "; "); /* and a fix */
    }
}

static void deep_nesting_is_refused_not_followed(void **state)
{
    (void)state;
    char text[20100];
    strcpy(text, "{\"seq\":0,\"kind\":\"op\",\"in\":");
    memset(text + strlen(text), '[', 20000 - strlen(text));
    text[20000] = 0;
    assert_refused(text, "line 1 is not JSON");
}

static void a_zero_byte_is_not_the_end(void **state)
{
    (void)state;
    trace t;
    char err[256];
    const char text[] = "{\"seq\":0,\"kind\":\"session\"}\0{}\n";
    assert_false(trace_of_lines(&t, text, sizeof text - 1, err, sizeof err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_log_has_no_events),         cmocka_unit_test(lines_become_typed_events),
        cmocka_unit_test(escapes_say_what_they_stand_for),    cmocka_unit_test(what_a_line_lacks_reads_as_left_out),
        cmocka_unit_test(what_events_refer_to_is_there_once), cmocka_unit_test(huge_numbers_do_not_overflow),
        cmocka_unit_test(a_bad_line_is_named_by_its_number),  cmocka_unit_test(deep_nesting_is_refused_not_followed),
        cmocka_unit_test(a_zero_byte_is_not_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
