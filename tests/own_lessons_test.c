/* own_lessons_test.c: a teacher's own folder of lessons: made by `ferry new-lesson`, proved, listed, run and graded
 * with --lessons; and what is said of a check.c that does not compile, does not load, or crashes. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "learner_folder.h"

#define ID "01-twice"

static char lessons[128]; /* the teacher's folder */

static int make_folders(void **state)
{
    char arguments[256], *printed;
    if (make_learner_folder(state)) return -1;
    snprintf(lessons, sizeof lessons, "%s/mine", learner_folder);
    snprintf(arguments, sizeof arguments, "new-lesson %s/" ID, lessons);
    int status = run_ferry(arguments, &printed);
    free(printed);
    return status;
}

static void path_of(const char *file, char path[256]) { snprintf(path, 256, "%s/" ID "/%s", lessons, file); }

static char *text_of(const char *file)
{
    char path[256];
    path_of(file, path);
    char *text = file_read(path, NULL);
    if (!text) fail_msg("%s cannot be read", path);
    return text;
}

static void write_text(const char *file, const char *text)
{
    char path[256];
    path_of(file, path);
    assert_true(file_write(path, text, strlen(text)));
}

/* Replaces the first `from` in the lesson's file; the former text, which the caller gives to put_back. */
static char *change(const char *file, const char *from, const char *to)
{
    char *was = text_of(file), *at = strstr(was, from), *now = NULL;
    if (!at) fail_msg("%s does not contain '%s'", file, from);
    assert_true(asprintf(&now, "%.*s%s%s", (int)(at - was), was, to, at + strlen(from)) > 0);
    write_text(file, now);
    free(now);
    return was;
}

static void put_back(const char *file, char *was)
{
    write_text(file, was);
    free(was);
}

/* Runs `ferry COMMAND --lessons FOLDER`: its status, and each of the parts in its output. */
static void expect_all(const char *command, int status, const char *const *parts)
{
    char arguments[512], *printed;
    snprintf(arguments, sizeof arguments, "%s --lessons %s", command, lessons);
    int got = run_ferry(arguments, &printed);
    for (; *parts; parts++)
        if (got != status || !strstr(printed, *parts))
            fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, *parts, printed);
    free(printed);
}
#define expect(command, status, ...) expect_all(command, status, (const char *const[]){__VA_ARGS__, NULL})

static void hand_in(const char *file)
{
    char *text = text_of(file);
    assert_true(write_answer(ID, text));
    free(text);
}

/* ---- lessons that hold ------------------------------------------------------------------------------- */

static void a_new_lesson_is_complete_and_holds(void **state)
{
    (void)state;
    expect("prove " ID, 0, "ok    demo.c runs, and answers 2 questions",
           "ok    starter.c fails ran-on-the-card: x was never copied to the card",
           "ok    solution.c passes with 5 seeds and both inputs", "ok    wrong_on_cpu.c fails ran-on-the-card: ");
    expect("prove --all", 0, "1 of 1 lessons hold");
    char path[128];
    snprintf(path, sizeof path, "%s/my/progress.json", learner_folder);
    assert_int_not_equal(access(path, F_OK), 0); /* proving is nobody's progress */
}

static void a_new_lesson_refuses_bad_names_and_existing_folders(void **state)
{
    (void)state;
    static const char *const bad[] = {"1-twice", "01-Twice", "01twice", "01-", "xx-twice", "01--a", "01-a_b"};
    char arguments[256], *printed;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        snprintf(arguments, sizeof arguments, "new-lesson %s/%s", lessons, bad[i]);
        assert_int_equal(run_ferry(arguments, &printed), 1);
        assert_non_null(strstr(printed, "a lesson cannot be called"));
        free(printed);
    }
    char *before = text_of("check.c");
    snprintf(arguments, sizeof arguments, "new-lesson %s/" ID, lessons);
    assert_int_equal(run_ferry(arguments, &printed), 1);
    assert_non_null(strstr(printed, "File exists; choose another name"));
    free(printed);
    char *after = text_of("check.c");
    assert_string_equal(before, after);
    free(before), free(after);
    expect("list", 0, ID);
    snprintf(arguments, sizeof arguments, "new-lesson %s/01-other", lessons);
    assert_int_equal(run_ferry(arguments, &printed), 1);
    assert_non_null(strstr(printed, "01-other has the number of " ID ": choose another"));
    free(printed);
}

static void one_broken_lesson_stops_no_other(void **state)
{
    (void)state;
    char arguments[256], *printed;
    snprintf(arguments, sizeof arguments, "new-lesson %s/02-broken", lessons);
    assert_int_equal(run_ferry(arguments, &printed), 0);
    free(printed);
    char *was = change("../02-broken/lesson.json", "\"summary\": ", "\"summary\" ");
    hand_in("solution.c");
    expect("list", 0, "done     " ID, "02-broken/lesson.json:4: no valid JSON from '\"Work", "? mend it there",
           "(the other lessons work without it)");
    expect("grade 1", 0, "Passed.");
    expect("check-all", 0, "1 of 1 file passed\n");
    expect("grade 2", 2, "the lesson 02-broken is left out until its lesson.json is mended");
    expect("prove 2", 1, "02-broken/lesson.json:4: ");
    expect("prove --all", 1, "02-broken\n  FAIL  ", "1 of 2 lessons hold");
    put_back("../02-broken/lesson.json", was);
    was = change("../02-broken/lesson.json", "\"kind\": \"\"\n}", "\"kind\": \"\"");
    expect("list", 0, "lesson.json:35: the JSON ends too early; mend it there");
    put_back("../02-broken/lesson.json", was);
    expect("list", 0, "new      02-broken");
    snprintf(arguments, sizeof arguments, "rm -r %s/02-broken", lessons);
    assert_int_equal(system(arguments), 0);
}

static void own_lessons_replace_those_of_ferry(void **state)
{
    (void)state;
    char *printed;
    expect("list", 0, "new      " ID, "Twice, on the card (5 min)");
    expect("grade 02-to-returns", 2, "there is no lesson '02-to-returns'; all lessons: FERRY_LESSONS=");
    expect("next", 0, "/mine/" ID "/README.md", "/mine " /* the commands to copy name the folder */);
    expect("hint 1", 0, "hint 1 of 3: Where is x?");
    expect("solution 1 --yes", 0, "fy_to(x, \"cuda\")");
    expect("reset 1 --yes", 0, ID ".c is the starter again");
    setenv("FERRY_LESSONS", lessons, 1);
    assert_int_equal(run_ferry("list", &printed), 0);
    assert_non_null(strstr(printed, ID));
    assert_null(strstr(printed, "02-to-returns"));
    free(printed);
    setenv("FERRY_LESSONS", "lessons", 1); /* Ferry's own, by another way */
    assert_int_equal(run_ferry("list", &printed), 0);
    assert_non_null(strstr(printed, "02-to-returns"));
    free(printed);
    setenv("FERRY_LESSONS", "/nowhere", 1);
    assert_int_equal(run_ferry("list", &printed), 1);
    assert_non_null(strstr(printed, "there is no folder of lessons '/nowhere'; name one with --lessons DIR"));
    free(printed);
    unsetenv("FERRY_LESSONS");
}

static void a_starter_fails_and_a_solution_passes(void **state)
{
    (void)state;
    hand_in("starter.c");
    expect("grade 1", 1, "FAIL ran-on-the-card", "my/" ID ".c:9: x was never copied to the card");
    hand_in("solution.c");
    expect("grade 1", 0, "Passed. It also passed with another seed and other sizes.");
    expect("check-all", 0, "1 of 1 file passed\n");
}

static void the_example_is_built_when_it_is_asked_for(void **state)
{
    (void)state;
    expect("run 1 --demo", 0, "copy    numbers -> there", "demo.c:9");
    expect("predict 1 1 1", 0, "right  copies to the card: 1", "right  copies back to the CPU: 1");
    char *was = change("demo.c", "fy_mul(there, 3)", "fy_mul(there, )");
    expect("run 1 --demo", 1, "lessons/" ID "/demo.c:11: ");
    expect("prove 1", 1, "FAIL  demo.c:11: ");
    put_back("demo.c", was);
}

static void the_variants_of_an_example_are_proved(void **state)
{
    (void)state;
    expect("prove 1", 0, "  ok    demo.c has 2 variants, and they answer differently");
    expect("predict 1 1 2 --student ada", 0, "copies back to the CPU");
    char *was = change("lesson.json", "fy_add(back, 1)", "fy_add(back, )");
    expect("prove 1", 1, "FAIL  demo.c (variant 1 of 2):");
    put_back("lesson.json", was);
    was = change("lesson.json", "fy_tensor *again = fy_cpu(there);", "fy_tensor *again = fy_relu(back);");
    expect("prove 1", 1, "FAIL  all variants of demo.c have the same answers: change \"vary\"");
    put_back("lesson.json", was);
    was = change("lesson.json", "{\"text\": \"    fy_print(back);", "{\"text\": \"    fy_show(back);");
    expect("prove 1", 1, "/demo.c has no '    fy_show(back);': mend \"vary\" in the lesson.json");
    put_back("lesson.json", was);
}

static void a_class_is_graded_by_own_checks(void **state)
{
    (void)state;
    char folder[128], file[256], command[512], *text = text_of("solution.c");
    snprintf(folder, sizeof folder, "%s/class/ada", learner_folder);
    assert_true(folder_make(folder));
    snprintf(file, sizeof file, "%s/" ID ".c", folder);
    assert_true(file_write(file, text, strlen(text)));
    free(text);
    snprintf(command, sizeof command, "grade-class %s/class --csv %s/class.csv", learner_folder, learner_folder);
    expect(command, 0, "1 students, 1 submissions graded, 1 passed"); /* new-lesson wrote points, too */
    snprintf(file, sizeof file, "%s/class.csv", learner_folder);
    unlink(file);
    snprintf(file, sizeof file, "%s/points.json", lessons);
    unlink(file);
    expect(command, 1, "/mine/points.json", "name the file of points with --points");
    snprintf(file, sizeof file, "%s/points.json", lessons);
    assert_true(file_write(file, "{\"" ID "\": {\"ran-on-the-card\": 3}}", 36));
    expect(command, 0, "1 students, 1 submissions graded, 1 passed");
    snprintf(file, sizeof file, "%s/class.csv", learner_folder);
    text = file_read(file, NULL);
    assert_non_null(strstr(text, "ada," ID ",total,3,"));
    assert_non_null(strstr(text, ",3,passed\n"));
    free(text);
    char *was = change("check.c", "judge(grading *g)", "judge(gradin *g)");
    expect(command, 1, "ferry: " ID "/check.c does not compile:");
    put_back("check.c", was);
}

/* ---- what a teacher may get wrong ------------------------------------------------------------------------ */

static void a_broken_check_is_told_in_the_compilers_words(void **state)
{
    (void)state;
    hand_in("solution.c");
    char *was = change("check.c", "check_numbers(g);", "check_number(g);");
    expect("grade 1", 1, ID "/check.c does not compile:", "check.c:15:5: error: ", "check_number",
           "whoever wrote the lesson has to mend its check.c");
    expect("prove 1", 1, "FAIL  " ID "/check.c does not compile:", "check.c:15:5: error: ");
    put_back("check.c", was);
    expect("grade 1", 0, "Passed.");
    was = change("check.c", "lesson_check_01", "lesson_check_02");
    expect("grade 1", 1, ID "/check.c has to end with: const lesson_check lesson_check_01 = {\"" ID "\", judge};");
    put_back("check.c", was);
}

static void a_changed_check_and_its_headers_are_built_again(void **state)
{
    (void)state;
    hand_in("solution.c");
    write_text("most.h", "enum { MOST = 1 };\n");
    char *was = change("check.c", "#include \"grade.h\"\n", "#include \"grade.h\"\n#include \"most.h\"\n");
    char *with = change("check.c", "FY_WORD_h2d, 1, false", "FY_WORD_h2d, MOST, false");
    free(with);
    expect("grade 1", 0, "Passed.");
    write_text("most.h", "enum { MOST = 0 };\n");
    expect("grade 1", 1, "FAIL one-copy");
    put_back("check.c", was);
    expect("grade 1", 0, "Passed.");
}

/* It is what a verdict has that was written into the grader's memory from elsewhere. */
static void a_verdict_without_a_checks_name_does_not_pass(void **state)
{
    (void)state;
    hand_in("solution.c");
    char *was = change("check.c", "    check_numbers(g);",
                       "    check(g, \"\", true, NULL, \"\", \"\", \"\");\n    check_numbers(g);");
    expect("grade 1", 1, "Nothing was checked.");
    put_back("check.c", was);
}

static void a_check_that_crashes_is_reported_and_ferry_goes_on(void **state)
{
    (void)state;
    hand_in("solution.c");
    char *was = change("check.c", "    check_numbers(g);", "    __builtin_trap();");
    expect("grade 1", 1, "the check itself crashed (", "whoever wrote the lesson has to mend its check.c");
    expect("grade --all", 1, "the check itself crashed", "0 of 1 file passed\n");
    put_back("check.c", was);
}

static void proving_names_each_thing_that_does_not_hold(void **state)
{
    (void)state;
    char *was = change("lesson.json", "\"starter_fails\": \"ran-on-the-card\"", "\"starter_fails\": \"one-copy\"");
    expect("prove 1", 1,
           "FAIL  starter.c first fails ran-on-the-card with the inputs of \"given\", and must fail one-copy");
    put_back("lesson.json", was);
    was = change("solution.c", "fy_add(on_card, on_card)", "fy_mul(on_card, fy_size(x, 0) == 8 ? 2 : 3)");
    expect("prove 1", 1, "FAIL  solution.c fails with seed 6 and the inputs of \"given2\": ", "ok    starter.c");
    put_back("solution.c", was);
    was = change("README.md", "## What to watch", "## What to see");
    expect("prove 1", 1, "FAIL  README.md has no heading \"## What to watch\"");
    put_back("README.md", was);
    char *solution = text_of("solution.c");
    write_text("wrong_none.c", solution);
    expect("prove 1", 1, "FAIL  lesson.json does not name wrong_none.c in \"wrong\"");
    was = change("lesson.json", "\"wrong_on_cpu.c\"", "\"wrong_none.c\"");
    expect("prove 1", 1, "FAIL  wrong_none.c passes with the inputs of \"given\", and must fail ran-on-the-card");
    put_back("lesson.json", was);
    char path[256];
    path_of("wrong_none.c", path);
    unlink(path);
    path_of("solution.c", path);
    unlink(path);
    expect("solution 1 --yes", 1, "has no solution.c here: who wrote the lesson keeps it elsewhere");
    expect("prove 1", 0, "--    solution.c is not here, so that it passes is not proved");
    put_back("solution.c", solution);
}

static void proving_names_each_mistake_in_lesson_json(void **state)
{
    (void)state;
    char *was = change("lesson.json", "\"Where is x? And where does fy_add compute?\"", "\" \"");
    free(change("lesson.json", "count copy dir=h2d", "count nonsens"));
    free(change("lesson.json", "count copy dir=d2h", "count copy direction=d2h"));
    free(change("lesson.json", "{\"ask\"", "{\"choices\": [\"few\"], \"from\": [0, 0.5], \"ask\""));
    free(change("lesson.json", "\"minutes\": 5", "\"minutes\": \"many\""));
    free(change("lesson.json", "\"title\": ", "\"titel\": "));
    free(change("lesson.json", "\"" ID "\"", "\"02-other\""));
    free(change("lesson.json", "\"kind\": \"\"\n}", "\"kind\": \"\"\n}\n}"));
    char *starter = change("starter.c", "    // --- your code ---\n", "");
    expect("prove 1", 1, "FAIL  lesson.json: hint 1 is empty: write a sentence",
           "FAIL  lesson.json: question 1 of \"predict\": there is no kind of event 'nonsens'",
           "FAIL  lesson.json: \"choices\" of question 1 of \"predict\" must be two to 5 texts",
           "FAIL  lesson.json: \"from\" of question 1 of \"predict\" must be a number for each choice",
           "question 2 of \"predict\": an event of the kind copy has no 'direction'",
           "FAIL  lesson.json: \"minutes\" must be a number",
           "FAIL  lesson.json: there is no \"titel\" in a lesson: did you mean \"title\"?",
           "FAIL  lesson.json: there is no \"title\": add it",
           "FAIL  lesson.json: \"id\" is \"02-other\": it must be the name of the folder, \"" ID "\"",
           "FAIL  lesson.json:36: text follows the end of the JSON",
           "FAIL  starter.c has no lines \"// --- your code ---\" and \"// --- end ---\"");
    put_back("starter.c", starter);
    put_back("lesson.json", was);
    was = change("lesson.json", "\"Where is x? And where does fy_add compute?\",", "");
    free(change("lesson.json", "count copy dir=h2d", "sum copy.src.bytes"));
    free(change("lesson.json", "count copy dir=d2h", "how many"));
    expect("prove 1", 1, "\"hints\" has 2 of them: give three", "an event of the kind copy has no 'src.bytes'",
           "'how many' is no query");
    put_back("lesson.json", was);
}

static const char *dirname_of_ferry(void)
{
    static char folder[sizeof ferry_command];
    snprintf(folder, sizeof folder, "%s", ferry_command);
    *strrchr(folder, '/') = '\0'; /* BUILD/tests/.. */
    return folder;
}

static void a_learners_file_cannot_read_the_lesson_or_the_grader(void **state)
{
    (void)state;
    char text[512];
    snprintf(text, sizeof text, "#include \"%s/" ID "/solution.c\"\n", lessons);
    assert_true(write_answer(ID, text));
    expect("grade 1", 1, "which belongs to the lesson");
    snprintf(text, sizeof text, "#include \"%.400s/grader/text.h\"\n", dirname_of_ferry());
    assert_true(write_answer(ID, text));
    expect("grade 1", 1, "which is inside Ferry");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_new_lesson_is_complete_and_holds),
        cmocka_unit_test(a_new_lesson_refuses_bad_names_and_existing_folders),
        cmocka_unit_test(own_lessons_replace_those_of_ferry),
        cmocka_unit_test(a_starter_fails_and_a_solution_passes),
        cmocka_unit_test(one_broken_lesson_stops_no_other),
        cmocka_unit_test(the_example_is_built_when_it_is_asked_for),
        cmocka_unit_test(the_variants_of_an_example_are_proved),
        cmocka_unit_test(a_class_is_graded_by_own_checks),
        cmocka_unit_test(a_broken_check_is_told_in_the_compilers_words),
        cmocka_unit_test(a_changed_check_and_its_headers_are_built_again),
        cmocka_unit_test(a_verdict_without_a_checks_name_does_not_pass),
        cmocka_unit_test(a_check_that_crashes_is_reported_and_ferry_goes_on),
        cmocka_unit_test(proving_names_each_mistake_in_lesson_json),
        cmocka_unit_test(proving_names_each_thing_that_does_not_hold),
        cmocka_unit_test(a_learners_file_cannot_read_the_lesson_or_the_grader),
    };
    return cmocka_run_group_tests_name("own lessons", tests, make_folders, remove_learner_folder);
}
