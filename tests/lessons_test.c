/* Proves the lessons, a sample of them or, where LONG is set, all: the starter fails for the stated reason, the
 * solution passes with every seed and size, each wrong answer fails its own check with the recorded message, and the
 * text's numbers are those of the run. Programs are built with all warnings and run on the simulated card. TSan takes
 * the sample. Runs in the repository's root. LESSON=ID: that lesson alone. RECORD=1: writes each lesson's verdicts.txt
 * anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lesson_programs.h"

static verdict assert_fails_first(const char *id, const char *file, const char *given, const char *name)
{
    verdict v = graded_program(id, file, 3, given);
    const struct verdict_check *c = verdict_failure(&v);
    if (v.pass || !c) fail_msg("lessons/%s/%s passes; it must fail with '%s'", id, file, name);
    if (strcmp(c->name, name))
        fail_msg("lessons/%s/%s fails with '%s' (%s); it must fail with '%s'", id, file, c->name, c->message, name);
    if (getenv("SHOW")) print_message("%s/%s [%s] %s\n", id, file, c->name, c->message);
    if (c->seq < 0) fail_msg("lessons/%s/%s: '%s' names no event", id, file, name);
    return v;
}

/* ---- what each failing program is told: lessons/ID/verdicts.txt ------------------------------------------- */

/* "wrong_x.c [right-numbers] message", as recorded; NULL if the file has no such line. The caller frees it. */
static char *recorded(const char *id, const char *file)
{
    char path[256];
    snprintf(path, sizeof path, "lessons/%s/verdicts.txt", id);
    char *text = file_read(path, NULL), *found = NULL;
    for (char *line = text ? strtok(text, "\n") : NULL; line; line = strtok(NULL, "\n"))
        if (!strncmp(line, file, strlen(file)) && line[strlen(file)] == ' ') found = line;
    found = found ? strdup(found) : NULL;
    free(text);
    return found;
}

static void compare_message(const char *id, const char *file, const verdict *v)
{
    char now[1024];
    const struct verdict_check *c = verdict_failure(v);
    snprintf(now, sizeof now, "%s [%s] %s", file, c->name, c->message);
    char *then = recorded(id, file);
    const bool same = then && !strcmp(then, now);
    free(then);
    if (getenv("RECORD")) {
        char path[256];
        snprintf(path, sizeof path, "lessons/%s/verdicts.txt", id);
        FILE *to = fopen(path, !strcmp(file, "starter.c") ? "w" : "a");
        if (!to || fprintf(to, "%s\n", now) < 0 || fclose(to)) fail_msg("%s cannot be written", path);
    } else if (!same) {
        fail_msg("lessons/%s/verdicts.txt has another message; if this one is right, record it (RECORD=1):\n%s", id,
                 now);
    }
}

/* ---- tests ------------------------------------------------------------------------------------------ */

static void must_build(const char *id, const cJSON *facts, const char *file)
{
    (void)facts;
    if (!*program_of(id, file)) fail_msg("lessons/%s/%s does not build without a warning", id, file);
}

static void every_program_builds_without_a_warning(void **state)
{
    (void)state;
    each_sampled_lesson("", must_build);
}

static void fail_starter(const char *id, const cJSON *facts, const char *file)
{
    const char *name = fact(id, facts, "starter_fails");
    verdict v = assert_fails_first(id, file, fact(id, facts, "given"), name);
    compare_message(id, file, &v);
    assert_fails_first(id, file, fact(id, facts, "given2"), name);
}

static void every_starter_fails_for_the_stated_reason(void **state)
{
    (void)state;
    each_sampled_lesson("starter.c", fail_starter);
}

static void pass_solution(const char *id, const cJSON *facts, const char *file)
{
    static const uint64_t most[] = {0, UINT64_C(9007199254740991), 1234567}; /* then 3, 4, 5 ... */
    static const char *const given[] = {"given", "given2"};
    for (uint64_t i = 0; i < (getenv("LONG") ? 40 : 6); i++) {
        uint64_t seed = i / 2 < 3 ? most[i / 2] : i / 2;
        verdict v = graded_program(id, file, seed, fact(id, facts, given[i % 2]));
        if (!v.pass)
            fail_msg("lessons/%s/%s fails with seed %llu and %s: %s", id, file, (unsigned long long)seed, given[i % 2],
                     verdict_message(&v));
        if (exit_status) fail_msg("lessons/%s/%s ended with status %d", id, file, exit_status);
        if (v.checks < 4) fail_msg("lessons/%s makes only %d checks", id, v.checks);
    }
}

static void every_solution_passes_with_every_seed_and_both_sizes(void **state)
{
    (void)state;
    each_sampled_lesson("solution.c", pass_solution);
}

static bool found_wrong_place;

static void check_wrong_answer(const char *id, const cJSON *facts, const char *file)
{
    const cJSON *w = cJSON_GetObjectItemCaseSensitive(facts, "wrong");
    for (w = w ? w->child : NULL; w && strcmp(text_in(w, "file"), file);) w = w->next;
    if (!w) fail_msg("lessons/%s/lesson.json does not say which check %s fails", id, file);
    verdict v = assert_fails_first(id, file, fact(id, facts, "given"), text_in(w, "check"));
    compare_message(id, file, &v);
    assert_fails_first(id, file, fact(id, facts, "given2"), text_in(w, "check"));
    for (int i = 0; i < v.checks; i++)
        if (!strcmp(v.check[i].name, "right-numbers") && v.check[i].pass) found_wrong_place = true;
}

static void every_wrong_answer_fails_its_check_one_with_right_numbers(void **state)
{
    (void)state;
    for (int i = 0; lesson_checks[i]; i++) {
        const char *id = lesson_checks[i]->id;
        if (!lesson_is_sampled(id)) continue;
        found_wrong_place = false;
        int n = each_program(id, "wrong_", check_wrong_answer);
        cJSON *facts = facts_of(id);
        int declared = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(facts, "wrong"));
        bool has_numbers = !is_myth(facts);
        cJSON_Delete(facts);
        if (n < 2 || n != declared) fail_msg("lessons/%s: %d wrong answers, %d declared", id, n, declared);
        if (has_numbers && !found_wrong_place) fail_msg("lessons/%s: no wrong answer has the right numbers", id);
    }
}

/* The answer's values, as in the log. */
static char *answer_text(const char *id, const char *given, uint64_t seed)
{
    size_t size;
    char *lines = run_lesson(program_of(id, "solution.c"), seed, given, &size);
    char *answer = strstr(lines, "\"kind\":\"answer\""),
         *values = answer ? strstr(answer, "\"kind\":\"values\"") : NULL;
    if (!values) fail_msg("lessons/%s: the solution hands in no values", id);
    values[strcspn(values, "\n")] = '\0';
    char *data = strstr(values, "\"data\":[");
    assert_non_null(data);
    char *copy = strdup(data);
    free(lines);
    return copy;
}

static void vary_seed(const char *id, const cJSON *facts, const char *file)
{
    (void)file;
    if (is_myth(facts)) return; /* its verdict is the same with every seed */
    char *a = answer_text(id, fact(id, facts, "given"), 1), *b = answer_text(id, fact(id, facts, "given"), 2);
    char *again = answer_text(id, fact(id, facts, "given"), 1);
    if (!strcmp(a, b)) fail_msg("lessons/%s: the answer does not depend on the seed", id);
    assert_string_equal(a, again);
    free(a);
    free(b);
    free(again);
}

static void every_answer_depends_on_the_seed(void **state)
{
    (void)state;
    each_sampled_lesson("solution.c", vary_seed);
}

static void grade_twice(const char *id, const cJSON *facts, const char *file)
{
    const char *given = fact(id, facts, "given");
    size_t size;
    char *lines = run_lesson(program_of(id, file), 3, given, &size), err[512];
    verdict a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    assert_true(grade_lines(id, lines, size, 3, given, &a, err, sizeof err));
    assert_true(grade_lines(id, lines, size, 3, given, &b, err, sizeof err));
    assert_memory_equal(&a, &b, sizeof a);
    free(lines);
}

static void grading_twice_gives_the_same_bytes(void **state)
{
    (void)state;
    each_sampled_lesson("solution.c", grade_twice);
}

int main(void)
{
    if (programs_are_slow()) unsetenv("LONG");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_builds_without_a_warning),
        cmocka_unit_test(every_starter_fails_for_the_stated_reason),
        cmocka_unit_test(every_solution_passes_with_every_seed_and_both_sizes),
        cmocka_unit_test(every_wrong_answer_fails_its_check_one_with_right_numbers),
        cmocka_unit_test(every_answer_depends_on_the_seed),
        cmocka_unit_test(grading_twice_gives_the_same_bytes),
    };
    return cmocka_run_group_tests_name("lessons", tests, prepare_programs, remove_programs);
}
