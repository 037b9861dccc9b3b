/* Reading a run: whole or not at all, and no line can crash the reader. */
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
    return trace_parse(t, text, strlen(text), err, 256);
}

static void assert_refused(const char *text, const char *words)
{
    trace t;
    char err[256];
    assert_false(parse(&t, text, err));
    if (!strstr(err, words)) fail_msg("'%s' does not say '%s'", err, words);
    assert_null(t.events);
    assert_null(t.root);
}

static void an_empty_log_has_no_events(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(trace_parse(&t, NULL, 0, err, sizeof err));
    assert_int_equal(t.count, 0);
    trace_free(&t);
    assert_true(parse(&t, "\n\n  \n", err));
    assert_int_equal(t.count, 0);
    trace_free(&t);
}

static void fields_are_found_by_name_and_path(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(parse(&t,
                      "{\"seq\":0,\"kind\":\"session\"}\r\n\n"
                      "{\"seq\":1,\"kind\":\"copy\",\"src\":{\"device\":\"cpu\",\"storage\":7},\"bytes\":48}",
                      err));
    assert_int_equal(t.count, 2);
    assert_string_equal(event_kind(t.events[1]), "copy");
    assert_int_equal(event_seq(t.events[1]), 1);
    assert_string_equal(event_text(t.events[1], "src.device"), "cpu");
    assert_int_equal(event_int(t.events[1], "src.storage"), 7);
    assert_int_equal(event_int(t.events[1], "bytes"), 48);
    trace_free(&t);
}

static void a_missing_field_is_empty_or_minus_one(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(parse(&t, "{\"seq\":0,\"kind\":\"op\",\"in\":[1],\"name\":5,\"bytes\":\"x\",\"src\":3}", err));
    const cJSON *e = t.events[0];
    assert_string_equal(event_text(e, "device"), "");
    assert_string_equal(event_text(e, "name"), "");
    assert_string_equal(event_text(e, "src.device"), "");
    assert_string_equal(event_text(e, "in.tensor"), "");
    assert_string_equal(event_text(e, "a.b.c.d"), "");
    assert_string_equal(event_text(e, "a_name_that_is_much_longer_than_any_field.x"), "");
    assert_int_equal(event_int(e, "bytes"), -1);
    assert_int_equal(event_int(e, "nothing"), -1);
    assert_int_equal(event_int(NULL, "nothing"), -1);
    assert_string_equal(event_text(NULL, "nothing"), "");
    trace_free(&t);
}

static void huge_numbers_do_not_overflow(void **state)
{
    (void)state;
    trace t;
    char err[256];
    assert_true(parse(&t,
                      "{\"seq\":0,\"kind\":\"op\",\"a\":1e300,\"b\":-1e300,\"c\":9007199254740992,"
                      "\"d\":123456789012345678901234567890}",
                      err));
    assert_int_equal(event_int(t.events[0], "a"), -1);
    assert_int_equal(event_int(t.events[0], "b"), -1);
    assert_true(event_int(t.events[0], "c") == INT64_C(9007199254740992));
    assert_int_equal(event_int(t.events[0], "d"), -1);
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
    assert_false(trace_parse(&t, text, sizeof text - 1, err, sizeof err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_empty_log_has_no_events),
        cmocka_unit_test(fields_are_found_by_name_and_path),
        cmocka_unit_test(a_missing_field_is_empty_or_minus_one),
        cmocka_unit_test(huge_numbers_do_not_overflow),
        cmocka_unit_test(a_bad_line_is_named_by_its_number),
        cmocka_unit_test(deep_nesting_is_refused_not_followed),
        cmocka_unit_test(a_zero_byte_is_not_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
