/* compare_test.c: `ferry compare` of two saved runs. The programs differ by two lines: their texts align the others. */
#define _GNU_SOURCE
#include "explained.h"

#include "learner_folder.h"
#include "run_totals.h"

static char slow[128], quick[128], err[600];

/* clang-format off */
static void copies_in_the_loop(void)
{
    fy_tensor *x = fy_rand((64, 64)), *there = NULL;
    for (int i = 0; i < 4; i++) {
        there = fy_to(x, "cuda"); /* the copy */
        fy_relu(there);
    }
    fy_print(fy_sum(there)); /* the same in both */
}

static void copies_before_the_loop(void)
{
    fy_tensor *x = fy_rand((64, 64)), *there = NULL;
    there = fy_to(x, "cuda"); /* the copy */
    for (int i = 0; i < 4; i++) {
        fy_relu(there);
    }
    fy_print(fy_sum(there)); /* the same in both */
}
/* clang-format on */

static int record_both(void **state)
{
    if (make_learner_folder(state)) return 1;
    snprintf(slow, sizeof slow, "%s/slow.jsonl", learner_folder);
    snprintf(quick, sizeof quick, "%s/quick.jsonl", learner_folder);
    record_program(&(explained){"", copies_in_the_loop, 0, NULL}, slow);
    record_program(&(explained){"", copies_before_the_loop, 0, NULL}, quick);
    return 0;
}

static void totals(run_totals *r, const char *path)
{
    if (!run_totals_of_file(r, path, err, sizeof err)) fail_msg("%s", err);
}

static void what_a_run_cost_is_the_sum_of_its_events(void **state)
{
    (void)state;
    run_totals a;
    totals(&a, slow);
    assert_false(a.measured);
    assert_int_equal(a.way[TOTALS_H2D].copies, 4);
    assert_int_equal(a.way[TOTALS_H2D].bytes, 4 * 64 * 64 * 4);
    assert_int_equal(a.way[TOTALS_D2H].copies, 1);
    assert_int_equal(a.way[TOTALS_D2H].bytes, 4);
    assert_int_equal(a.ops_card, 5);
    assert_true(a.held > 0 && a.held <= a.total && a.way[TOTALS_H2D].wire > 0);
    int64_t held = 0, copies = 0;
    for (int i = 0; i < a.line_count; i++) held += a.lines[i].held, copies += a.lines[i].copies;
    assert_int_equal(held, a.held);
    assert_int_equal(copies, 5);
    run_totals_free(&a);
}

static const line_total *line_with(const run_totals *r, const char *text)
{
    for (int i = 0; i < r->line_count; i++)
        if (strstr(r->lines[i].text, text)) return &r->lines[i];
    fail_msg("no line with %s", text);
    return NULL;
}

static void lines_of_the_same_text_are_one(void **state)
{
    (void)state;
    run_totals a, b;
    totals(&a, slow);
    totals(&b, quick);
    run_totals_align(&a, &b);
    static const char *const texts[] = {"the copy", "the same in both"};
    for (int i = 0; i < 2; i++) {
        const line_total *x = line_with(&a, texts[i]), *y = line_with(&b, texts[i]);
        assert_int_not_equal(x->line, y->line);
        assert_ptr_equal(&b.lines[x->other], y);
        assert_ptr_equal(&a.lines[y->other], x);
    }
    run_totals_free(&a);
    run_totals_free(&b);
}

static void expect_of(const char *first, const char *second, int status, const char *part)
{
    char *printed, arguments[300];
    snprintf(arguments, sizeof arguments, "compare %s %s", first, second);
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    free(printed);
}

static void two_runs_are_compared_on_the_terminal(void **state)
{
    (void)state;
    expect_of(slow, quick, 0, "Times are modelled.");
    expect_of(slow, quick, 0, " 3 fewer\n");
    expect_of(slow, quick, 0, "48 KiB less\n");
    expect_of(slow, quick, 0, "us less\n");
    expect_of(quick, slow, 0, "us more\n");
    expect_of(slow, quick, 0,
              "less, copies: 3 fewer, 48 KiB less over the bus\n             | there = fy_to(x, \"cuda\");");
    expect_of(slow, slow, 0, "No line differs");
}

static void what_cannot_be_compared_is_said(void **state)
{
    (void)state;
    expect_of(slow, "", 2, "usage: ferry compare FILE FILE");
    expect_of(slow, "/nowhere.jsonl", 1, "cannot open /nowhere.jsonl");
    expect_of("/nowhere.jsonl", slow, 1, "cannot open /nowhere.jsonl");
    expect_of(slow, "a b", 2, "one argument too many");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_run_cost_is_the_sum_of_its_events),
        cmocka_unit_test(lines_of_the_same_text_are_one),
        cmocka_unit_test(two_runs_are_compared_on_the_terminal),
        cmocka_unit_test(what_cannot_be_compared_is_said),
    };
    return cmocka_run_group_tests_name("compare", tests, record_both, remove_learner_folder);
}
