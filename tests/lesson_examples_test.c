/* Proves the lessons' examples, of a sample of them or, where LONG is set, of all: what is shown, asked and told, and
 * the variants of it that students are asked about; and that no solution solves another lesson. TSan takes the sample.
 * Runs in the repository's root. LESSON=ID: that lesson alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>
#include <strings.h>

#include "example.h"
#include "lesson_programs.h"
#include "log_fact.h"

/* ---- the example: what is shown, asked and told ------------------------------------------------------------ */

static void watch_demo(const char *id, const cJSON *facts, const char *file)
{
    size_t size;
    char *lines = run_lesson(program_of(id, file), 0, fact(id, facts, "given"), &size), err[256];
    const char *stops = text_in(facts, "demo_stops"); /* the code of the error that the example shows */
    trace t;
    if (exit_status && !*stops) fail_msg("lessons/%s/%s ended with status %d", id, file, exit_status);
    if (!trace_of_lines(&t, lines, size, err, sizeof err)) fail_msg("lessons/%s/%s: %s", id, file, err);
    bool on_card = false;
    int most = cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(facts, "demo_is_long")) ? 400 : 120;
    for (int i = 0; i < t.count; i++) {
        const fy_event *e = &t.events[i];
        fy_bytes message = fy_event_bytes(e, e->kind == FY_KIND_error ? e->is.error.message : 0);
        on_card |= e->kind == FY_KIND_op && is_on_card(e->is.op.device);
        if (message.size && !fy_event_is(e, e->is.error.code, stops))
            fail_msg("lessons/%s/%s: %.*s", id, file, (int)message.size, message.data);
    }
    if (!on_card && strncmp(id, "00-", 3) != 0) fail_msg("lessons/%s/%s: nothing runs on the card", id, file);
    if (t.count > most) fail_msg("lessons/%s/%s: %d events are too many to watch", id, file, t.count);
    trace_free(&t);
    free(lines);
}

static void every_demo_shows_work_on_the_card(void **state)
{
    (void)state;
    each_sampled_lesson("demo.c", watch_demo);
}

/* Asks a run of one of the lesson's programs: "demo: count copy", "solution: ..." */
static void ask(const char *id, const cJSON *facts, const char *question, char *answer, size_t room)
{
    char file[64] = "demo.c", err[256];
    const char *colon = question + strspn(question, "abcdefghijklmnopqrstuvwxyz_0123456789"), *query = question;
    if (*colon == ':') query = colon + 1 + strspn(colon + 1, " ");
    else colon = NULL; /* "count tensor device=cuda:1" names no program */
    if (colon) snprintf(file, sizeof file, "%.*s.c", (int)(colon - question), question);
    size_t size;
    char *lines = run_lesson(program_of(id, file), 0, fact(id, facts, "given"), &size);
    log_facts *f = log_facts_of(lines, size);
    if (!log_fact(f, query, answer, room, err, sizeof err)) fail_msg("lessons/%s/lesson.json: %s", id, err);
    log_facts_free(f);
    free(lines);
}

static void check_questions(const char *id, const cJSON *facts, const char *file)
{
    (void)file;
    char answer[128];
    const cJSON *q;
    cJSON_ArrayForEach(q, cJSON_GetObjectItemCaseSensitive(facts, "predict"))
    {
        ask(id, facts, text_in(q, "fact"), answer, sizeof answer);
        if (!*answer || answer[strspn(answer, "0123456789")])
            fail_msg("lessons/%s/lesson.json: '%s' has no answer that is a whole number: '%s'", id, text_in(q, "ask"),
                     answer);
        if (getenv("SHOW")) print_message("%s: %s %s\n", id, text_in(q, "ask"), answer);
    }
}

static void every_prediction_has_an_answer_in_the_log(void **state)
{
    (void)state;
    each_sampled_lesson("demo.c", check_questions);
}

/* "12 KiB" is 12288, "6.5 us" is 6500, "three" is 3; half a unit of the last digit may be missing. */
static bool says(const char *words, double is)
{
    static const char *const small[] = {"zero",  "one",   "two",  "three", "four",   "five",  "six",
                                        "seven", "eight", "nine", "ten",   "eleven", "twelve"};
    static const struct {
        const char *name;
        double factor;
    } units[] = {{"KiB", 1024},    {"MiB", 1048576}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9},
                 {"\u00b5s", 1e3}, {"us", 1e3},      {"ms", 1e6}, {"ns", 1}};
    char digits[64];
    int n = 0, decimals = -1;
    for (size_t i = 0; i < sizeof small / sizeof *small; i++)
        if (!strncasecmp(words, small[i], strlen(small[i])) && !isalpha((unsigned char)words[strlen(small[i])]))
            return is >= (double)i - 0.1 && is <= (double)i + 0.1;
    const char *p = words;
    for (; *p && (isdigit((unsigned char)*p) || strchr(",.", *p)) && n < 60; p++) {
        if (*p == '.') decimals = 0;
        else if (*p != ',' && decimals >= 0) decimals++;
        if (*p != ',') digits[n++] = *p;
    }
    digits[n] = '\0';
    double value = strtod(digits, NULL), step = 0.5;
    for (int i = 0; i < decimals; i++) step /= 10;
    while (*p == ' ') p++;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strncmp(p, units[i].name, strlen(units[i].name))) {
            value *= units[i].factor;
            step *= units[i].factor;
            break;
        }
    if (decimals < 0 && step < 1) step = 0.1;
    return n > 0 && is >= value - step && is <= value + step;
}

static void check_numbers(const char *id, const cJSON *facts, const char *file)
{
    (void)file;
    char answer[128];
    const cJSON *number;
    cJSON_ArrayForEach(number, cJSON_GetObjectItemCaseSensitive(facts, "numbers"))
    {
        const char *question = cJSON_GetStringValue(number);
        if (!question || !strncmp(question, "given: ", 7)) continue; /* by definition, not by the run */
        ask(id, facts, question, answer, sizeof answer);
        if (!says(number->string, strtod(answer, NULL)))
            fail_msg("lessons/%s/README.md says '%s'; the run says %s (%s)", id, number->string, answer, question);
    }
}

/* The limit of this name; texts leave out a unit, or name several cards. NULL: the verdict has none. */
static const struct verdict_check *limit_named(const verdict *v, const char *name)
{
    for (int i = 0; i < v->checks; i++) {
        const struct verdict_check *c = &v->check[i];
        if (*c->limits && (strstr(c->limits, name) || !strncmp(name, c->limits, strlen(c->limits)))) return c;
    }
    return NULL;
}

/* "copies to the card   2  (x, y)": does the verdict's limit of that name say the same? A limit in words is left out. */
static int check_limit_row(const char *id, const verdict *v, const char *row)
{
    char name[64];
    const char *gap = strstr(row, "  "), *value = gap;
    if (!gap || gap - row >= (int)sizeof name) return 0;
    while (*value == ' ' || *value == '?') value++;
    snprintf(name, sizeof name, "%.*s", (int)(gap - row), row);
    const struct verdict_check *c = isdigit((unsigned char)*value) ? limit_named(v, name) : NULL;
    if (!c || strstr(value, " per ") || strstr(value, " times ")) return 0;
    double most = c->most * (!strncmp(c->limits, "MiB ", 4) ? 1048576 : strstr(c->limits, " in us") ? 1000 : 1);
    if (!says(value, most)) fail_msg("lessons/%s/README.md says '%s'; the limit is %g %s", id, row, c->most, c->limits);
    return 1;
}

static int limit_rows; /* that were compared */

static void check_limits(const char *id, const cJSON *facts, const char *file)
{
    char *text = lesson_text(id, "README.md"), *turn = strstr(text, "## Your turn"), err[512];
    char *block = turn ? strstr(turn, "\n```\n") : NULL, *end = block ? strstr(block + 5, "\n```") : NULL;
    const char *given = fact(id, facts, "given");
    size_t size;
    verdict v;
    char *lines = end ? run_lesson(program_of(id, file), 3, given, &size) : NULL;
    if (lines && grade_lines(id, lines, size, 3, given, &v, err, sizeof err)) {
        *end = '\0';
        for (char *row = strtok(block + 5, "\n"); row; row = strtok(NULL, "\n"))
            limit_rows += check_limit_row(id, &v, row);
    }
    free(lines), free(text);
}

static void every_limit_of_a_text_is_that_of_the_verdict(void **state)
{
    (void)state;
    limit_rows = 0;
    each_sampled_lesson("solution.c", check_limits);
    assert_true(limit_rows >= (getenv("LONG") && !getenv("LESSON") ? 60 : 2));
}

static void every_number_of_a_text_is_that_of_the_run(void **state)
{
    (void)state;
    each_sampled_lesson("demo.c", check_numbers);
}

/* What the run of a variant says to the questions, one after the other. */
static void ask_variant(const lesson *l, const cJSON *facts, const example_variant *v, char *answers, size_t room)
{
    static const home h = {.lessons = "lessons"};
    char err[512], source[256], program[256], one[64];
    char *text = example_text(&h, l, v, err, sizeof err);
    if (!text) fail_msg("%s", err);
    snprintf(source, sizeof source, "%s/variant.c", work_folder);
    snprintf(program, sizeof program, "%s/variant", work_folder);
    assert_true(file_write(source, text, strlen(text)));
    if (!build_program(source, program)) fail_msg("a variant of lessons/%s/demo.c does not build:\n%s", l->id, text);
    choose_cards(l->id);
    size_t size, n = 0;
    char *lines = run_lesson(program, 1, fact(l->id, facts, "given"), &size);
    if (exit_status && !*text_in(facts, "demo_stops")) fail_msg("this variant of %s fails:\n%s", l->id, text);
    log_facts *f = log_facts_of(lines, size);
    for (int i = 0; i < l->question_count; i++) {
        const lesson_question *q = &l->questions[i];
        bool has_answer = log_fact(f, q->fact, one, sizeof one, err, sizeof err) && *one;
        if (!has_answer || one[strspn(one, "0123456789")])
            fail_msg("'%s' of %s has no answer in:\n%s", q->ask, l->id, text);
        n += (size_t)snprintf(answers + n, n < room ? room - n : 0, "%s ", one);
    }
    log_facts_free(f);
    free(lines);
    free(text);
}

static void check_variants(const char *id, const cJSON *facts, const char *file)
{
    (void)file;
    static const home h = {.lessons = "lessons"};
    char err[512], first[128] = "", answers[128];
    catalogue c;
    if (!catalogue_open(&c, &h, err, sizeof err)) fail_msg("%s", err);
    const lesson *l = lesson_find(&c, id, err, sizeof err);
    assert_non_null(l);
    bool differ = false;
    if (example_variants(l) < 2) fail_msg("lessons/%s/lesson.json: \"vary\" makes fewer than two variants", id);
    for (int i = 0; i < example_variants(l); i++) {
        example_variant v = example_variant_of(l, (uint64_t)i);
        ask_variant(l, facts, &v, i ? answers : first, sizeof answers);
        differ |= i && strcmp(first, answers) != 0;
        if (getenv("SHOW")) print_message("%s, variant %d: %s\n", id, i + 1, i ? answers : first);
    }
    if (!differ) fail_msg("all variants of lessons/%s/demo.c have the same answers", id);
    catalogue_close(&c);
}

static void every_example_has_variants_with_other_answers(void **state)
{
    (void)state;
    each_sampled_lesson("demo.c", check_variants);
}

/* ---- lessons among each other ------------------------------------------------------------------------------ */

static void grade_elsewhere(const char *id, const cJSON *facts, const char *file)
{
    for (int i = 0; lesson_checks[i]; i++) {
        const char *other = lesson_checks[i]->id;
        cJSON *theirs = facts_of(other);
        const char *given = fact(other, theirs, "given");
        size_t size;
        char *lines = strcmp(other, id) ? run_lesson(program_of(id, file), 3, given, &size) : NULL, err[512];
        verdict v;
        if (lines && grade_lines(other, lines, size, 3, given, &v, err, sizeof err) && v.pass &&
            !cJSON_GetObjectItemCaseSensitive(cJSON_GetObjectItemCaseSensitive(facts, "solves_also"), other))
            fail_msg("the solution of %s passes %s: say why in \"solves_also\", or make the check stricter", id, other);
        free(lines);
        cJSON_Delete(theirs);
    }
}

static void no_solution_solves_another_lesson(void **state)
{
    (void)state;
    each_sampled_lesson("solution.c", grade_elsewhere);
}

int main(void)
{
    if (programs_are_slow()) unsetenv("LONG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_demo_shows_work_on_the_card),
        cmocka_unit_test(every_prediction_has_an_answer_in_the_log),
        cmocka_unit_test(every_example_has_variants_with_other_answers),
        cmocka_unit_test(every_number_of_a_text_is_that_of_the_run),
        cmocka_unit_test(every_limit_of_a_text_is_that_of_the_verdict),
        cmocka_unit_test(no_solution_solves_another_lesson),
    };
    return cmocka_run_group_tests_name("lesson_examples", tests, prepare_programs, remove_programs);
}
