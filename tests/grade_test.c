/* The grader on handwritten logs: correct runs pass, and misleading logs do not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#include "right_run.h"

static void a_right_run_passes_every_check(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    verdict v = judge_lines(&h);
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
    hand_begin(&h);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "fy_answer(\"h\", ...)");
    hand_begin(&h);
    hand_answer(&h, "g", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "named \"g\"");
}

static void a_run_that_broke_off_fails_even_after_its_answer(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    char *end = strstr(h.text, "\"end\"");
    while (end[-1] != '\n') end--;
    h.size = (size_t)(end - h.text);
    assert_fails(&h, "answered",
                 "Your program ended before the end of main. The last Ferry call that finished was on line");
}

static void an_error_is_named_with_its_line(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand(&h, "'kind':'error','code':'shape','message':'mat1 and mat2 shapes cannot be multiplied','line':17");
    hand(&h, "'kind':'end','status':1");
    assert_fails(&h, "answered", "at line 17: mat1 and mat2");
    hand_begin(&h);
    hand(&h, "'kind':'error','code':'device_mismatch','message':'cuda:0 and cpu!','written':'fy_add(a, "
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
        hand_begin(&h);
        hand_copy(&h, 1, 2, "h2d", 24);
        hand_op(&h, "mul", "cuda:0", 2, 4);
        hand_copy(&h, 4, 5, "d2h", 24);
        hand_answer(&h, "h", 5, "cpu", spoilt[i]);
        hand(&h, "'kind':'end','status':0");
        assert_fails(&h, "right-numbers", "h[1][1]");
    }
}

static void an_answer_with_a_part_of_its_values_fails(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand(&h, "'kind':'tensor','tensor':5,'storage':5,'shape':[2,3],'dtype':'float32'");
    hand(&h, "'kind':'answer','name':'h','tensor':5,'storage':5,'device':'cpu','line':19");
    hand(&h, "'kind':'values','tensor':5,'first':0,'data':[1,2],'count':6");
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "right-numbers", "a part of its values");
    hand_begin(&h);
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
    hand_answer(&h, "h", 6, "cpu", "99");
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "right-numbers", "h[1][1] is 99");
}

static void of_two_sessions_neither_is_judged(void **state)
{
    (void)state;
    handmade h = {0};
    right_run(&h);
    hand(&h, "'kind':'session','schema':2,'seed':%d", SEED);
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
    assert_string_equal(v.check[0].name, "lesson-settings");
    hand_end(&h);
}

static void verdicts_in_the_log_change_nothing(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand(&h, "'kind':'check','lesson':'%s','check':'answered','pass':true", LESSON);
    hand(&h, "'kind':'grade','lesson':'%s','pass':true,'passed':9,'checks':9", LESSON);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "answered", "fy_answer");
}

static void values_carried_to_the_card_are_not_computed_there(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand_op(&h, "mul", "cpu", 1, 2);
    hand_copy(&h, 2, 3, "h2d", 24);
    hand_copy(&h, 3, 5, "d2h", 24);
    hand_answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "ran-on-the-card", "x was never copied to the card: fy_mul at line 15 ran on cpu");
}

static void an_answer_of_another_origin_fails(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand_copy(&h, 1, 2, "h2d", 24);
    hand_op(&h, "mul", "cuda:0", 8, 9);
    hand_copy(&h, 9, 5, "d2h", 24);
    hand_answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "ran-on-the-card", "leads from x to h");
}

static void work_after_the_answer_does_not_count(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand_answer(&h, "h", 5, "cpu", NULL);
    hand_copy(&h, 1, 2, "h2d", 24);
    hand_copy(&h, 2, 5, "d2h", 24);
    hand(&h, "'kind':'end','status':0");
    assert_fails(&h, "ran-on-the-card", "leads from x to h");
}

static void copies_beyond_the_limit_are_counted_and_the_first_named(void **state)
{
    (void)state;
    handmade h = {0};
    hand_begin(&h);
    hand_copy(&h, 1, 2, "h2d", 24);
    hand_copy(&h, 1, 3, "h2d", 24);
    hand_op(&h, "mul", "cuda:0", 2, 4);
    hand_turns(&h, 4);
    hand_op(&h, "add", "cuda:0", 4, 4);
    hand_copy(&h, 4, 5, "d2h", 24);
    hand_answer(&h, "h", 5, "cpu", NULL);
    hand(&h, "'kind':'end','status':0");
    verdict v = judge_lines(&h);
    const struct verdict_check *c = verdict_failure(&v);
    assert_string_equal(c->name, "copies-to-card");
    assert_string_equal(c->expected, "1 copy to the card allowed");
    assert_string_equal(c->got, "2 copies to the card");
    assert_int_equal(c->seq, 5);
    assert_int_equal(c->line, 14);
    assert_string_equal(c->limits, "copies to the card");
    assert_true(c->most == 1 && c->used == 2);
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
    verdict v = judge_lines(&h);
    assert_string_equal(verdict_failure(&v)->name, "few-bytes");
    hand_end(&h);
}

static void an_unknown_lesson_or_a_broken_log_is_not_graded(void **state)
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
        cmocka_unit_test(of_two_sessions_neither_is_judged),
        cmocka_unit_test(a_run_with_another_seed_is_not_this_run),
        cmocka_unit_test(verdicts_in_the_log_change_nothing),
        cmocka_unit_test(values_carried_to_the_card_are_not_computed_there),
        cmocka_unit_test(an_answer_of_another_origin_fails),
        cmocka_unit_test(work_after_the_answer_does_not_count),
        cmocka_unit_test(copies_beyond_the_limit_are_counted_and_the_first_named),
        cmocka_unit_test(huge_and_broken_fields_are_no_trouble),
        cmocka_unit_test(an_unknown_lesson_or_a_broken_log_is_not_graded),
        cmocka_unit_test(inputs_that_do_not_fit_fail_and_do_not_crash),
    };
    return cmocka_run_group_tests_name("grade", tests, NULL, NULL);
}
