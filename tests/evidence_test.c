/* What checks can query in a log, and how their verdicts are recorded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event.h"
#include "log.h"
#include "right_run.h"
#include "text.h"

static grading open_grading(const handmade *h, trace *t, verdict *v)
{
    char err[256];
    assert_true(trace_of_lines(t, h->text, h->size, err, sizeof err));
    *v = (verdict){.pass = true};
    return (grading){.run = t, .seed = SEED, .given = GIVEN, .out = v};
}

static void events_are_found_by_kind_field_and_order(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    trace t;
    verdict v;
    grading g = open_grading(&h, &t, &v);
    const fy_event *there = next_event(&g, NULL, copy, true), *on_host = next_event(&g, there, copy, true);
    assert_int_equal(count_events(&g, copy, true), 2);
    assert_int_equal(count_events(&g, copy, is->dir == FY_WORD_h2d), 1);
    assert_int_equal(on_host->is.copy.dir, FY_WORD_d2h);
    assert_null(next_event(&g, on_host, copy, true));
    assert_ptr_equal(next_event(&g, NULL, copy, is->dst.storage == 5), on_host);
    assert_int_equal(count_events(&g, op, fy_event_is(it, is->name, "mul")), 5);
    int64_t bytes = 0;
    each_event(&g, c, copy) bytes += c->is.copy.bytes;
    assert_int_equal(bytes, 48);
    assert_int_equal(grade_line(storage_birth(&g, 1)), 11);
    assert_int_equal(grade_line(NULL), -1);
    assert_null(storage_birth(&g, 77));
    assert_true(is_on_card(1) && is_on_card(8) && !is_on_card(0) && !is_on_card(FY_NO_DEVICE));
    assert_string_equal(grade_device(&g, 2), "cuda:1");
    assert_string_equal(grade_device(&g, FY_NO_DEVICE), "");
    assert_int_equal(given_storage(&g, "x"), 1);
    assert_int_equal(given_storage(&g, "z"), 0);
    trace_free(&t);
    grading_end(&g);
    hand_end(&h);
}

static void bytes_are_followed_through_copies_and_ops(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    int useless = h.seq;
    hand_copy(&h, 1, 20, "h2d", 24);
    trace t;
    verdict v;
    grading g = open_grading(&h, &t, &v);
    const fy_event *a = next_event(&g, NULL, answer, true);
    assert_true(storage_comes_from(&g, 5, 1));
    assert_true(storage_comes_from(&g, 5, 5));
    assert_true(storage_comes_from(&g, 20, 1));
    assert_false(storage_comes_from(&g, 1, 5));
    assert_false(storage_comes_from(&g, 5, 20));
    assert_false(storage_comes_from(&g, UINT32_MAX, 1));
    assert_true(answer_comes_from(&g, a, 1));
    assert_false(answer_comes_from(&g, NULL, 1));
    assert_true(leads_to(&g, next_event(&g, NULL, op, true), a));
    assert_false(leads_to(&g, &t.events[useless], a));
    assert_true(copy_is_used(&g, next_event(&g, NULL, copy, true)));
    assert_false(copy_is_used(&g, &t.events[useless]));
    trace_free(&t);
    grading_end(&g);
    hand_end(&h);
}

static void a_copy_that_is_only_looked_at_is_used(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    int first = h.seq;
    hand_copy(&h, 1, 2, "h2d", 24);
    hand(&h, "'kind':'copy','src':{'storage':2},'dst':{'storage':9},'dir':'d2h','why':'print'");
    hand_copy(&h, 1, 3, "h2d", 24);
    hand(&h, "'kind':'host_read','storage':3,'via':'item'");
    trace t;
    verdict v;
    grading g = open_grading(&h, &t, &v);
    assert_true(copy_is_used(&g, &t.events[first]));
    assert_true(copy_is_used(&g, &t.events[first + 2]));
    trace_free(&t);
    grading_end(&g);
    hand_end(&h);
}

static void arrays_are_compared_element_by_element(void **state)
{
    (void)state;
    double a[] = {1, 2, 3}, b[] = {1, 2.5, 3}, n[] = {1, NAN, 3}, i[] = {1, INFINITY, 3}, j[] = {1, -INFINITY, 3};
    int64_t where;
    assert_true(arrays_close(a, 3, a, 3, 0, 0, &where));
    assert_false(arrays_close(a, 3, b, 3, 0, 0.4, &where));
    assert_int_equal(where, 1);
    assert_true(arrays_close(a, 3, b, 3, 0, 0.6, &where));
    assert_false(arrays_close(a, 3, b, 2, 9, 9, &where));
    assert_int_equal(where, -1);
    assert_false(arrays_close(n, 3, n, 3, 9, 9, &where));
    assert_false(arrays_close(a, 3, n, 3, INFINITY, INFINITY, &where));
    assert_false(arrays_close(a, 3, i, 3, 1, 1, &where));
    assert_false(arrays_close(i, 3, j, 3, 1, 1, &where));
    assert_true(arrays_close(i, 3, i, 3, 1, 1, &where));
    assert_false(arrays_close(NULL, 3, a, 3, 1, 1, &where));
    assert_true(arrays_close(a, 0, b, 0, 0, 0, &where));
}

static void more_checks_than_fit_still_decide(void **state)
{
    (void)state;
    verdict v = {.pass = true};
    grading g = {.out = &v};
    for (int i = 0; i < VERDICT_CHECKS; i++) check(&g, "fine", true, NULL, "a", "a", "Fine.");
    assert_true(v.pass);
    check(&g, "not-fine", false, NULL, "a", "b", "Not fine.");
    assert_false(v.pass);
    assert_int_equal(v.checks, VERDICT_CHECKS);
    assert_non_null(verdict_failure(&v));
    assert_string_equal(verdict_failure(&v)->name, "not-fine");
}

static void long_texts_are_cut_not_overrun(void **state)
{
    (void)state;
    verdict v = {.pass = true};
    grading g = {.out = &v};
    char text[4096];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = 0;
    check(&g, text, false, NULL, text, text, grade_say(&g, "%s%s", text, text));
    assert_int_equal(strlen(v.check[0].message), sizeof v.check[0].message - 1);
    assert_int_equal(strlen(v.check[0].name), sizeof v.check[0].name - 1);
    grading_end(&g);
}

/* A log whose writer, another process, recorded one event and exited. */
static fy_log *finished_log(int *fd)
{
    char err[256];
    *fd = fy_log_file(NULL, 0, err, sizeof err);
    assert_true(*fd >= 0);
    pid_t child = fork();
    if (child == 0) {
        if (!fy_log_adopt(*fd, err, sizeof err)) _exit(1);
        FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .clock = FY_WORD_model, .seed = SEED);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fy_log *log = fy_log_open(*fd, err, sizeof err);
    assert_non_null(log);
    fy_log_writer_died(log);
    return log;
}

static void a_verdict_is_appended_to_the_run_it_is_about(void **state)
{
    (void)state;
    int fd;
    fy_log *log = finished_log(&fd);
    verdict v = {.pass = true};
    grading g = {.out = &v};
    check(&g, "fine", true, NULL, "a", "a", "Fine.");
    check(&g, "not-fine", false, NULL, "one \"copy\"", "two", "Line 3 is not fine.");
    v.check[1].seq = 0;
    assert_false(grade_emit(LESSON, &v));
    fy_log_write_to(log);
    assert_true(grade_emit(LESSON, &v));

    trace t;
    trace_of_log(&t, log);
    const fy_event *last = &t.events[t.count - 1], *second = last - 1;
    assert_int_equal(last->kind, FY_KIND_grade);
    assert_true(fy_event_is(last, last->is.grade.message, "Line 3 is not fine."));
    assert_int_equal(last->is.grade.checks, 2);
    assert_int_equal(last->is.grade.passed, 1);
    assert_true(fy_event_is(second, second->is.check.expected, "one \"copy\""));
    assert_int_equal(fy_event_bytes(second, second->is.check.at).size, sizeof(uint32_t));
    trace_free(&t);
    fy_log_close(log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(events_are_found_by_kind_field_and_order),
        cmocka_unit_test(bytes_are_followed_through_copies_and_ops),
        cmocka_unit_test(a_copy_that_is_only_looked_at_is_used),
        cmocka_unit_test(arrays_are_compared_element_by_element),
        cmocka_unit_test(more_checks_than_fit_still_decide),
        cmocka_unit_test(long_texts_are_cut_not_overrun),
        cmocka_unit_test(a_verdict_is_appended_to_the_run_it_is_about),
    };
    return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
