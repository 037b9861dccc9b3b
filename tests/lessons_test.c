/* Checks every lesson: its starter fails for the stated reason, its solution passes with every seed and size, and each
 * wrong answer fails its own check. Programs are built with all warnings and run on the simulated card. Runs in the
 * repository's root. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "graded.h"
#include "lesson_folders.h"

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZER "-fsanitize=address,undefined -no-pie"
#elif defined(__SANITIZE_THREAD__)
#define SANITIZER "-fsanitize=thread"
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZER "-fsanitize=address,undefined"
#elif __has_feature(thread_sanitizer)
#define SANITIZER "-fsanitize=thread"
#endif
#endif
#ifndef SANITIZER
#define SANITIZER ""
#endif
#ifdef __clang__
#define COMPILER "clang"
#else
#define COMPILER "gcc"
#endif

static char work_folder[64];  /* the test's programs and logs */
static char build[PATH_ROOM]; /* the build folder of this test */
static char libs[512];        /* libraries besides libferry.a */

/* ---- building and running -------------------------------------------------------------------------- */

/* Path of the program, built once; "", with the compiler's messages on stderr, if it does not build cleanly. */
static const char *program_of(const char *lesson, const char *file)
{
    static char path[256];
    char command[PATH_ROOM + 1536];
    snprintf(path, sizeof path, "%s/%s-%.*s", work_folder, lesson, (int)strcspn(file, "."), file);
    if (!access(path, X_OK)) return path;
    snprintf(command, sizeof command,
             COMPILER " -std=gnu11 -O1 -g -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-unused-variable " SANITIZER
                      " -Ilib lessons/%s/%s -L%s -lferry %s -o %s",
             lesson, file, build, libs, path);
    return system(command) ? "" : path;
}

static int exit_status; /* of the last run */

/* The log of one run. These limits only protect the test; learners' limits are the runner's. */
static char *run(const char *program, uint64_t seed, const char *given, size_t *size)
{
    char command[1024], log[128];
    snprintf(log, sizeof log, "%s/run.jsonl", work_folder);
    unlink(log);
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=detect_leaks=0 FERRY_GPU=sim FERRY_SEED=%llu FERRY_GIVEN='%s' FERRY_TRACE=%s "
             "timeout 120 %s >%s/said 2>&1",
             (unsigned long long)seed, given, log, program, work_folder);
    exit_status = system(command);
    char *text = file_read(log, size);
    if (!text) fail_msg("%s left no log (status %d)", program, exit_status);
    return text;
}

static verdict graded(const char *lesson, const char *file, uint64_t seed, const char *given)
{
    const char *program = program_of(lesson, file);
    if (!*program) fail_msg("lessons/%s/%s does not build without a warning", lesson, file);
    size_t size;
    char *lines = run(program, seed, given, &size), err[512] = "";
    verdict v;
    if (!grade_lines(lesson, lines, size, seed, given, &v, err, sizeof err))
        fail_msg("lessons/%s/%s was not judged: %s", lesson, file, err);
    free(lines);
    for (int i = 0; i < v.checks; i++)
        if (!*v.check[i].name || !*v.check[i].message || !*v.check[i].expected || !*v.check[i].got)
            fail_msg("lessons/%s/%s: check %d says nothing", lesson, file, i);
    return v;
}

static void assert_fails_first(const char *lesson, const char *file, const char *given, const char *name)
{
    verdict v = graded(lesson, file, 3, given);
    const struct verdict_check *c = verdict_failure(&v);
    if (v.pass || !c) fail_msg("lessons/%s/%s passes; it must fail with '%s'", lesson, file, name);
    if (strcmp(c->name, name))
        fail_msg("lessons/%s/%s fails with '%s' (%s); it must fail with '%s'", lesson, file, c->name, c->message, name);
    if (getenv("SHOW")) print_message("%s/%s [%s] %s\n", lesson, file, c->name, c->message);
    if (c->seq < 0) fail_msg("lessons/%s/%s: '%s' names no event", lesson, file, name);
}

/* ---- working folder ------------------------------------------------------------------------------ */

static int prepare(void **state)
{
    (void)state;
    strcpy(work_folder, "/tmp/ferry-lessons-XXXXXX");
    ssize_t n = readlink("/proc/self/exe", build, sizeof build - 1);
    if (!mkdtemp(work_folder) || n < 0) return -1;
    build[n] = '\0';
    for (int i = 0; i < 2; i++) *strrchr(build, '/') = '\0'; /* BUILD/tests/lessons_test */
    FILE *make = popen("make -s core-libs", "r");
    if (!make || !fgets(libs, sizeof libs, make)) return -1;
    libs[strcspn(libs, "\n")] = '\0';
    return pclose(make);
}

static int clear(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", work_folder);
    return system(command);
}

/* ---- tests ------------------------------------------------------------------------------------------ */

static void must_build(const char *lesson, const cJSON *facts, const char *file)
{
    (void)facts;
    if (!*program_of(lesson, file)) fail_msg("lessons/%s/%s does not build without a warning", lesson, file);
}

static void every_program_builds_without_a_warning(void **state)
{
    (void)state;
    each_lesson("", must_build);
}

static void fail_starter(const char *lesson, const cJSON *facts, const char *file)
{
    assert_fails_first(lesson, file, fact(lesson, facts, "given"), fact(lesson, facts, "starter_fails"));
    assert_fails_first(lesson, file, fact(lesson, facts, "given2"), fact(lesson, facts, "starter_fails"));
}

static void every_starter_fails_for_the_stated_reason(void **state)
{
    (void)state;
    each_lesson("starter.c", fail_starter);
}

static void pass_solution(const char *lesson, const cJSON *facts, const char *file)
{
    static const uint64_t seeds[] = {0, 1, 2, 1234567, UINT64_C(9007199254740991)};
    static const char *const given[] = {"given", "given2"};
    for (size_t i = 0; i < 2 * sizeof seeds / sizeof *seeds; i++) {
        verdict v = graded(lesson, file, seeds[i / 2], fact(lesson, facts, given[i % 2]));
        if (!v.pass)
            fail_msg("lessons/%s/%s fails with seed %llu and %s: %s", lesson, file, (unsigned long long)seeds[i / 2],
                     given[i % 2], verdict_message(&v));
        if (exit_status) fail_msg("lessons/%s/%s ended with status %d", lesson, file, exit_status);
        if (v.checks < 4) fail_msg("lessons/%s makes only %d checks", lesson, v.checks);
    }
}

static void every_solution_passes_with_five_seeds_and_both_sizes(void **state)
{
    (void)state;
    each_lesson("solution.c", pass_solution);
}

static bool found_wrong_place;

static const char *text_in(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

static void check_wrong_answer(const char *lesson, const cJSON *facts, const char *file)
{
    const cJSON *w = cJSON_GetObjectItemCaseSensitive(facts, "wrong");
    for (w = w ? w->child : NULL; w && strcmp(text_in(w, "file"), file);) w = w->next;
    if (!w) fail_msg("lessons/%s/lesson.json does not say which check %s fails", lesson, file);
    assert_fails_first(lesson, file, fact(lesson, facts, "given"), text_in(w, "check"));
    assert_fails_first(lesson, file, fact(lesson, facts, "given2"), text_in(w, "check"));
    verdict v = graded(lesson, file, 3, fact(lesson, facts, "given"));
    for (int i = 0; i < v.checks; i++)
        if (!strcmp(v.check[i].name, "right-numbers") && v.check[i].pass) found_wrong_place = true;
}

static void every_wrong_answer_fails_its_check_one_with_right_numbers(void **state)
{
    (void)state;
    for (int i = 0; lesson_checks[i]; i++) {
        const char *lesson = lesson_checks[i]->id;
        found_wrong_place = false;
        int n = each_program(lesson, "wrong_", check_wrong_answer);
        cJSON *facts = facts_of(lesson);
        int declared = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(facts, "wrong"));
        cJSON_Delete(facts);
        if (n < 2 || n != declared) fail_msg("lessons/%s: %d wrong answers, %d declared", lesson, n, declared);
        if (!found_wrong_place) fail_msg("lessons/%s: no wrong answer has the right numbers", lesson);
    }
}

/* The answer's values, as in the log. */
static char *answer_text(const char *lesson, const char *given, uint64_t seed)
{
    size_t size;
    char *lines = run(program_of(lesson, "solution.c"), seed, given, &size);
    char *answer = strstr(lines, "\"kind\":\"answer\""),
         *values = answer ? strstr(answer, "\"kind\":\"values\"") : NULL;
    if (!values) fail_msg("lessons/%s: the solution hands in no values", lesson);
    values[strcspn(values, "\n")] = '\0';
    char *data = strstr(values, "\"data\":[");
    assert_non_null(data);
    char *copy = strdup(data);
    free(lines);
    return copy;
}

static void vary_seed(const char *lesson, const cJSON *facts, const char *file)
{
    (void)file;
    char *a = answer_text(lesson, fact(lesson, facts, "given"), 1),
         *b = answer_text(lesson, fact(lesson, facts, "given"), 2);
    char *again = answer_text(lesson, fact(lesson, facts, "given"), 1);
    if (!strcmp(a, b)) fail_msg("lessons/%s: the answer does not depend on the seed", lesson);
    assert_string_equal(a, again);
    free(a);
    free(b);
    free(again);
}

static void every_answer_depends_on_the_seed(void **state)
{
    (void)state;
    each_lesson("solution.c", vary_seed);
}

static void watch_demo(const char *lesson, const cJSON *facts, const char *file)
{
    size_t size;
    char *lines = run(program_of(lesson, file), 0, fact(lesson, facts, "given"), &size), err[256];
    trace t;
    if (exit_status) fail_msg("lessons/%s/%s ended with status %d", lesson, file, exit_status);
    if (!trace_of_lines(&t, lines, size, err, sizeof err)) fail_msg("lessons/%s/%s: %s", lesson, file, err);
    bool copied_to_card = false, computed_on_card = false, copied_back = false;
    for (int i = 0; i < t.count; i++) {
        const fy_event *e = &t.events[i];
        fy_bytes message = fy_event_bytes(e, e->kind == FY_KIND_error ? e->is.error.message : 0);
        copied_to_card |= e->kind == FY_KIND_copy && e->is.copy.dir == FY_WORD_h2d;
        computed_on_card |= copied_to_card && e->kind == FY_KIND_op && is_on_card(e->is.op.device);
        copied_back |= computed_on_card && e->kind == FY_KIND_copy && e->is.copy.dir == FY_WORD_d2h;
        if (message.size) fail_msg("lessons/%s/%s: %.*s", lesson, file, (int)message.size, message.data);
    }
    if (!copied_back) fail_msg("lessons/%s/%s: nothing goes to the card, is worked on and comes home", lesson, file);
    if (t.count > 80) fail_msg("lessons/%s/%s: %d events are too many to watch", lesson, file, t.count);
    trace_free(&t);
    free(lines);
}

static void every_demo_copies_to_the_card_computes_and_copies_back(void **state)
{
    (void)state;
    each_lesson("demo.c", watch_demo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_builds_without_a_warning),
        cmocka_unit_test(every_starter_fails_for_the_stated_reason),
        cmocka_unit_test(every_solution_passes_with_five_seeds_and_both_sizes),
        cmocka_unit_test(every_wrong_answer_fails_its_check_one_with_right_numbers),
        cmocka_unit_test(every_answer_depends_on_the_seed),
        cmocka_unit_test(every_demo_copies_to_the_card_computes_and_copies_back),
    };
    return cmocka_run_group_tests_name("lessons", tests, prepare, clear);
}
