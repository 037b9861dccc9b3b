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
#include <ctype.h>
#include <strings.h>

#include "example.h"
#include "graded.h"
#include "lesson_folders.h"
#include "log_fact.h"

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

static char cards[128]; /* "FERRY_SIM='h200:gpus=2'": of the lesson whose program was asked for; "": the default */

static void choose_cards(const char *id)
{
    cJSON *facts = facts_of(id);
    const char *card = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(facts, "card"));
    *cards = '\0';
    if (card) snprintf(cards, sizeof cards, "FERRY_SIM='%s'", card);
    cJSON_Delete(facts);
}

/* False, with the compiler's messages on stderr, if it does not build cleanly. */
static bool build_program(const char *source, const char *program)
{
    char command[PATH_ROOM + 1536];
    snprintf(command, sizeof command,
             COMPILER " -std=gnu11 -O1 -g -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-unused-variable " SANITIZER
                      " -Ilib %s -L%s -lferry %s -o %s",
             source, build, libs, program);
    return !system(command);
}

/* Path of the program, built once; "": it does not build. */
static const char *program_of(const char *id, const char *file)
{
    static char path[256];
    char source[256];
    choose_cards(id);
    snprintf(path, sizeof path, "%s/%s-%.*s", work_folder, id, (int)strcspn(file, "."), file);
    snprintf(source, sizeof source, "lessons/%s/%s", id, file);
    return !access(path, X_OK) || build_program(source, path) ? path : "";
}

static int exit_status;  /* of the last run */
static bool with_values; /* does the next run log every result, as those that `ferry` grades? */

/* The log of one run. These limits only protect the test; learners' limits are the runner's. */
static char *run(const char *program, uint64_t seed, const char *given, size_t *size)
{
    char command[1024], log[128];
    snprintf(log, sizeof log, "%s/run.jsonl", work_folder);
    unlink(log);
    snprintf(command, sizeof command,
             "ASAN_OPTIONS=detect_leaks=0 FERRY_GPU=sim %s %s FERRY_SEED=%llu FERRY_GIVEN='%s' FERRY_TRACE=%s "
             "timeout 120 %s >%s/said 2>&1",
             cards, with_values ? "FERRY_VALUES=1" : "", (unsigned long long)seed, given, log, program, work_folder);
    exit_status = system(command);
    char *text = file_read(log, size);
    if (!text) fail_msg("%s left no log (status %d)", program, exit_status);
    return text;
}

static verdict graded(const char *id, const char *file, uint64_t seed, const char *given)
{
    const char *program = program_of(id, file);
    if (!*program) fail_msg("lessons/%s/%s does not build without a warning", id, file);
    size_t size;
    with_values = true;
    char *lines = run(program, seed, given, &size), err[512] = "";
    with_values = false;
    verdict v;
    if (!grade_lines(id, lines, size, seed, given, &v, err, sizeof err))
        fail_msg("lessons/%s/%s was not judged: %s", id, file, err);
    free(lines);
    for (int i = 0; i < v.checks; i++)
        if (!*v.check[i].name || !*v.check[i].message || !*v.check[i].expected || !*v.check[i].got)
            fail_msg("lessons/%s/%s: check %d says nothing", id, file, i);
    return v;
}

static verdict assert_fails_first(const char *id, const char *file, const char *given, const char *name)
{
    verdict v = graded(id, file, 3, given);
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
        verdict v = graded(id, file, seed, fact(id, facts, given[i % 2]));
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

static const char *text_in(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}

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
    char *lines = run(program_of(id, "solution.c"), seed, given, &size);
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

/* ---- the example: what is shown, asked and told ------------------------------------------------------------ */

static void watch_demo(const char *id, const cJSON *facts, const char *file)
{
    size_t size;
    char *lines = run(program_of(id, file), 0, fact(id, facts, "given"), &size), err[256];
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
    char *lines = run(program_of(id, file), 0, fact(id, facts, "given"), &size);
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
    char *lines = run(program, 1, fact(l->id, facts, "given"), &size);
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
        char *lines = strcmp(other, id) ? run(program_of(id, file), 3, given, &size) : NULL, err[512];
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

static void grade_twice(const char *id, const cJSON *facts, const char *file)
{
    const char *given = fact(id, facts, "given");
    size_t size;
    char *lines = run(program_of(id, file), 3, given, &size), err[512];
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
    if (strstr(SANITIZER, "thread")) unsetenv("LONG"); /* ten times as slow; the programs have one thread */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_program_builds_without_a_warning),
        cmocka_unit_test(every_starter_fails_for_the_stated_reason),
        cmocka_unit_test(every_solution_passes_with_every_seed_and_both_sizes),
        cmocka_unit_test(every_wrong_answer_fails_its_check_one_with_right_numbers),
        cmocka_unit_test(every_answer_depends_on_the_seed),
        cmocka_unit_test(every_demo_shows_work_on_the_card),
        cmocka_unit_test(every_prediction_has_an_answer_in_the_log),
        cmocka_unit_test(every_example_has_variants_with_other_answers),
        cmocka_unit_test(every_number_of_a_text_is_that_of_the_run),
        cmocka_unit_test(no_solution_solves_another_lesson),
        cmocka_unit_test(grading_twice_gives_the_same_bytes),
    };
    return cmocka_run_group_tests_name("lessons", tests, prepare, clear);
}
