/* The content of the folders of lessons/: texts, hints, marks, and short plain programs. */
#define _GNU_SOURCE 1 /* strcasestr */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <ctype.h>

#include "lesson_folders.h"

enum { LESSONS = 45 };

static void every_lesson_folder_has_a_check_and_a_place(void **state)
{
    (void)state;
    int folders = 0, checks = 0, listed = 0;
    DIR *lessons = opendir("lessons");
    assert_non_null(lessons);
    for (struct dirent *e; (e = readdir(lessons));) {
        char path[512];
        snprintf(path, sizeof path, "lessons/%s", e->d_name);
        if (e->d_name[0] == '.' || !strcmp(e->d_name, "experiments") || !strcmp(e->d_name, "class") ||
            !folder_exists(path))
            continue;
        if (!lesson_check_find(e->d_name)) fail_msg("%s has no check.c with a lesson_check of that id", path);
        int at = 0;
        while (lessons_in_order()[at] && strcmp(lessons_in_order()[at], e->d_name) != 0) at++;
        if (!lessons_in_order()[at]) fail_msg("lessons/arc.json does not list %s", e->d_name);
        folders++;
    }
    closedir(lessons);
    while (lesson_checks[checks]) checks++;
    while (lessons_in_order()[listed]) listed++;
    assert_int_equal(folders, LESSONS);
    assert_int_equal(checks, LESSONS);
    assert_int_equal(listed, LESSONS);
}

static void check_words(const char *lesson, const cJSON *facts, const char *file)
{
    (void)file;
    static const char *const keys[] = {"title", "summary", "goal", "budget", "given", "given2", "starter_fails"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) fact(lesson, facts, keys[i]);
    assert_string_equal(fact(lesson, facts, "id"), lesson);
    assert_string_not_equal(fact(lesson, facts, "given"), fact(lesson, facts, "given2"));
    const cJSON *hints = cJSON_GetObjectItemCaseSensitive(facts, "hints");
    if (cJSON_GetArraySize(hints) != 3) fail_msg("lessons/%s must have three hints", lesson);
    for (const cJSON *h = hints->child; h; h = h->next)
        if (!cJSON_IsString(h) || strlen(h->valuestring) < 40) fail_msg("lessons/%s: a hint says nothing", lesson);
    const cJSON *minutes = cJSON_GetObjectItemCaseSensitive(facts, "minutes"),
                *docs = cJSON_GetObjectItemCaseSensitive(facts, "docs");
    if (!cJSON_IsNumber(minutes) || minutes->valueint < 2 || minutes->valueint > 60)
        fail_msg("lessons/%s/lesson.json: \"minutes\" must be a number from 2 to 60", lesson);
    if (strncmp(fact(lesson, docs, "url"), "https://docs.pytorch.org/", 25) || !*fact(lesson, docs, "title"))
        fail_msg("lessons/%s/lesson.json: \"docs\" must lead to https://docs.pytorch.org/", lesson);
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
    if (lines > 60 || functions < 1 || functions > 4)
        fail_msg("lessons/%s/%s: at most 60 lines and four functions (%d lines, %d functions)", lesson, file, lines,
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

/* ---- words and calls, in the order of the arc -------------------------------------------------------------- */

/* The prose of a text as one line: code in blocks, in backquotes and in links' targets is blanked out. */
static char *prose_of(const char *lesson)
{
    char *text = lesson_text(lesson, "README.md");
    bool block = false, code = false, begins = true;
    for (char *p = text; *p; p++) {
        bool newline = *p == '\n', fence = begins && !strncmp(p, "```", 3);
        if (fence) block = !block;
        else if (*p == '`' && !block) code = !code;
        if (fence && !block) p = memset(p, ' ', 3), p += 2;
        else if (block || code || newline) *p = ' ';
        begins = newline;
        if (!strncmp(p, "](", 2))
            for (p += 2; *p && *p != ')'; p++) *p = ' ';
    }
    return text;
}

static bool has_word(const char *text, const char *word)
{
    size_t n = strlen(word);
    for (const char *p = text; (p = strcasestr(p, word)); p++)
        if ((p == text || !isalnum((unsigned char)p[-1])) && !isalpha((unsigned char)p[n])) return true;
    return false;
}

/* Each term is in bold where it is defined, and in no lesson before that. */
static void terms_are_defined_where_they_first_appear(void **state)
{
    (void)state;
    const char *const *ids = lessons_in_order();
    for (int i = 0; ids[i]; i++) {
        cJSON *facts = facts_of(ids[i]);
        char *text = lesson_text(ids[i], "README.md"), bold[128];
        const cJSON *term;
        cJSON_ArrayForEach(term, cJSON_GetObjectItemCaseSensitive(facts, "defines"))
        {
            snprintf(bold, sizeof bold, "**%s**", term->valuestring);
            if (!strcasestr(text, bold))
                fail_msg("lessons/%s/README.md does not define %s in bold", ids[i], term->valuestring);
            for (int k = 0; k < i; k++) {
                char *earlier = prose_of(ids[k]);
                if (has_word(earlier, term->valuestring))
                    fail_msg("lessons/%s/README.md uses '%s', which %s defines", ids[k], term->valuestring, ids[i]);
                free(earlier);
            }
        }
        free(text);
        cJSON_Delete(facts);
    }
}

/* The next name of Ferry's in a program, outside comments and texts; NULL: none. */
static char *next_name(char **at, char *out, size_t room)
{
    for (char *p = *at; *p; p++) {
        if (p[0] == '/' && p[1] == '/') p += strcspn(p, "\n");
        else if (*p == '"') p += 1 + strcspn(p + 1, "\"");
        else if ((!strncmp(p, "fy_", 3) || !strncmp(p, "FY_", 3)) && !(isalnum((unsigned char)p[-1]) || p[-1] == '_')) {
            size_t n = 0;
            while (isalnum((unsigned char)p[n]) || p[n] == '_') n++;
            snprintf(out, room, "%.*s", (int)n, p);
            *at = p + n;
            return out;
        }
        if (!*p) break;
    }
    return NULL;
}

static bool is_listed(const cJSON *names, const char *name)
{
    const cJSON *n;
    cJSON_ArrayForEach(n, names) if (!strcmp(n->valuestring, name)) return true;
    return false;
}

static void only_calls_that_were_taught_are_used(void **state)
{
    (void)state;
    static const char *const files[] = {"demo.c", "starter.c", "solution.c"};
    const char *const *ids = lessons_in_order();
    cJSON *taught = cJSON_CreateArray();
    char name[96];
    for (int i = 0; ids[i]; i++) {
        cJSON *facts = facts_of(ids[i]), *found = cJSON_CreateArray();
        const cJSON *teaches = cJSON_GetObjectItemCaseSensitive(facts, "teaches"), *item;
        cJSON_ArrayForEach(item, teaches) cJSON_AddItemToArray(taught, cJSON_CreateString(item->valuestring));
        for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
            char *text = lesson_text(ids[i], files[k]), *at = text;
            while (next_name(&at, name, sizeof name)) {
                if (!is_listed(taught, name))
                    fail_msg("lessons/%s/%s uses %s, which no lesson teaches up to here", ids[i], files[k], name);
                cJSON_AddItemToArray(found, cJSON_CreateString(name));
            }
            free(text);
        }
        cJSON_ArrayForEach(item, teaches)
        {
            if (!is_listed(found, item->valuestring))
                fail_msg("lessons/%s/lesson.json teaches %s, which none of its programs uses", ids[i],
                         item->valuestring);
        }
        cJSON_Delete(found);
        cJSON_Delete(facts);
    }
    cJSON_Delete(taught);
}

/* Every number in the prose is listed under "numbers", where lessons_test compares it with the run. */
static void every_number_of_a_text_has_a_source(void **state)
{
    (void)state;
    const char *const *ids = lessons_in_order();
    for (int i = 0; ids[i]; i++) {
        cJSON *facts = facts_of(ids[i]);
        const cJSON *number, *numbers = cJSON_GetObjectItemCaseSensitive(facts, "numbers");
        char *prose = prose_of(ids[i]);
        cJSON_ArrayForEach(number, numbers)
        {
            if (!strstr(prose, number->string))
                fail_msg("lessons/%s/lesson.json: README.md does not say '%s'", ids[i], number->string);
            for (char *p; (p = strstr(prose, number->string));) memset(p, ' ', strlen(number->string));
        }
        for (char *p = prose; *p; p++) {
            bool word = p > prose && (isalnum((unsigned char)p[-1]) || p[-1] == '_');
            bool lesson = p >= prose + 7 && !strncasecmp(p - 7, "lesson ", 7), dim = !strncmp(p + 1, "-dim", 4);
            if (isdigit((unsigned char)*p) && !word && !lesson && !dim)
                fail_msg("lessons/%s/README.md: '%.20s' is not listed under \"numbers\" in lesson.json", ids[i], p);
            if (isdigit((unsigned char)*p))
                while (isdigit((unsigned char)p[1])) p++;
        }
        free(prose);
        cJSON_Delete(facts);
    }
}

/* ---- the teacher's guide --------------------------------------------------------------------------------------- */

static void check_heading(const char *guide, const char *marks, const char *title, int minutes)
{
    char heading[256];
    snprintf(heading, sizeof heading, "\n%s %s (%d min)\n", marks, title, minutes);
    if (!strstr(guide, heading))
        fail_msg("lessons/teaching.md has no heading '%.*s'", (int)strlen(heading) - 2, heading + 1);
}

static int minutes_of(const char *lesson, char title[128])
{
    cJSON *facts = facts_of(lesson);
    int minutes = cJSON_GetObjectItemCaseSensitive(facts, "minutes")->valueint;
    snprintf(title, 128, "%s: %s", lesson, fact(lesson, facts, "title"));
    cJSON_Delete(facts);
    return minutes;
}

static void the_teachers_guide_has_every_lesson_with_its_minutes(void **state)
{
    (void)state;
    char *guide = file_read("lessons/teaching.md", NULL), *text = file_read("lessons/arc.json", NULL), title[128];
    assert_non_null(guide);
    assert_non_null(text);
    cJSON *arc = cJSON_Parse(text);
    const cJSON *part, *lesson;
    int lessons = 0;
    cJSON_ArrayForEach(part, cJSON_GetObjectItemCaseSensitive(arc, "parts"))
    {
        int sum = 0;
        cJSON_ArrayForEach(lesson, cJSON_GetObjectItemCaseSensitive(part, "lessons"))
        {
            int minutes = minutes_of(lesson->valuestring, title);
            check_heading(guide, "###", title, minutes);
            sum += minutes;
            lessons++;
        }
        check_heading(guide, "##", cJSON_GetObjectItemCaseSensitive(part, "title")->valuestring, sum);
    }
    assert_int_equal(lessons, LESSONS);
    cJSON_Delete(arc);
    free(text);
    free(guide);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_lesson_folder_has_a_check_and_a_place),
        cmocka_unit_test(every_lesson_has_its_words_and_three_hints),
        cmocka_unit_test(starter_and_solution_differ_only_between_the_marks),
        cmocka_unit_test(programs_are_short_and_plain),
        cmocka_unit_test(no_demo_gives_its_exercise_away),
        cmocka_unit_test(terms_are_defined_where_they_first_appear),
        cmocka_unit_test(only_calls_that_were_taught_are_used),
        cmocka_unit_test(every_number_of_a_text_has_a_source),
        cmocka_unit_test(the_teachers_guide_has_every_lesson_with_its_minutes),
    };
    return cmocka_run_group_tests_name("lesson_words", tests, NULL, NULL);
}
