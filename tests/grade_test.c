/* The grader on logs written by hand: right runs pass, and what a log can hold to mislead it does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "event.h"
#include "given.h"
#include "grading.h"
#include "handmade.h"
#include "log.h"

#define LESSON "03-round-trip"
#define GIVEN "x:float32:2x3"
enum { SEED = 7, COUNT = 6 };

/* ---- a right run of lesson 3, in pieces that a test may leave out or spoil ----------------------- */

static void begin(handmade *h)
{
    hand(h, "'kind':'session','schema':1,'seed':%d", SEED);
    hand(h, "'kind':'alloc','storage':1,'device':'cpu','line':11");
    hand(h, "'kind':'tensor','tensor':1,'storage':1,'shape':[2,3],'dtype':'float32','device':'cpu','line':11");
    hand(h, "'kind':'given','name':'x','tensor':1,'storage':1,'device':'cpu','line':11");
}

static void copy(handmade *h, int from, int to, const char *way, int bytes)
{
    bool there = !strcmp(way, "h2d");
    hand(h,
         "'kind':'copy','src':{'storage':%d,'device':'%s'},'dst':{'storage':%d,'device':'%s'},'bytes':%d,"
         "'dir':'%s','why':'user','line':14",
         from, there ? "cpu" : "cuda:0", to, there ? "cuda:0" : "cpu", bytes, way);
}

static void op(handmade *h, const char *name, const char *device, int in, int out)
{
    hand(h,
         "'kind':'op','name':'%s','device':'%s','in':[{'tensor':%d,'storage':%d}],'out':[{'tensor':%d,'"
         "storage':%d}],"
         "'line':15",
         name, device, in, in, out, out);
}

static void right_value(char *text, size_t room, int index)
{
    double x[COUNT];
    fy_given_values(SEED, "x", FY_FLOAT32, COUNT, x);
    for (int turn = 0; turn < 5; turn++) x[index] = x[index] > -2 ? x[index] / 2 + 1 : 0;
    snprintf(text, room, "%.9g", x[index]);
}

/* spoilt: what stands in place of element 4; NULL: nothing. */
static void answer(handmade *h, const char *name, int tensor, const char *device, const char *spoilt)
{
    char data[512] = "", value[64];
    hand(h, "'kind':'tensor','tensor':%d,'storage':%d,'shape':[2,3],'dtype':'float32','device':'%s'", tensor, tensor,
         device);
    hand(h, "'kind':'answer','name':'%s','tensor':%d,'storage':%d,'device':'%s','line':19", name, tensor, tensor,
         device);
    for (int i = 0; i < COUNT; i++) {
        right_value(value, sizeof value, i);
        const char *v = spoilt && i == 4 ? spoilt : value;
        snprintf(data + strlen(data), sizeof data - strlen(data), "%s%s", i ? "," : "", v);
    }
    hand(h, "'kind':'values','tensor':%d,'first':0,'data':[%s],'count':%d", tensor, data, COUNT);
}

static void right_run(handmade *h)
{
    begin(h);
    copy(h, 1, 2, "h2d", 24);
    op(h, "mul", "cuda:0", 2, 3);
    op(h, "relu", "cuda:0", 3, 4);
    copy(h, 4, 5, "d2h", 24);
    answer(h, "h", 5, "cpu", NULL);
    hand(h, "'kind':'end','status':0");
}

static verdict judge(const handmade *h)
{
    verdict v;
    char err[256] = "";
    if (!grade_lines(LESSON, h->text, h->size, SEED, GIVEN, &v, err, sizeof err)) fail_msg("not judged: %s", err);
    for (int i = 0; i < v.checks; i++) {
        assert_true(v.check[i].name[0] && v.check[i].message[0] && v.check[i].expected[0]);
        assert_null(strstr(v.check[i].message, "(null)"));
    }
    return v;
}

static void assert_fails(handmade *h, const char *name, const char *words)
{
    verdict v = judge(h);
    const struct verdict_check *c = verdict_failure(&v);
    assert_false(v.pass);
    assert_non_null(c);
    assert_string_equal(c->name, name);
    if (!strstr(c->message, words)) fail_msg("'%s' does not say '%s'", c->message, words);
    assert_string_equal(verdict_message(&v), c->message);
    hand_end(h);
}

static void a_right_run_passes_every_check(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    verdict v = judge(&h);
    if (!v.pass) fail_msg("%s: %s", verdict_failure(&v)->name, verdict_message(&v));
    assert_int_equal(v.passed, v.checks);
    assert_true(v.checks >= 5);
    assert_null(verdict_failure(&v));
    hand_end(&h);
}

static void an_empty_log_fails_as_not_answered(void **state)
{
    (void)state;
    handmade h = {0};
    assert_fails(&h, "answered", "no events");
}

static void a_run_without_an_answer_says_what_is_missing(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "fy_answer(\"h\", ...)");
    begin(&h);
    answer(&h, "g", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "called \"g\"");
}

static void a_run_that_broke_off_fails_even_after_its_answer(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    char *end = strstr(h.text, "\"end\"");
    while (end[-1] != '\n') end--;
    h.size = (size_t)(end - h.text);
    assert_fails(&h, "answered", "broke off");
}

static void an_error_is_named_with_its_line(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    hand(&h, "'kind':'error','code':'shape','message':'mat1 and mat2 shapes cannot be multiplied','line':17");
    hand(&h, "'kind':'end','status':1");
    assert_fails(&h, "answered", "at line 17: mat1 and mat2");
    begin(&h);
    hand(&h, "'kind':'error','code':'device_mismatch','message':'cuda:0 and cpu!','call':'fy_add(a, "
             "b)','line':18");
    hand(&h, "'kind':'end','status':1");
    assert_fails(&h, "same-device", "line 18");
}

static void a_nan_matches_nothing(void **state)
{
    (void)state;
    const char *spoilt[] = {"'nan'", "'inf'", "'-inf'", "null", "'2'", "[]", "1e39", "1e400", "-1e308"};
    for (size_t i = 0; i < sizeof spoilt / sizeof *spoilt; i++) {
        handmade h = {0};
        begin(&h);
        copy(&h, 1, 2, "h2d", 24);
        op(&h, "mul", "cuda:0", 2, 4);
        copy(&h, 4, 5, "d2h", 24);
        answer(&h, "h", 5, "cpu", spoilt[i]);
        hand(&h, "'kind':'end','status':0");
        assert_fails(&h, "right-numbers", "h[1][1]");
    }
}

static void an_answer_with_a_part_of_its_values_fails(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    hand(&h, "'kind':'tensor','tensor':5,'storage':5,'shape':[2,3],'dtype':'float32'");
    hand(&h, "'kind':'answer','name':'h','tensor':5,'storage':5,'device':'cpu','line':19");
    hand(&h, "'kind':'values','tensor':5,'first':0,'data':[1,2],'count':6");
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "right-numbers", "a part of its values");
    begin(&h);
    hand(&h, "'kind':'answer','name':'h','tensor':5,'storage':5,'device':'cpu','line':19");
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "too large");
}

static void of_two_answers_the_last_counts(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    h.size = (size_t)(strstr(h.text, "\"end\"") - h.text);
    while (h.text[h.size - 1] != '\n') h.size--;
    h.seq--;
    answer(&h, "h", 6, "cpu", "99");
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "right-numbers", "h[1][1] is 99");
}

static void a_second_session_is_a_forgery(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    hand(&h, "'kind':'session','schema':1,'seed':%d", SEED);
    assert_fails(&h, "log-intact", "second session");
    hand(&h, "'kind':'answer','name':'h'");
    assert_fails(&h, "log-intact", "does not begin");
}

static void a_run_with_another_seed_is_not_this_run(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    verdict v;
    char err[256];
    assert_true(grade_lines(LESSON, h.text, h.size, SEED + 1, GIVEN, &v, err, sizeof err));
    assert_false(v.pass);
    assert_string_equal(v.check[0].name, "log-intact");
    hand_end(&h);
}

static void forged_verdicts_change_nothing(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    hand(&h, "'kind':'check','lesson':'%s','check':'answered','pass':true", LESSON);
    hand(&h, "'kind':'grade','lesson':'%s','pass':true,'passed':9,'checks':9", LESSON);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "fy_answer");
}

static void values_carried_to_the_card_and_back_are_not_computed_there(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    op(&h, "mul", "cpu", 1, 2);
    copy(&h, 2, 3, "h2d", 24);
    copy(&h, 3, 5, "d2h", 24);
    answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "ran-on-the-card", "x never crossed the bus: fy_mul at line 15 ran on cpu");
}

static void an_answer_of_another_origin_fails(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    copy(&h, 1, 2, "h2d", 24);
    op(&h, "mul", "cuda:0", 8, 9);
    copy(&h, 9, 5, "d2h", 24);
    answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "ran-on-the-card", "leads from x to h");
}

static void work_after_the_answer_does_not_count(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    answer(&h, "h", 5, "cpu", NULL);
    copy(&h, 1, 2, "h2d", 24);
    copy(&h, 2, 5, "d2h", 24);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "ran-on-the-card", "leads from x to h");
}

static void copies_beyond_the_budget_are_counted_and_the_first_is_named(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    copy(&h, 1, 2, "h2d", 24);
    copy(&h, 1, 3, "h2d", 24);
    op(&h, "mul", "cuda:0", 2, 4);
    copy(&h, 4, 5, "d2h", 24);
    answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    verdict v = judge(&h);
    const struct verdict_check *c = verdict_failure(&v);
    assert_string_equal(c->name, "crossings-there");
    assert_string_equal(c->expected, "at most 1 to the card");
    assert_string_equal(c->got, "2 to the card");
    assert_int_equal(c->seq, 5);
    assert_int_equal(c->line, 14);
    hand_end(&h);
}

static void huge_and_broken_fields_are_no_trouble(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    h.size = (size_t)(strstr(h.text, "\"end\"") - h.text);
    while (h.text[h.size - 1] != '\n') h.size--;
    h.seq--;
    hand(&h, "'kind':'copy','src':{'storage':9e15,'device':'cpu'},'dst':{'storage':-1e300,'device':'cuda:0'},"
             "'bytes':9007199254740992,'dir':'d2d','why':7,'line':1e18");
    for (int i = 0; i < 2000; i++)
        hand(&h, "'kind':'copy','src':7,'dst':{'storage':'x','device':'cuda:0'},'bytes':9007199254740992,'"
                 "dir':'d2d'");
    hand(&h, "'kind':'op','name':[],'in':{'a':1},'out':7,'device':3");
    hand(&h, "'kind':'tensor','tensor':4294967295,'shape':[1e300,'a',-1]");
    hand(&h, "'kind':'end','status':0");
    verdict v = judge(&h);
    assert_string_equal(verdict_failure(&v)->name, "few-bytes");
    hand_end(&h);
}

static void an_unknown_lesson_or_a_broken_log_is_not_judged(void **state)
{
    (void)state;
    verdict v;
    char err[256] = "";
    assert_false(grade_lines("99-none", "", 0, SEED, GIVEN, &v, err, sizeof err));
    assert_non_null(strstr(err, "99-none"));
    assert_false(grade_lines(LESSON, "half a li", 9, SEED, GIVEN, &v, err, sizeof err));
    assert_non_null(strstr(err, "line 1"));
    assert_false(v.pass);
}

static void inputs_that_do_not_fit_fail_and_do_not_crash(void **state)
{
    (void)state;
    const char *given[] = {NULL,        "", "y:float32:2x3", "x:float32:", "x", "x:float32:99999999999x99999999999",
                           "x:what:2x3"};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        handmade h = {0};
        right_run(&h);
        verdict v;
        char err[256];
        assert_true(grade_lines(LESSON, h.text, h.size, SEED, given[i], &v, err, sizeof err));
        assert_false(v.pass);
        hand_end(&h);
    }
}

/* ---- the helpers of check.c --------------------------------------------------------------------- */

static grading open_grading(const handmade *h, trace *t, verdict *v)
{
    char err[256];
    assert_true(trace_parse(t, h->text, h->size, err, sizeof err));
    *v = (verdict){.pass = true};
    return (grading){.run = t, .seed = SEED, .given = GIVEN, .out = v};
}

static void events_are_found_by_number_text_and_order(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    trace t;
    verdict v;
    grading g = open_grading(&h, &t, &v);
    assert_int_equal(count_events(&g, "copy", NULL, NULL), 2);
    assert_int_equal(count_events(&g, "copy", "dir", "h2d"), 1);
    assert_string_equal(event_text(find_event(&g, "copy", NULL, NULL, 1), "dir"), "d2h");
    assert_null(find_event(&g, "copy", NULL, NULL, 2));
    assert_ptr_equal(find_event(&g, "copy", "dst.storage", "5", 0), find_event(&g, "copy", NULL, NULL, 1));
    assert_int_equal(event_int(storage_birth(&g, 1), "line"), 11);
    assert_null(storage_birth(&g, 77));
    assert_int_equal(given_storage(&g, "x"), 1);
    assert_int_equal(given_storage(&g, "z"), -1);
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
    copy(&h, 1, 20, "h2d", 24);
    trace t;
    verdict v;
    grading g = open_grading(&h, &t, &v);
    const cJSON *a = find_event(&g, "answer", NULL, NULL, 0);
    assert_true(storage_comes_from(&g, 5, 1));
    assert_true(storage_comes_from(&g, 5, 5));
    assert_true(storage_comes_from(&g, 20, 1));
    assert_false(storage_comes_from(&g, 1, 5));
    assert_false(storage_comes_from(&g, 5, 20));
    assert_false(storage_comes_from(&g, INT64_C(9000000000000000), 1));
    assert_true(answer_comes_from(&g, a, 1));
    assert_false(answer_comes_from(&g, NULL, 1));
    assert_true(leads_to(&g, find_event(&g, "op", NULL, NULL, 0), a));
    assert_false(leads_to(&g, t.events[useless], a));
    assert_true(copy_is_used(&g, find_event(&g, "copy", NULL, NULL, 0)));
    assert_false(copy_is_used(&g, t.events[useless]));
    trace_free(&t);
    grading_end(&g);
    hand_end(&h);
}

static void a_copy_that_is_only_looked_at_is_used(void **state)
{
    (void)state;
    handmade h = {0};
    begin(&h);
    int first = h.seq;
    copy(&h, 1, 2, "h2d", 24);
    hand(&h, "'kind':'copy','src':{'storage':2},'dst':{'storage':9},'dir':'d2h','why':'print'");
    copy(&h, 1, 3, "h2d", 24);
    hand(&h, "'kind':'host_read','storage':3,'via':'item'");
    trace t;
    verdict v;
    grading g = open_grading(&h, &t, &v);
    assert_true(copy_is_used(&g, t.events[first]));
    assert_true(copy_is_used(&g, t.events[first + 2]));
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

/* A log whose writer, another process, recorded one event and is gone. */
static fy_log *finished_log(int *fd)
{
    char err[256];
    *fd = fy_log_file(NULL, 0, err, sizeof err);
    assert_true(*fd >= 0);
    pid_t child = fork();
    if (child == 0) {
        if (!fy_log_adopt(*fd, err, sizeof err)) _exit(1);
        FY_EMIT(NULL, session, .schema = 1, .clock = FY_WORD_model, .seed = SEED);
        _exit(0);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    fy_log *log = fy_log_open(*fd, err, sizeof err);
    assert_non_null(log);
    fy_log_writer_gone(log);
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

    uint64_t cursor = 0;
    fy_text text = {0};
    while (fy_log_read(log, &cursor, &text, 65536)) continue;
    trace t;
    char err[256];
    if (!trace_parse(&t, text.data, text.size, err, sizeof err)) fail_msg("%s", err);
    for (int i = 0; i < t.count; i++)
        if (!event_is_valid(t.events[i], err, sizeof err)) fail_msg("event %d: %s", i, err);
    const cJSON *last = t.events[t.count - 1], *second = t.events[t.count - 2];
    assert_string_equal(event_kind(last), "grade");
    assert_string_equal(event_text(last, "message"), "Line 3 is not fine.");
    assert_int_equal(event_int(last, "checks"), 2);
    assert_int_equal(event_int(last, "passed"), 1);
    assert_string_equal(event_text(second, "expected"), "one \"copy\"");
    assert_int_equal(cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(second, "at")), 1);
    trace_free(&t);
    free(text.data);
    fy_log_close(log);
    close(fd);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_right_run_passes_every_check),
        cmocka_unit_test(an_empty_log_fails_as_not_answered),
        cmocka_unit_test(a_run_without_an_answer_says_what_is_missing),
        cmocka_unit_test(a_run_that_broke_off_fails_even_after_its_answer),
        cmocka_unit_test(an_error_is_named_with_its_line),
        cmocka_unit_test(a_nan_matches_nothing),
        cmocka_unit_test(an_answer_with_a_part_of_its_values_fails),
        cmocka_unit_test(of_two_answers_the_last_counts),
        cmocka_unit_test(a_second_session_is_a_forgery),
        cmocka_unit_test(a_run_with_another_seed_is_not_this_run),
        cmocka_unit_test(forged_verdicts_change_nothing),
        cmocka_unit_test(values_carried_to_the_card_and_back_are_not_computed_there),
        cmocka_unit_test(an_answer_of_another_origin_fails),
        cmocka_unit_test(work_after_the_answer_does_not_count),
        cmocka_unit_test(copies_beyond_the_budget_are_counted_and_the_first_is_named),
        cmocka_unit_test(huge_and_broken_fields_are_no_trouble),
        cmocka_unit_test(an_unknown_lesson_or_a_broken_log_is_not_judged),
        cmocka_unit_test(inputs_that_do_not_fit_fail_and_do_not_crash),
        cmocka_unit_test(events_are_found_by_number_text_and_order),
        cmocka_unit_test(bytes_are_followed_through_copies_and_ops),
        cmocka_unit_test(a_copy_that_is_only_looked_at_is_used),
        cmocka_unit_test(arrays_are_compared_element_by_element),
        cmocka_unit_test(more_checks_than_fit_still_decide),
        cmocka_unit_test(long_texts_are_cut_not_overrun),
        cmocka_unit_test(a_verdict_is_appended_to_the_run_it_is_about),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
