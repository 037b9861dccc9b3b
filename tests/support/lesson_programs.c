/* lesson_programs.c: see lesson_programs.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lesson_programs.h"

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

char work_folder[64];
static char build[PATH_ROOM]; /* the build folder of this test */
static char libs[512];        /* libraries besides libferry.a */

int prepare_programs(void **state)
{
    (void)state;
    strcpy(work_folder, "/tmp/ferry-lessons-XXXXXX");
    ssize_t n = readlink("/proc/self/exe", build, sizeof build - 1);
    if (!mkdtemp(work_folder) || n < 0) return -1;
    build[n] = '\0';
    for (int i = 0; i < 2; i++) *strrchr(build, '/') = '\0'; /* BUILD/tests/NAME */
    FILE *make = popen("make -s core-libs", "r");
    if (!make || !fgets(libs, sizeof libs, make)) return -1;
    libs[strcspn(libs, "\n")] = '\0';
    return pclose(make);
}

int remove_programs(void **state)
{
    (void)state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", work_folder);
    return system(command);
}

bool programs_are_slow(void) { return strstr(SANITIZER, "thread") != NULL; }

static char cards[128]; /* "FERRY_SIM='h200:gpus=2'": of the lesson whose program was asked for; "": the default */

void choose_cards(const char *id)
{
    cJSON *facts = facts_of(id);
    const char *card = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(facts, "card"));
    *cards = '\0';
    if (card) snprintf(cards, sizeof cards, "FERRY_SIM='%s'", card);
    cJSON_Delete(facts);
}

bool build_program(const char *source, const char *program)
{
    char command[PATH_ROOM + 1536];
    snprintf(command, sizeof command,
             COMPILER " -std=gnu11 -O1 -g -Wall -Wextra -Wshadow -Wconversion -Werror -Wno-unused-variable " SANITIZER
                      " -Ilib %s -L%s -lferry %s -o %s",
             source, build, libs, program);
    return !system(command);
}

const char *program_of(const char *id, const char *file)
{
    static char path[256];
    char source[256];
    const char *name = strrchr(file, '/') ? strrchr(file, '/') + 1 : file;
    choose_cards(id);
    snprintf(path, sizeof path, "%s/%s-%.*s", work_folder, id, (int)strcspn(name, "."), name);
    snprintf(source, sizeof source, "lessons/%s/%s", id, file);
    return !access(path, X_OK) || build_program(source, path) ? path : "";
}

int exit_status;
static bool with_values; /* does the next run log every result, as those that `ferry` grades? */

/* These limits only protect the test; learners' limits are the runner's. */
char *run_lesson(const char *program, uint64_t seed, const char *given, size_t *size)
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

verdict graded_program(const char *id, const char *file, uint64_t seed, const char *given)
{
    const char *program = program_of(id, file);
    if (!*program) fail_msg("lessons/%s/%s does not build without a warning", id, file);
    size_t size;
    with_values = true;
    char *lines = run_lesson(program, seed, given, &size), err[512] = "";
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

const char *text_in(const cJSON *object, const char *name)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, name));
    return text ? text : "";
}
