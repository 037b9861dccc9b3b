/* Programs that try to pass without the work, tests/forgeries: each is graded for real, and fails with its check or
 * with its words. The first line of each: lesson | fails or passes | check or words of the message | what it does.
 * Those that pass are what a C program can do: lessons/README.md lists them with their price in lines. */
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

/* With this checkout's folders in place of those that it names. */
static char *with_folders(const char *text)
{
    char build[600], root[PATH_MAX], real[PATH_MAX];
    snprintf(build, sizeof build, "%s", ferry_command);
    *strrchr(build, '/') = '\0';
    assert_true(realpath(build, real) && realpath(".", root));
    const char *from[] = {"/path/to/build", "/path/to/ferry"}, *to[] = {real, root};
    char *out = calloc(1, strlen(text) + 8 * PATH_MAX);
    for (size_t n = 0; *text;) {
        int i = !strncmp(text, from[0], 14) ? 0 : !strncmp(text, from[1], 14) ? 1 : -1;
        if (i < 0) out[n++] = *text++;
        else n += strlen(strcpy(out + n, to[i])), text += 14;
    }
    return out;
}

static char *grade(const forgery *f)
{
    char arguments[64], *printed, *text = with_folders(f->text);
    const lesson_check *lesson = NULL;
    for (int i = 0; lesson_checks[i] && !lesson; i++)
        if (!strncmp(lesson_checks[i]->id, f->lesson, strlen(f->lesson))) lesson = lesson_checks[i];
    assert_non_null(lesson);
    assert_true(write_answer(lesson->id, text));
    snprintf(arguments, sizeof arguments, "grade %s --json --seconds %d", f->lesson,
             strstr(f->says, "after 1 s") ? 1 : 60);
    run_ferry(arguments, &printed);
    free(text);
    return printed;
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

static void must_be_listed(const forgery *f)
{
    char row[128], *text = file_read("lessons/README.md", NULL);
    assert_non_null(text);
    snprintf(row, sizeof row, "| `%s` | %d |", f->file, f->lines);
    if (!strstr(text, row)) fail_msg("lessons/README.md lacks '%s' in what a C program can do", row);
    free(text);
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
    each_forgery("passes", must_be_listed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_forgery_fails_with_its_check),
        cmocka_unit_test(what_passes_all_the_same_is_known),
        cmocka_unit_test(what_passes_is_listed_with_its_price),
    };
    unsetenv("LD_PRELOAD"); /* valgrind's own: one of the forgeries is told by it that it has been started again */
    return cmocka_run_group_tests(tests, make_learner_folder, remove_learner_folder);
}
