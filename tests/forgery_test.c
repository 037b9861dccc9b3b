/* Programs that try to pass without the work, tests/forgeries: each is graded for real, and fails with its check or
 * with its words. The first line of each: lesson | fails or passes | check or words of the message | what it does.
 * Those that pass are the shortest known of what a C program can do: README.md and lessons/README.md tell their price
 * in lines. */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dirent.h>
#include <limits.h>

#include "grade.h"
#include "learner_folder.h"

#define LESSON "03-round-trip" /* of those that pass */

typedef struct forgery {
    char file[64], lesson[8], fate[16], says[64], what[256];
    char *text;
    int lines; /* of code */
} forgery;

/* Those of code: not blank, no comment alone. */
static int count_lines(const char *text)
{
    int n = 0;
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n') {
        const char *code = p + strspn(p, " \t");
        n += *code != '\n' && strncmp(code, "/*", 2) != 0 && strncmp(code, "//", 2) != 0;
    }
    return n;
}

static void read_forgery(const char *file, forgery *f)
{
    char path[300];
    snprintf(path, sizeof path, "tests/forgeries/%s", file);
    *f = (forgery){.text = file_read(path, NULL)};
    assert_non_null(f->text);
    snprintf(f->file, sizeof f->file, "%.63s", file);
    int n = sscanf(f->text, "/* %7[^ |] | %15[^ |] | %63[^|]| %255[^\n]", f->lesson, f->fate, f->says, f->what);
    if (n != 4) fail_msg("%s: the first line has %d of 4 parts", path, n);
    for (size_t i = strlen(f->says); i-- > 0 && f->says[i] == ' ';) f->says[i] = '\0';
    f->lines = count_lines(f->text);
}

/* Visits those whose fate this is. */
static void each_forgery(const char *fate, void (*visit)(const forgery *f))
{
    struct dirent **found;
    int n = scandir("tests/forgeries", &found, NULL, alphasort), visited = 0;
    assert_true(n > 0);
    for (int i = 0; i < n; i++) {
        forgery f = {0};
        const char *end = strrchr(found[i]->d_name, '.');
        if (end && !strcmp(end, ".c")) read_forgery(found[i]->d_name, &f);
        if (f.text && !strcmp(f.fate, fate)) visit(&f), visited++;
        free(f.text);
        free(found[i]);
    }
    free(found);
    assert_true(visited > 0);
}

/* A learner's folder is the checkout: what is beside my/. */
static int make_checkout(void **state)
{
    static const char *const parts[] = {"lib", "lessons"};
    char link[PATH_MAX + 16], build[PATH_MAX];
    if (make_learner_folder(state) != 0 || !realpath(ferry_command, build)) return -1;
    *strrchr(build, '/') = '\0';
    snprintf(link, sizeof link, "%s/build", learner_folder);
    if (symlink(build, link) != 0) return -1;
    for (int i = 0; i < 2; i++) {
        char *part = realpath(parts[i], NULL);
        snprintf(link, sizeof link, "%s/%s", learner_folder, parts[i]);
        if (!part || symlink(part, link) != 0) return -1;
        free(part);
    }
    return 0;
}

static char *grade(const forgery *f)
{
    char arguments[64], *printed;
    const lesson_check *lesson = NULL;
    for (int i = 0; lesson_checks[i] && !lesson; i++)
        if (!strncmp(lesson_checks[i]->id, f->lesson, strlen(f->lesson))) lesson = lesson_checks[i];
    assert_non_null(lesson);
    assert_true(write_answer(lesson->id, f->text));
    snprintf(arguments, sizeof arguments, "grade %s --json --seconds %d", f->lesson,
             strstr(f->says, "after 1 s") ? 1 : 60);
    run_ferry(arguments, &printed);
    return printed;
}

/* What a run shows is said, and nothing of who wrote the program. */
static void must_accuse_nobody(const forgery *f, const char *printed)
{
    static const char *const words[] = {"forge", "cheat", "impossible", "cannot be what", "tamper", "edited", "fake"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(printed, words[i]))
            fail_msg("tests/forgeries/%s is told of '%s': %s", f->file, words[i], printed);
}

/* {"check":"NAME", ... ,"pass":false}: the first that failed. */
static void first_failure(const char *printed, char name[64])
{
    *name = '\0';
    for (const char *p = printed; (p = strstr(p, "{\"check\":\"")); p++) {
        const char *pass = strstr(p, "\"pass\":");
        if (!pass || strncmp(pass + 7, "false", 5) != 0) continue;
        snprintf(name, 64, "%.*s", (int)strcspn(p + 10, "\""), p + 10);
        return;
    }
}

static void must_fail(const forgery *f)
{
    char name[64], *printed = grade(f);
    first_failure(printed, name);
    bool says = strchr(f->says, ' ') ? strstr(printed, f->says) != NULL : !strcmp(name, f->says);
    if (!strstr(printed, "\"pass\":false") || !says)
        fail_msg("tests/forgeries/%s (%s must say '%s'): %s", f->file, f->what, f->says, printed);
    must_accuse_nobody(f, printed);
    free(printed);
}

static void must_pass(const forgery *f)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) /* what it builds would lack the sanitizer */
    char name[64], *printed = grade(f);
    first_failure(printed, name);
    if (!strstr(printed, "\"pass\":true") || *name)
        fail_msg("tests/forgeries/%s fails with '%s' now: list it so, and not in lessons/README.md: %s", f->file, name,
                 printed);
    free(printed);
#else
    (void)f;
#endif
}

static void assert_told(const char *file, const char *words)
{
    char *text = file_read(file, NULL);
    assert_non_null(text);
    if (!strstr(text, words)) fail_msg("%s lacks '%s' in what a C program can do", file, words);
    free(text);
}

static void must_be_listed(const forgery *f)
{
    char row[128];
    snprintf(row, sizeof row, "| `%s` | %d |", f->file, f->lines);
    assert_told("lessons/README.md", row);
}

static int price_of(const char *file)
{
    forgery f;
    read_forgery(file, &f);
    free(f.text);
    return f.lines;
}

static void each_forgery_fails_with_its_check(void **state)
{
    (void)state;
    each_forgery("fails", must_fail);
}

static void what_passes_all_the_same_is_known(void **state)
{
    (void)state;
    each_forgery("passes", must_pass);
}

static void what_passes_is_listed_with_its_price(void **state)
{
    (void)state;
    char words[128], *solution = file_read("lessons/" LESSON "/solution.c", NULL);
    each_forgery("passes", must_be_listed);
    snprintf(words, sizeof words,
             "to become the solution takes %d lines, to compute in plain C %d, to forge the log %d",
             price_of("become-the-solution.c"), price_of("plain-c.c"), price_of("forged-log.c"));
    assert_told("README.md", words);
    assert_non_null(solution);
    snprintf(words, sizeof words, "The solution of that lesson has %d.", count_lines(solution));
    assert_told("lessons/README.md", words);
    free(solution);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_forgery_fails_with_its_check),
        cmocka_unit_test(what_passes_all_the_same_is_known),
        cmocka_unit_test(what_passes_is_listed_with_its_price),
    };
    unsetenv("LD_PRELOAD"); /* valgrind's own: one of the forgeries is told by it that it has been started again */
    return cmocka_run_group_tests(tests, make_checkout, remove_learner_folder);
}
