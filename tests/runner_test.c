/* runner_test.c: whatever a learner's program does, there is a verdict, its emitted events are in the log, and the
 * runner continues. A run that is right only by chance does not pass. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>

#include "grade.h"
#include "log.h"
#include "progress.h"
#include "run.h"
#include "learner_folder.h"
#include "text.h"

static home where;
static catalogue lessons;
static const lesson *asked;

static int open_school(void **state)
{
    char err[2048] = "";
    if (make_learner_folder(state)) return -1;
    if (paths_find(&where, err, sizeof err) && catalogue_open(&lessons, &where, err, sizeof err))
        asked = lesson_find(&lessons, "01-where-am-i", err, sizeof err);
    if (asked) return 0;
    fprintf(stderr, "%s\n", err);
    return -1;
}

static int close_school(void **state)
{
    catalogue_close(&lessons);
    return remove_learner_folder(state);
}

/* Limits that end a test soon, except the time: the machine may be slow. */
static run_options order(void)
{
    return (run_options){.home = &where,
                         .lesson = asked,
                         .grade = true,
                         .stop_fd = -1,
                         .limits = {.seconds = 30, .memory = (size_t)1 << 30, .processes = 16}};
}

static outcome run_text(const char *text, double seconds)
{
    outcome out;
    run_options o = order();
    if (seconds > 0) o.limits.seconds = seconds;
    assert_true(write_answer(asked->id, text));
    run(&o, &out);
    return out;
}

static outcome run_file(const char *file)
{
    outcome out;
    run_options o = order();
    assert_true(copy_answer(asked->id, file));
    run(&o, &out);
    return out;
}

/* Number of lines of the outcome's log that contain `part`. */
static int lines_with(const outcome *out, const char *part)
{
    char err[256];
    fy_text lines = {0};
    uint64_t cursor = 0;
    int found = 0;
    fy_log *log = fy_log_open(out->log_fd, err, sizeof err);
    if (!log) fail_msg("%s", err);
    fy_log_writer_died(log);
    while (fy_log_read(log, &cursor, &lines, 1 << 20) > 0) continue;
    fy_text_add(&lines, "", 1);
    for (const char *p = lines.data; (p = strstr(p, part)); p++) found++;
    free(lines.data);
    fy_log_close(log);
    return found;
}

static void assert_message_has(const outcome *out, const char *part)
{
    if (!strstr(out->message, part)) fail_msg("'%s' is not in '%s' (output: %s)", part, out->message, out->output);
}

/* ---- verdicts ---------------------------------------------------------------------------------------- */

static void the_solution_passes_and_the_log_says_so(void **state)
{
    (void)state;
    outcome out = run_file("solution.c");
    if (out.end != RUN_PASSED) fail_msg("%s", out.message);
    assert_true(out.graded && out.verdict.pass);
    assert_int_equal(lines_with(&out, "\"kind\":\"grade\""), 1);
    assert_int_equal(lines_with(&out, "\"kind\":\"check\""), out.verdict.checks);
    assert_true(progress_of(&where, asked).done);
    outcome_free(&out);
}

static void the_starter_fails_at_a_line_with_expected_and_got(void **state)
{
    (void)state;
    outcome out = run_file("starter.c");
    assert_int_equal(out.end, RUN_FAILED);
    assert_true(out.line > 0 && out.seq > 0);
    assert_non_null(strstr(out.source, "fy_matmul"));
    const struct verdict_check *failed = verdict_failure(&out.verdict);
    assert_non_null(failed);
    assert_string_equal(failed->name, "same-device");
    assert_true(*failed->expected && *failed->got);
    outcome_free(&out);
}

/* Right for the sizes shown, wrong for others. */
static void a_lucky_answer_fails_in_the_second_run(void **state)
{
    (void)state;
    char path[PATH_ROOM];
    lesson_path(&where, asked, "solution.c", path);
    char *text = file_read(path, NULL), *at = strstr(text, "(columns, 2)");
    assert_non_null(at);
    memcpy(at, "(5,       2)", 12);
    outcome out = run_text(text, 0);
    free(text);
    assert_int_equal(out.end, RUN_FAILED);
    assert_true(out.second);
    assert_message_has(&out, "not with others");
    outcome_free(&out);
}

/* The file with work whose judgement takes longer than a moment, so that the second run is beside it. */
static outcome run_long(const char *file, const char *from, const char *to)
{
    static const char work[] = "    fy_tensor *t = fy_ones((400, 400));\n    FY_TIMES (i, 16) fy_matmul(t, t);\n";
    char path[PATH_ROOM], *text = NULL;
    lesson_path(&where, asked, file, path);
    char *was = file_read(path, NULL), *body = strstr(was, "{\n") + 2, *at = strstr(body, from);
    assert_non_null(at);
    assert_true(asprintf(&text, "%.*s%s%.*s%s%s", (int)(body - was), was, work, (int)(at - body), body, to,
                         at + strlen(from)) > 0);
    outcome out = run_text(text, 0);
    free(text);
    free(was);
    return out;
}

static void a_long_judgement_has_the_same_verdict(void **state)
{
    (void)state;
    outcome out = run_long("solution.c", "(columns, 2)", "(columns, 2)");
    if (out.end != RUN_PASSED) fail_msg("%s", out.message);
    assert_int_equal(lines_with(&out, "\"kind\":\"grade\""), 1);
    outcome_free(&out);

    out = run_long("solution.c", "(columns, 2)", "(5, 2)");
    assert_true(out.end == RUN_FAILED && out.second);
    assert_message_has(&out, "not with others");
    outcome_free(&out);

    out = run_long("starter.c", "(columns, 2)", "(columns, 2)");
    assert_true(out.end == RUN_FAILED && !out.second && out.line > 0);
    assert_string_equal(verdict_failure(&out.verdict)->name, "same-device");
    outcome_free(&out);

    /* With the other inputs it does not come to its end. */
    out = run_long("solution.c", "(columns, 2)", "(columns == 5 ? 5 : -1, 2)");
    assert_true(out.end == RUN_FAILED && out.second);
    outcome_free(&out);
}

/* It does not wait for a second run that takes long: that one does not come to its end. */
static void a_long_judgement_that_fails_ends_the_second_run(void **state)
{
    (void)state;
    char more[512], path[256];
    snprintf(path, sizeof path, "%s/came-to-its-end", learner_folder);
    snprintf(more, sizeof more,
             "0.25, .device = \"cuda\");\n    unsigned sleep(unsigned);\n    int creat(const char *, unsigned);\n"
             "    if (columns != 5) sleep(20), creat(\"%s\", 0600);",
             path);
    outcome out = run_long("solution.c", "0.5, .device = \"cuda\");", more);
    assert_true(out.end == RUN_FAILED && !out.second);
    assert_int_equal(access(path, F_OK), -1);
    outcome_free(&out);
}

static void the_seed_is_the_programs(void **state)
{
    (void)state;
    outcome out;
    run_options o = order();
    o.seed = 77;
    assert_true(copy_answer(asked->id, "solution.c"));
    run(&o, &out);
    assert_int_equal(out.end, RUN_PASSED);
    assert_int_equal(lines_with(&out, "\"seed\":77"), 1);
    outcome_free(&out);
}

static void the_example_runs_and_is_not_graded(void **state)
{
    (void)state;
    outcome out;
    run_options o = order();
    o.demo = true;
    run(&o, &out);
    if (out.end != RUN_PASSED) fail_msg("%s", out.message);
    assert_false(out.graded);
    assert_true(lines_with(&out, "\"kind\":\"copy\"") > 0);
    outcome_free(&out);
}

static void a_mistake_is_reported_before_anything_runs(void **state)
{
    (void)state;
    outcome out = run_text("#include <ferry.h>\n\nint main(void)\n{\n    fy_print(fy_ones((2)))\n}\n", 0);
    assert_int_equal(out.end, RUN_NOT_COMPILED);
    assert_int_equal(out.line, 5);
    assert_message_has(&out, "semicolon");
    outcome_free(&out);
}

/* ---- programs --------------------------------------------------------------------------------- */

#define BEGIN \
    "#include <ferry.h>\n#include <signal.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n" \
    "#include <unistd.h>\n\nint main(void)\n{\n    fy_tensor *a = fy_given(\"mat1\");\n" \
    "    fy_tensor *b = fy_to(a, \"cuda\");\n"

/* The copy of line 11 was emitted before and must be in the log. */
static void assert_failed(outcome *out, const char *part)
{
    assert_message_has(out, part);
    assert_int_equal(out->end, RUN_FAILED);
    if (out->log_fd >= 0) assert_int_equal(lines_with(out, "\"dir\":\"h2d\""), 1);
    outcome_free(out);
}

static void a_null_pointer_is_a_crash(void **state)
{
    (void)state;
    outcome out = run_text(BEGIN "    volatile int *p = (int *)(long)(fy_dim(b) - 2);\n    *p = 1;\n}\n", 0);
    assert_int_equal(out.line, 13);
    assert_message_has(&out, "That was on line 13");
    assert_failed(&out, "invalid memory access");
}

static void a_device_pointer_is_explained_by_name(void **state)
{
    (void)state;
    outcome out = run_text(BEGIN "    float *p = fy_data(b);\n    return (int)p[0];\n}\n", 0);
    assert_true(lines_with(&out, "\"code\":\"device_pointer\"") == 1);
    if (!strstr(out.message, "b") || !strstr(out.message, "cuda")) fail_msg("%s", out.message);
    assert_true(*out.hint);
    assert_failed(&out, "");
}

static void a_loop_without_end_is_stopped(void **state)
{
    (void)state;
    outcome out = run_text(BEGIN "    for (volatile int i = 0;;) i = fy_dim(b);\n}\n", 3);
    assert_failed(&out, "still running after 3 s");
}

static void a_gigabyte_of_output_is_stopped(void **state)
{
    (void)state;
    outcome out = run_text(BEGIN "    static char text[65536];\n    memset(text, 'x', sizeof text);\n"
                                 "    for (int i = 0; i < 16384; i++) fwrite(text, 1, sizeof text, stdout);\n}\n",
                           0);
    assert_true(out.kept <= 1 << 20);
    assert_failed(&out, "printed more than 64 MiB");
}

static void allocation_without_end_is_stopped(void **state)
{
    (void)state;
    outcome out = run_text(BEGIN "    for (;;) {\n        char *p = malloc(1 << 20);\n"
                                 "        if (p) memset(p, 1, 1 << 20);\n    }\n}\n",
                           0);
    assert_failed(&out, "1024 MiB of memory");
}

static void a_fork_bomb_is_stopped(void **state)
{
    (void)state;
    outcome out = run_text(
        BEGIN "    for (int i = 0;; i++) {\n        if (i < 10) fork();\n        usleep(20000);\n    }\n}\n", 0);
    assert_failed(&out, "more than 16 processes");
}

/* It cannot see it, may not signal it, or that is noticed. */
static void killing_the_parent_is_prevented_or_noticed(void **state)
{
    (void)state;
    outcome out =
        run_text(BEGIN "    pid_t parent = getppid();\n    if (parent < 2 || kill(parent, SIGKILL)) return 9;\n"
                       "    pause();\n}\n",
                 0);
    assert_failed(&out, strstr(out.message, "its supervisor") ? "" : "exit status 9");
}

static void leaving_early_is_not_answering(void **state)
{
    (void)state;
    outcome out = run_text(BEGIN "    exit(fy_dim(b) - 2);\n}\n", 0);
    assert_int_equal(out.end, RUN_FAILED);
    const struct verdict_check *failed = verdict_failure(&out.verdict);
    assert_string_equal(failed->name, "answered");
    assert_failed(&out, "");
}

static void an_exit_status_is_no_pass(void **state)
{
    (void)state;
    outcome out = run_text("#include <ferry.h>\n\nint main(void)\n{\n    return 3;\n}\n", 0);
    assert_int_equal(out.end, RUN_FAILED);
    assert_message_has(&out, "exit status 3");
    outcome_free(&out);
}

/* Descriptors were closed before the answer: the mapping suffices. */
static void closing_every_descriptor_loses_nothing(void **state)
{
    (void)state;
    char path[PATH_ROOM], text[8192];
    lesson_path(&where, asked, "solution.c", path);
    char *solution = file_read(path, NULL), *body = strstr(solution, "{\n");
    assert_non_null(body);
    snprintf(text, sizeof text, "#include <unistd.h>\n%.*s{\n    for (int i = 0; i < 1024; i++) close(i);\n%s",
             (int)(body - solution), solution, body + 2);
    free(solution);
    outcome out = run_text(text, 0);
    if (out.end != RUN_PASSED) fail_msg("%s", out.message);
    outcome_free(&out);
}

static void judging_what_is_no_log_is_said(void **state)
{
    (void)state;
    judgement j;
    FILE *file = tmpfile();
    judging g = judge_begin(fileno(file), asked->id, NULL, 0, asked->given, NULL);
    judge_end(&g, &j);
    fclose(file);
    assert_false(j.judged);
    assert_true(*j.trouble);
}

/* ---- the check's own mistakes --------------------------------------------------------------------------- */

static void crash_in_check(grading *g)
{
    (void)g;
    signal(SIGSEGV, SIG_DFL); /* without a sanitizer's report */
    raise(SIGSEGV);
}

static void a_check_that_crashes_is_reported_and_harms_nothing_else(void **state)
{
    (void)state;
    int at = 0;
    while (strcmp(lesson_checks[at]->id, asked->id) != 0) at++;
    const lesson_check *good = lesson_checks[at], bad = {.id = good->id, .judge = crash_in_check};
    lesson_checks[at] = &bad;
    outcome out = run_file("solution.c");
    lesson_checks[at] = good;
    assert_int_equal(out.end, RUN_ENVIRONMENT_ERROR);
    assert_message_has(&out, "the check itself crashed");
    assert_non_null(strstr(out.hint, "this is not your mistake"));
    assert_false(out.graded);
    assert_int_equal(lines_with(&out, "\"kind\":\"end\""), 1); /* the run itself is complete */
    assert_int_equal(lines_with(&out, "\"kind\":\"grade\""), 0);
    outcome_free(&out);
    out = run_file("solution.c");
    assert_int_equal(out.end, RUN_PASSED);
    outcome_free(&out);
}

/* ---- progress ----------------------------------------------------------------------------------------- */

static void corrupt_progress_is_kept_aside(void **state)
{
    (void)state;
    char path[256], bad[256];
    snprintf(path, sizeof path, "%s/my/progress.json", learner_folder);
    snprintf(bad, sizeof bad, "%s/my/progress.json.bad", learner_folder);
    assert_true(folder_make(where.my) && file_write(path, "{\"01-wh", 7));
    assert_int_equal(progress_of(&where, asked).attempts, 0);
    assert_int_equal(access(bad, R_OK), 0);
    assert_int_equal(progress_record(&where, asked, false, NULL).attempts, 1);
    assert_int_equal(progress_of(&where, asked).attempts, 1);
    assert_false(progress_of(&where, asked).done);
    progress_record(&where, asked, true, NULL);
    progress_record(&where, asked, false, NULL);
    assert_true(progress_of(&where, asked).done);
    unlink(bad);
}

/* What is at `path`; the caller frees it. */
static char *text_at(const char *path)
{
    char *text = file_read(path, NULL);
    if (!text) fail_msg("%s is not there", path);
    return text;
}

static void each_damaged_progress_file_is_kept(void **state)
{
    (void)state;
    static const char *const damaged[] = {"[]", "{\"01-wh", "7"};
    static const char *const said[] = {"holds a list, and not an object", "is not valid JSON", "holds a single value"};
    char path[256], bad[300], *printed;
    snprintf(path, sizeof path, "%s/my/progress.json", learner_folder);
    for (int i = 0; i < 3; i++) {
        assert_true(file_write(path, damaged[i], strlen(damaged[i])));
        assert_int_equal(run_ferry("list", &printed), 0);
        if (!strstr(printed, said[i])) fail_msg("'%s' is not in: %s", said[i], printed);
        free(printed);
    }
    for (int i = 0; i < 3; i++) {
        if (i) snprintf(bad, sizeof bad, "%s.bad%d", path, i + 1);
        else snprintf(bad, sizeof bad, "%s.bad", path);
        char *kept = text_at(bad);
        assert_string_equal(kept, damaged[i]);
        free(kept);
        unlink(bad);
    }
}

/* Each records the hint of a lesson of its own. */
static void commands_at_once_lose_no_progress(void **state)
{
    (void)state;
    enum { AT_ONCE = 12 };
    char command[1024];
    snprintf(command, sizeof command, "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do %s hint $i >/dev/null 2>&1 & done; wait",
             ferry_command);
    for (int round = 0; round < 2; round++) assert_int_equal(system(command), 0);
    for (int i = 1; i <= AT_ONCE; i++) {
        char number[16], err[2048];
        snprintf(number, sizeof number, "%d", i);
        const lesson *l = lesson_find(&lessons, number, err, sizeof err);
        if (progress_of(&where, l).hints != 2) fail_msg("%s has lost a hint", l->id);
    }
}

static void progress_is_kept_where_no_lock_can_be_had(void **state)
{
    (void)state;
    char path[256];
    int before = progress_of(&where, asked).attempts;
    snprintf(path, sizeof path, "%s/my/.progress.lock", learner_folder);
    unlink(path);
    assert_true(folder_make(path)); /* cannot be opened for writing, by root either */
    assert_int_equal(progress_record(&where, asked, false, NULL).attempts, before + 1);
    assert_int_equal(progress_of(&where, asked).attempts, before + 1);
    rmdir(path);
}

static void the_board_keeps_the_five_best_runs_that_passed(void **state)
{
    (void)state;
    const double used[] = {90, 70.5, 80, 70.5, 60, 95, 75, 99};
    const int place[] = {0, 0, 1, 0, 0, 4, 2, -1};
    for (int i = 0; i < 8; i++) assert_int_equal(progress_record(&where, asked, true, &used[i]).board.latest, place[i]);
    const double less = 1;
    progress_record(&where, asked, false, &less); /* it failed */
    board b = progress_of(&where, asked).board;
    const double best[] = {60, 70.5, 75, 80, 90};
    assert_int_equal(b.count, BOARD_MOST);
    assert_int_equal(b.latest, -1);
    for (int i = 0; i < BOARD_MOST; i++) assert_true(b.best[i].used == best[i]);
    assert_int_equal(b.best[1].attempt - b.best[4].attempt, 1); /* of equal ones the first */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_solution_passes_and_the_log_says_so),
        cmocka_unit_test(the_starter_fails_at_a_line_with_expected_and_got),
        cmocka_unit_test(a_lucky_answer_fails_in_the_second_run),
        cmocka_unit_test(a_long_judgement_has_the_same_verdict),
        cmocka_unit_test(a_long_judgement_that_fails_ends_the_second_run),
        cmocka_unit_test(the_seed_is_the_programs),
        cmocka_unit_test(the_example_runs_and_is_not_graded),
        cmocka_unit_test(a_mistake_is_reported_before_anything_runs),
        cmocka_unit_test(a_null_pointer_is_a_crash),
        cmocka_unit_test(a_device_pointer_is_explained_by_name),
        cmocka_unit_test(a_loop_without_end_is_stopped),
        cmocka_unit_test(a_gigabyte_of_output_is_stopped),
        cmocka_unit_test(allocation_without_end_is_stopped),
        cmocka_unit_test(a_fork_bomb_is_stopped),
        cmocka_unit_test(killing_the_parent_is_prevented_or_noticed),
        cmocka_unit_test(leaving_early_is_not_answering),
        cmocka_unit_test(an_exit_status_is_no_pass),
        cmocka_unit_test(closing_every_descriptor_loses_nothing),
        cmocka_unit_test(judging_what_is_no_log_is_said),
        cmocka_unit_test(a_check_that_crashes_is_reported_and_harms_nothing_else),
        cmocka_unit_test(corrupt_progress_is_kept_aside),
        cmocka_unit_test(each_damaged_progress_file_is_kept),
        cmocka_unit_test(commands_at_once_lose_no_progress),
        cmocka_unit_test(progress_is_kept_where_no_lock_can_be_had),
        cmocka_unit_test(the_board_keeps_the_five_best_runs_that_passed),
    };
    return cmocka_run_group_tests(tests, open_school, close_school);
}
