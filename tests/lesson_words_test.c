/* The content of the folders of lessons/: texts, hints, marks, and short plain programs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>

#include "lesson_folders.h"

static void every_lesson_folder_has_a_check_and_vice_versa(void **state)
{
    (void)state;
    int folders = 0, checks = 0;
    DIR *lessons = opendir("lessons");
    assert_non_null(lessons);
    for (struct dirent *e; (e = readdir(lessons));) {
        char path[512];
        snprintf(path, sizeof path, "lessons/%s", e->d_name);
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "experiments") || !folder_exists(path)) continue;
        if (!lesson_check_find(e->d_name)) fail_msg("%s has no row in lesson_checks (grade.c)", path);
        folders++;
    }
    closedir(lessons);
    while (lesson_checks[checks]) checks++;
    assert_true(folders > 0);
    assert_int_equal(folders, checks);
}

static void check_words(const char *lesson, const cJSON *facts, const char *file)
{
    (void)file;
    static const char *const keys[] = {"title", "summary", "budget", "given", "given2", "starter_fails"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) fact(lesson, facts, keys[i]);
    assert_string_equal(fact(lesson, facts, "id"), lesson);
    assert_string_not_equal(fact(lesson, facts, "given"), fact(lesson, facts, "given2"));
    const cJSON *hints = cJSON_GetObjectItemCaseSensitive(facts, "hints");
    if (cJSON_GetArraySize(hints) != 3) fail_msg("lessons/%s must have three hints", lesson);
    for (const cJSON *h = hints->child; h; h = h->next)
        if (!cJSON_IsString(h) || strlen(h->valuestring) < 40) fail_msg("lessons/%s: a hint says nothing", lesson);
    char *text = lesson_text(lesson, "README.md");
    const char *parts[] = {"# ", "## Before you run", "## What to watch", "## Your turn", "## In PyTorch"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i])) fail_msg("lessons/%s/README.md lacks '%s'", lesson, parts[i]);
    free(text);
}

static void every_lesson_has_its_words_and_three_hints(void **state)
{
    (void)state;
    each_lesson("starter.c", check_words);
}

/* The three parts of a program: before, between and after the marks. */
static char *passages(char *text, char *part[3])
{
    static const char open[] = "    // --- your code ---\n", end[] = "    // --- end ---\n";
    char *a = strstr(text, open), *b = strstr(text, end);
    if (!a || !b || b < a || strstr(a + 1, open) || strstr(b + 1, end)) return NULL;
    *a = *b = '\0';
    part[0] = text;
    part[1] = a + sizeof open - 1;
    part[2] = b + sizeof end - 1;
    return text;
}

static void compare_passages(const char *lesson, const cJSON *facts, const char *file)
{
    (void)facts, (void)file;
    char *starter = lesson_text(lesson, "starter.c"), *solution = lesson_text(lesson, "solution.c"), *s[3], *t[3];
    if (!passages(starter, s) || !passages(solution, t))
        fail_msg("lessons/%s: starter.c and solution.c need both marks, once", lesson);
    if (strcmp(s[0], t[0]) || strcmp(s[2], t[2]))
        fail_msg("lessons/%s: starter.c and solution.c differ outside the marks", lesson);
    if (!strcmp(s[1], t[1])) fail_msg("lessons/%s: the starter is the solution", lesson);
    free(starter);
    free(solution);
}

static void starter_and_solution_differ_only_between_the_marks(void **state)
{
    (void)state;
    each_lesson("starter.c", compare_passages);
}

static void check_style(const char *lesson, const cJSON *facts, const char *file)
{
    (void)facts;
    static const char *const unwanted[] = {"malloc", "#define", "(int)", "(float *)", "(long)", "(double)", "goto"};
    char *text = lesson_text(lesson, file);
    int lines = 0, functions = 0;
    for (char *p = text; *p; p++) {
        lines += *p == '\n';
        functions += p[0] == '\n' && p[1] == '{';
    }
    if (lines > 60 || functions != 1)
        fail_msg("lessons/%s/%s: at most 60 lines and main alone (%d lines, %d functions)", lesson, file, lines,
                 functions);
    for (size_t i = 0; i < sizeof unwanted / sizeof *unwanted; i++)
        if (strstr(text, unwanted[i])) fail_msg("lessons/%s/%s contains %s", lesson, file, unwanted[i]);
    free(text);
}

static void programs_are_short_and_plain(void **state)
{
    (void)state;
    each_lesson("", check_style);
}

/* The example contains no line of the solution's marked part, except lines of the starter. */
static void check_secret(const char *lesson, const cJSON *facts, const char *file)
{
    (void)facts;
    char *demo = lesson_text(lesson, file), *solution = lesson_text(lesson, "solution.c"),
         *starter = lesson_text(lesson, "starter.c");
    char *s[3];
    assert_non_null(passages(solution, s));
    for (char *line = strtok(s[1], "\n"); line; line = strtok(NULL, "\n")) {
        while (isspace((unsigned char)*line)) line++;
        if (strlen(line) > 2 && !strstr(starter, line) && strstr(demo, line))
            fail_msg("lessons/%s/%s gives away '%s'", lesson, file, line);
    }
    free(demo);
    free(solution);
    free(starter);
}

static void no_demo_gives_its_exercise_away(void **state)
{
    (void)state;
    each_lesson("demo.c", check_secret);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lesson_folder_has_a_check_and_vice_versa),
        cmocka_unit_test(every_lesson_has_its_words_and_three_hints),
        cmocka_unit_test(starter_and_solution_differ_only_between_the_marks),
        cmocka_unit_test(programs_are_short_and_plain),
        cmocka_unit_test(no_demo_gives_its_exercise_away),
    };
    return cmocka_run_group_tests_name("lesson_words", tests, NULL, NULL);
}
