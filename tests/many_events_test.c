/* A run with more events than a grader reads fails with a check of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "logs.h"
#include "right_run.h"

static void a_run_of_too_many_events_fails_and_explains_why(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    int call = 1 + hand(&h, "'kind':'mark','line':7");
    char *all = malloc((size_t)TRACE_MOST * 60 + h.size);
    assert_non_null(all);
    memcpy(all, h.text, h.size);
    size_t size = h.size;
    for (int seq = h.seq; seq <= TRACE_MOST; seq++)
        size += (size_t)sprintf(all + size, "{\"seq\":%d,\"kind\":\"mark\",\"call\":%d}\n", seq, call);
    verdict v;
    char err[256] = "";
    if (!grade_lines(LESSON, all, size, SEED, GIVEN, &v, err, sizeof err)) fail_msg("not judged: %s", err);
    assert_false(v.pass);
    assert_int_equal(v.checks, 1);
    assert_string_equal(v.check[0].name, "few-events");
    assert_int_equal(v.check[0].line, 7);
    assert_non_null(strstr(verdict_message(&v), "More than 200,000 events (a few hundred expected): an endless loop?"));
    free(all);
    hand_end(&h);
}

/* The same for a log: events beyond the limit are not read. */
static void too_long_a_log_is_read_partly_and_says_so(void **state)
{
    (void)state;
    int fd = log_to_write(0);
    while (fy_log_count(fy_log_of_process()) <= TRACE_MOST) FY_EMIT(NULL, mark, .now = FY_ABSENT);
    fy_log *log = log_to_read(fd);
    trace run;
    trace_of_log(&run, log);
    assert_true(run.over);
    assert_int_equal(run.count, TRACE_MOST);
    assert_int_equal(run.events[TRACE_MOST - 1].seq, TRACE_MOST - 1);
    trace_free(&run);
    fy_log_close(log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_of_too_many_events_fails_and_explains_why),
        cmocka_unit_test(too_long_a_log_is_read_partly_and_says_so),
    };
    return cmocka_run_group_tests_name("many_events", tests, NULL, NULL);
}
