/* Honest answers that differ from the solutions, tests/honest/LESSON-NAME.c: each does what its lesson's text asks for,
 * in a way of its own, and must pass. Runs in the repository's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lesson_programs.h"

/* The lesson whose id begins as the file's name does, up to its first dash. */
static const char *lesson_of(const char *file)
{
    size_t prefix = strcspn(file, "-") + 1;
    for (int i = 0; lesson_checks[i]; i++)
        if (!strncmp(lesson_checks[i]->id, file, prefix)) return lesson_checks[i]->id;
    fail_msg("tests/honest/%s names no lesson", file);
    return NULL;
}

static void must_pass(const char *file)
{
    static const char *const given[] = {"given", "given2"};
    char path[300];
    const char *id = lesson_of(file);
    cJSON *facts = facts_of(id);
    snprintf(path, sizeof path, "../../tests/honest/%s", file);
    for (uint64_t i = 0; i < 2; i++) {
        verdict v = graded_program(id, path, 3 + i, fact(id, facts, given[i]));
        if (!v.pass)
            fail_msg("tests/honest/%s fails with %s: %s: %s", file, given[i], verdict_failure(&v)->name,
                     verdict_message(&v));
    }
    cJSON_Delete(facts);
}

static void every_honest_answer_passes_with_both_sizes(void **state)
{
    (void)state;
    struct dirent **found;
    int n = scandir("tests/honest", &found, NULL, alphasort), graded = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        const char *end = strrchr(found[i]->d_name, '.');
        if (end && !strcmp(end, ".c")) must_pass(found[i]->d_name), graded++;
        free(found[i]);
    }
    free(found);
    assert_true(graded > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_honest_answer_passes_with_both_sizes)};
    return cmocka_run_group_tests(tests, prepare_programs, remove_programs);
}
