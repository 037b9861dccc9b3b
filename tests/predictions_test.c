/* predictions_test.c: each student's own predictions: the variant of an example, its sheet, and what is handed in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <cjson/cJSON.h>
#include <sys/stat.h>
#include <unistd.h>

#include "learner_folder.h"
#include "prediction_sheet.h"

#define ID "05-bytes-on-the-bus"

static char class_folder[PATH_ROOM], secret[PATH_ROOM];

static char *expect(const char *arguments, int status, const char *part)
{
    char *printed;
    int got = run_ferry(arguments, &printed);
    if (got != status || !strstr(printed, part))
        fail_msg("ferry %s: status %d (wanted %d), '%s' wanted in:\n%s", arguments, got, status, part, printed);
    return printed;
}

static char *file_in_class(const char *student, const char *ending)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%.2000s/%s/" ID "%s", class_folder, student, ending);
    char *text = file_read(path, NULL);
    if (!text) fail_msg("there is no %s", path);
    return text;
}

static void hand_in(const char *student, const char *ending, const char *text)
{
    char path[PATH_ROOM];
    snprintf(path, sizeof path, "%.2000s/%s/" ID "%s", class_folder, student, ending);
    assert_true(file_write(path, text, strlen(text)));
}

static void new_class(const char *name)
{
    static const char *const students[] = {"ada", "bob", "cyd", "dan", "eve", "fay"};
    char path[PATH_ROOM];
    snprintf(class_folder, sizeof class_folder, "%s/%s", learner_folder, name);
    snprintf(secret, sizeof secret, "%s/secret", learner_folder);
    assert_true(file_write(secret, "a secret of the teacher", 23));
    assert_int_equal(chmod(secret, 0600), 0);
    for (size_t i = 0; i < sizeof students / sizeof *students; i++) {
        snprintf(path, sizeof path, "%.2000s/%s", class_folder, students[i]);
        assert_true(folder_make(path));
    }
}

static void hand_out(const char *more, int status, const char *part)
{
    char arguments[PATH_ROOM * 7];
    snprintf(arguments, sizeof arguments, "handout %s %s", class_folder, more);
    free(expect(arguments, status, part));
}

/* The first line of the text that has these words; "": none. It is overwritten by the next call. */
static const char *line_with(const char *text, const char *words)
{
    static char line[512];
    const char *at = strstr(text, words), *begin = at;
    while (begin && begin > text && begin[-1] != '\n') begin--;
    snprintf(line, sizeof line, "%.*s", begin ? (int)strcspn(begin, "\n") : 0, begin ? begin : "");
    return line;
}

static void students_are_asked_about_examples_of_their_own(void **state)
{
    (void)state;
    new_class("own");
    hand_out("5", 0, "6 students, 6 sheets written, 0 kept as they were");
    static const char *const students[] = {"ada", "bob", "cyd", "dan", "eve", "fay"};
    int different = 0;
    char *common = file_read("lessons/" ID "/demo.c", NULL), *first = file_in_class("ada", ".predict.c");
    char *questions = strstr(first, "\n/* Lesson " ID ": predictions of ada.");
    assert_non_null(questions);
    assert_non_null(strstr(questions, " * 2. conversions that the CPU does (a whole number)\n *    answer:\n"));
    for (size_t i = 0; i < sizeof students / sizeof *students; i++) {
        char *sheet = file_in_class(students[i], ".predict.c");
        if (!strncmp(sheet, common, strlen(common))) fail_msg("%s has the example of the page", students[i]);
        different += strncmp(sheet, first, (size_t)(questions - first)) != 0;
        free(sheet);
    }
    assert_true(different > 0);
    free(common);
    free(first);
}

static void a_sheet_with_answers_is_never_overwritten(void **state)
{
    (void)state;
    new_class("kept");
    hand_in("bob", ".predict.c", "my answers");
    hand_out("5", 0, "6 students, 5 sheets written, 1 kept as they were");
    char *text = file_in_class("bob", ".predict.c");
    assert_string_equal(text, "my answers");
    free(text);
}

static void a_sheet_needs_students_and_lessons(void **state)
{
    (void)state;
    char arguments[PATH_ROOM * 2];
    new_class("errors");
    hand_out("77", 2, "there is no lesson '77'");
    hand_out("5 --secret /nowhere", 1, "cannot read the secret /nowhere");
    snprintf(arguments, sizeof arguments, "handout %s/ada 5", class_folder);
    free(expect(arguments, 1, "make a folder for each: mkdir "));
    free(expect("handout", 2, "usage: ferry handout DIR"));
    free(expect("handout /nowhere 5", 1, "cannot read /nowhere"));
}

static void a_secret_makes_other_examples(void **state)
{
    (void)state;
    static const char *const students[] = {"ada", "bob", "cyd", "dan", "eve", "fay"};
    char arguments[PATH_ROOM * 2];
    int different = 0;
    new_class("open");
    hand_out("5", 0, "6 sheets written");
    char *open[6];
    for (int i = 0; i < 6; i++) open[i] = file_in_class(students[i], ".predict.c");
    new_class("closed");
    snprintf(arguments, sizeof arguments, "5 --secret %s", secret);
    hand_out(arguments, 0, "6 sheets written");
    for (int i = 0; i < 6; i++) {
        char *closed = file_in_class(students[i], ".predict.c");
        different += strcmp(open[i], closed) != 0;
        free(closed);
        free(open[i]);
    }
    assert_true(different > 0);
}

/* The same example as on the sheet, and its answers: what grading compares with. */
static void answers_of(const char *student, const char *options, char bytes[32], char conversions[32])
{
    char arguments[PATH_ROOM * 5];
    snprintf(arguments, sizeof arguments, "predict 5 7 7 --student %s %s", student, options);
    char *printed = expect(arguments, 0, "wrong  bytes of the first copy to the card: you said 7; it is ");
    assert_int_equal(sscanf(strstr(printed, "to the card: you"), "to the card: you said 7; it is %31[0-9]", bytes), 1);
    assert_int_equal(sscanf(strstr(printed, "CPU does: you"), "CPU does: you said 7; it is %31[0-9]", conversions), 1);
    free(printed);
}

static void a_student_predicts_on_the_terminal_too(void **state)
{
    (void)state;
    char arguments[PATH_ROOM * 5], bytes[32], conversions[32];
    new_class("terminal");
    hand_out("5", 0, "6 sheets written");
    for (const char *const *s = (const char *const[]){"ada", "bob", "cyd", NULL}; *s; s++) {
        char *sheet = file_in_class(*s, ".predict.c");
        snprintf(arguments, sizeof arguments, "predict 5 --student %s </dev/null", *s);
        char *shown = expect(arguments, 2, line_with(sheet, "fy_tensor *pixels"));
        assert_non_null(strstr(shown, "this is demo.c, your own example, with other lines than on the page"));
        assert_non_null(strstr(shown, line_with(sheet, "fy_tensor *back")));
        int rows = 0, columns = 0;
        assert_int_equal(sscanf(strstr(sheet, "fy_full(("), "fy_full((%d, %d)", &rows, &columns), 2);
        answers_of(*s, "", bytes, conversions);
        assert_int_equal(atoi(bytes), rows * columns * 4); /* float32, and one call converts first */
        assert_int_equal(atoi(conversions), strstr(sheet, "fy_to(fy_to(floats_there") ? 1 : 2);
        free(shown);
        free(sheet);
    }
}

/* Fills in the sheet: the words go behind the first and the second "answer:". */
static void answer(const char *student, const char *first, const char *second)
{
    char *sheet = file_in_class(student, ".predict.c"), text[8192];
    char *one = strstr(sheet, "answer:"), *two = one ? strstr(one + 1, "answer:") : NULL;
    assert_non_null(two);
    snprintf(text, sizeof text, "%.*s %s%.*s %s%s", (int)(one + 7 - sheet), sheet, first, (int)(two - one), one + 7,
             second, two + 7);
    hand_in(student, ".predict.c", text);
    free(sheet);
}

static void what_is_handed_in_is_compared_with_ones_own_run(void **state)
{
    (void)state;
    char arguments[PATH_ROOM * 5], path[PATH_ROOM], bytes[32], conversions[32], with[PATH_ROOM + 16];
    new_class("graded");
    snprintf(with, sizeof with, "--secret %s", secret);
    char *starter = file_read("lessons/" ID "/starter.c", NULL);
    for (const char *const *s = (const char *const[]){"ada", "bob", "cyd", "dan", NULL}; *s; s++)
        hand_in(*s, ".c", starter);
    free(starter);
    snprintf(arguments, sizeof arguments, "5 --secret %s", secret);
    hand_out(arguments, 0, "6 sheets written");
    answers_of("ada", with, bytes, conversions);
    answer("ada", bytes, conversions);
    answer("bob", "7 \t", "many*/");
    snprintf(path, sizeof path, "%s/graded/dan/" ID ".predict.c", learner_folder);
    assert_int_equal(unlink(path), 0);
    snprintf(path, sizeof path, "%s/worth.json", learner_folder);
    static const char points[] = "{\"" ID "\": {\"predicted-1\": 2, \"predicted-2\": 0.5, \"same-device\": 1}}";
    assert_true(file_write(path, points, sizeof points - 1));
    snprintf(arguments, sizeof arguments, "grade-class %s --csv %s/graded.csv --points %s %s", class_folder,
             learner_folder, path, with);
    free(expect(arguments, 0, "6 students, 6 submissions graded"));
    snprintf(path, sizeof path, "%s/graded.csv", learner_folder);
    char *rows = file_read(path, NULL);
    assert_non_null(strstr(rows, "ada," ID ",predicted-1,2,,2,\nada," ID ",predicted-2,0.5,,0.5,\n"));
    const char *total = strstr(rows, "ada," ID ",total,2.5,");
    assert_true(total && !strncmp(strchr(total, '\n') - 11, ",3.5,failed", 11));
    assert_non_null(
        strstr(rows, "bob," ID ",predicted-1,0,,2,\"bytes of the first copy to the card: the answer was 7; it"));
    assert_non_null(
        strstr(rows, "bob," ID ",predicted-2,0,,0.5,'many' does not answer: conversions that the CPU does\n"));
    assert_non_null(strstr(rows, "cyd," ID ",predicted-1,0,,2,no answer to: bytes of the first copy to the card\n"));
    assert_non_null(strstr(rows, "dan," ID ",predicted-1,0,,2,no file of predictions was handed in\n"));
    assert_non_null(strstr(rows, "eve," ID ",submitted,0,,0,no file was handed in\n"));
    free(rows);
}

static void digits_in_groups_are_a_number(void **state)
{
    (void)state;
    const lesson_question asks_number = {.ask = "bytes"};
    assert_int_equal(question_guess(&asks_number, "480 000"), 480000);
    assert_int_equal(question_guess(&asks_number, "480,000"), 480000);
    assert_int_equal(question_guess(&asks_number, "1,480,000"), 1480000);
    assert_int_equal(question_guess(&asks_number, "480000"), 480000);
    assert_int_equal(question_guess(&asks_number, "480 00"), NO_ANSWER);
    assert_int_equal(question_guess(&asks_number, "1,480 000"), NO_ANSWER);
    assert_int_equal(question_guess(&asks_number, "4800 000"), NO_ANSWER);
    assert_int_equal(question_guess(&asks_number, "4 or 5"), NO_ANSWER);
    assert_int_equal(question_guess(&asks_number, ""), NO_ANSWER);
}

static void gradescope_gets_predictions_as_tests(void **state)
{
    (void)state;
    char arguments[PATH_ROOM * 5], path[PATH_ROOM], out[PATH_ROOM], bytes[32], conversions[32], worth[PATH_ROOM];
    new_class("scope");
    hand_out("5", 0, "6 sheets written");
    char *starter = file_read("lessons/" ID "/starter.c", NULL);
    hand_in("ada", ".c", starter);
    free(starter);
    answers_of("ada", "", bytes, conversions);
    answer("ada", bytes, "77");
    snprintf(path, sizeof path, "%.2000s/ada", class_folder);
    snprintf(worth, sizeof worth, "%s/scope.json", learner_folder);
    static const char points[] = "{\"" ID "\": {\"predicted-1\": 2, \"predicted-2\": 3, \"same-device\": 1}}";
    assert_true(file_write(worth, points, sizeof points - 1));
    snprintf(out, sizeof out, "%s/results.json", learner_folder);
    snprintf(arguments, sizeof arguments,
             "FERRY_MY=%s '%s' grade 5 05 --gradescope %s --points %s --student ada >/dev/null", path, ferry_command,
             out, worth);
    assert_int_equal(system(arguments), 0);
    char *text = file_read(out, NULL);
    cJSON *json = text ? cJSON_Parse(text) : NULL;
    assert_non_null(json);
    assert_true(cJSON_GetObjectItemCaseSensitive(json, "score")->valuedouble > 1.9); /* and no more for the second */
    assert_true(cJSON_GetObjectItemCaseSensitive(json, "score")->valuedouble < 2.1);
    const cJSON *tests = cJSON_GetObjectItemCaseSensitive(json, "tests"), *two = cJSON_GetArrayItem(tests, 1);
    assert_string_equal(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(two, "name")), ID ": predicted-2");
    assert_non_null(
        strstr(cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(two, "output")), "the answer was 77; it is"));
    assert_null(strstr(text, "not reached"));
    const cJSON *extra = cJSON_GetObjectItemCaseSensitive(json, "extra_data");
    assert_int_equal((int)cJSON_GetObjectItemCaseSensitive(extra, "max_score")->valuedouble, 6); /* named twice, once */
    cJSON_Delete(json);
    free(text);
}

static void blank_sheets_that_earn_nothing_leave_no_rows(void **state)
{
    (void)state;
    char arguments[PATH_ROOM * 5], path[PATH_ROOM];
    new_class("blank");
    hand_in("ada", ".c", "int main(void) { return 0; }\n");
    hand_out("5", 0, "6 sheets written");
    snprintf(arguments, sizeof arguments, "grade-class %s --csv %s/blank.csv", class_folder, learner_folder);
    free(expect(arguments, 0, "6 students"));
    snprintf(path, sizeof path, "%s/blank.csv", learner_folder);
    char *rows = file_read(path, NULL);
    assert_non_null(rows);
    assert_null(strstr(rows, "predicted"));
    free(rows);
}

/* Grades the class, with these options, into the table that it returns. */
static char *graded(const char *options, int status, const char *part)
{
    char arguments[PATH_ROOM * 5], path[PATH_ROOM];
    snprintf(path, sizeof path, "%.2000s.csv", class_folder);
    snprintf(arguments, sizeof arguments, "grade-class %s --csv %s %s", class_folder, path, options);
    unlink(path);
    free(expect(arguments, status, part));
    char *rows = file_read(path, NULL);
    assert_non_null(rows);
    return rows;
}

static void a_sheet_of_another_example_is_not_compared(void **state)
{
    (void)state;
    char arguments[PATH_ROOM * 5];
    static const char said[] =
        ",predicted-1,0,,0,\"the program in this sheet is not the one that this student was asked";
    new_class("mixed");
    snprintf(arguments, sizeof arguments, "5 --secret %s", secret);
    hand_out(arguments, 0, "6 sheets written");
    answer("ada", "7", "8");
    char *sheet = file_in_class("ada", ".predict.c"), wide[16384] = "\xef\xbb\xbf";
    char *to = wide + 3;
    for (const char *at = sheet; *at; at++) {
        if (*at == '\n') *to++ = '\r';
        *to++ = *at;
    }
    hand_in("ada", ".predict.c", wide);                 /* as an editor of another system saves it */
    memcpy(strstr(sheet, "fy_full(("), "fy_ones((", 9); /* another program, with the same answers */
    hand_in("bob", ".predict.c", sheet);
    hand_in("cyd", ".predict.c", "");
    free(sheet);
    snprintf(arguments, sizeof arguments, "--secret %s", secret);
    char *rows = graded(arguments, 0, "6 students"); /* no program was handed in */
    assert_non_null(strstr(rows, "first copy to the card: the answer was 7;"));
    const char *bob = strstr(rows, "bob," ID ",predicted-1"), *cyd = strstr(rows, "cyd," ID ",predicted-1");
    assert_true(bob && !strncmp(bob + strlen("bob," ID), said, strlen(said)));
    assert_true(cyd && !strncmp(cyd + strlen("cyd," ID), said, strlen(said)));
    free(rows);
    rows = graded("", 0, "6 students"); /* the teacher forgot the secret */
    assert_non_null(strstr(rows, "ada," ID));
    assert_null(strstr(rows, "the answer was 7"));
    free(rows);
}

static void a_filled_sheet_counts_before_a_blank_one(void **state)
{
    (void)state;
    char path[PATH_ROOM], to[PATH_ROOM];
    new_class("twofold");
    hand_out("5", 0, "6 sheets written");
    snprintf(path, sizeof path, "%.2000s/ada/my", class_folder);
    assert_true(folder_make(path));
    char *blank = file_in_class("ada", ".predict.c");
    answer("ada", "7", "8");
    snprintf(path, sizeof path, "%.2000s/ada/" ID ".predict.c", class_folder);
    snprintf(to, sizeof to, "%.2000s/ada/my/" ID ".predict.c", class_folder);
    assert_int_equal(rename(path, to), 0);
    hand_in("ada", ".predict.c", blank);
    free(blank);
    char *rows = graded("", 0, "6 students");
    assert_non_null(strstr(rows, "first copy to the card: the answer was 7;"));
    free(rows);
}

static void odd_bytes_leave_the_table_readable(void **state)
{
    (void)state;
    new_class("bytes");
    hand_out("5", 0, "6 sheets written");
    answer("ada", "\xff\xfe\x80", "\xe4\x1b[31m");
    char *rows = graded("", 0, "6 students");
    assert_non_null(strstr(rows, "'\xef\xbf\xbd"));
    for (const char *p = rows; *p; p++) assert_false((unsigned char)*p >= 0xfe || *p == 0x1b || *p == '\xe4');
    free(rows);
}

/* Makes a lesson of one's own with this in place of a text of one of its files. */
static void own_lesson(const char *name, const char *file, const char *from, const char *to)
{
    char arguments[PATH_ROOM * 2], path[PATH_ROOM];
    snprintf(arguments, sizeof arguments, "new-lesson %s/%s/01-own", learner_folder, name);
    free(expect(arguments, 0, ""));
    snprintf(path, sizeof path, "%s/%s/01-own/%s", learner_folder, name, file);
    char *text = file_read(path, NULL), changed[8192];
    const char *at = text ? strstr(text, from) : NULL;
    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
    assert_true(file_write(path, changed, strlen(changed)));
    free(text);
}

static void an_example_that_breaks_judges_nobody(void **state)
{
    (void)state;
    char lessons[PATH_ROOM], arguments[PATH_ROOM * 3], path[PATH_ROOM];
    static const char *const broken[] = {"*(volatile int *)0 = 1;", "return 3;", "for (;;) continue;"};
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        char name[16];
        snprintf(name, sizeof name, "breaks-%zu", i);
        own_lesson(name, "demo.c", "    fy_print(back);\n}", "    fy_print(back);\n}\n");
        snprintf(lessons, sizeof lessons, "--lessons %s/%s --seconds 1", learner_folder, name);
        char change[160];
        snprintf(change, sizeof change, "[{\"text\": \"    fy_print(back);\", \"to\": [\"    %s\"]}]", broken[i]);
        snprintf(path, sizeof path, "%s/%s/01-own/lesson.json", learner_folder, name);
        char *text = file_read(path, NULL), *vary = strstr(text, "\"vary\": "), *end = strstr(vary, "\n  ]"),
             json[8192];
        snprintf(json, sizeof json, "%.*s\"vary\": %s%s", (int)(vary - text), text, change, end + 4);
        assert_true(file_write(path, json, strlen(json)));
        free(text);
        snprintf(arguments, sizeof arguments, "predict 01 1 1 --student ada %s", lessons);
        free(expect(arguments, 1, "your answers are not judged: the example did not run to its end: "));
    }
}

/* How many times as long: in words, each from a border on. */
static void a_choice_has_a_border(void **state)
{
    (void)state;
    free(expect("predict 3 4 1", 0,
                "  right  how many times as long as the letter's copy to the card the parcel's takes: a few times"));
    free(expect("predict 3 4 'about once'", 0, "you said about once; it is a few times (line 14, 18)"));
}

static void malformed_questions_and_places_are_mistakes(void **state)
{
    (void)state;
    static const struct {
        const char *from, *to, *said;
    } cases[] = {
        {"\"vary\": [", "\"vary\": 7, \"other\": [", "\"vary\" must be a list of places"},
        {"\"text\": ", "\"text\": 8, \"was\": ", "place 1 of \"vary\" needs \"text\""},
        {"\"to\": [", "\"to\": \"x\", \"was\": [", "place 1 of \"vary\" needs \"to\""},
        {"\"to\": [", "\"to\": [9, ", "place 1 of \"vary\" needs \"to\""},
        {"\"to\": [", "\"to\": [\"1\", \"2\", \"3\", \"4\", \"5\", ", "has 7 texts in \"to\": give at most 6"},
        {"\"vary\": [", "\"vary\": [{}, {}, {}, {}, ", "\"vary\" has 5 places: give at most 4"},
        {"\"ask\": \"copies", "\"ask\": \"the answer: copies", "question 1 of \"predict\" has \"answer:\""},
        {"\"predict\": [", "\"predict\": [{}, {}, {}, ", "\"predict\" has 5 questions: ask at most 4"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char name[16], arguments[PATH_ROOM * 3];
        snprintf(name, sizeof name, "wrong-%zu", i);
        own_lesson(name, "lesson.json", cases[i].from, cases[i].to);
        snprintf(arguments, sizeof arguments, "handout %s --lessons %s/%s", class_folder, learner_folder, name);
        free(expect(arguments, 1, cases[i].said));
    }
}

static void answers_are_found_in_any_sheet(void **state)
{
    (void)state;
    char words[64];
    static const char sheet[] =
        "printf(\"answer: 9\");\n/* Lesson 1: old */\n/* Lesson 1: predictions of x.\n"
        " * 1. copies\n *    answer:   4 \t\r\n * 2. where\n *    answer:on the card*/ answer: 3";
    sheet_answer(sheet, 0, words, sizeof words);
    assert_string_equal(words, "4");
    sheet_answer(sheet, 1, words, sizeof words);
    assert_string_equal(words, "on the card");
    sheet_answer(sheet, 2, words, sizeof words);
    assert_string_equal(words, "");
    sheet_answer(sheet, 1, words, 3);
    assert_string_equal(words, "on");
    sheet_answer("", 0, words, sizeof words);
    assert_string_equal(words, "");
    sheet_answer("/* Lesson 1 answer: 3", 0, words, sizeof words); /* the comment never ends */
    assert_string_equal(words, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(students_are_asked_about_examples_of_their_own),
        cmocka_unit_test(a_sheet_with_answers_is_never_overwritten),
        cmocka_unit_test(a_sheet_needs_students_and_lessons),
        cmocka_unit_test(a_secret_makes_other_examples),
        cmocka_unit_test(a_student_predicts_on_the_terminal_too),
        cmocka_unit_test(what_is_handed_in_is_compared_with_ones_own_run),
        cmocka_unit_test(digits_in_groups_are_a_number),
        cmocka_unit_test(gradescope_gets_predictions_as_tests),
        cmocka_unit_test(blank_sheets_that_earn_nothing_leave_no_rows),
        cmocka_unit_test(answers_are_found_in_any_sheet),
        cmocka_unit_test(a_sheet_of_another_example_is_not_compared),
        cmocka_unit_test(a_filled_sheet_counts_before_a_blank_one),
        cmocka_unit_test(odd_bytes_leave_the_table_readable),
        cmocka_unit_test(an_example_that_breaks_judges_nobody),
        cmocka_unit_test(a_choice_has_a_border),
        cmocka_unit_test(malformed_questions_and_places_are_mistakes),
    };
    return cmocka_run_group_tests_name("predictions", tests, make_learner_folder, remove_learner_folder);
}
