/* unharmed_test.c: one `ferry serve`, and a learner who saves programs that crash, hang, print, allocate and fork
 * endlessly. The page receives a verdict for each; each log contains the copy made before; the lessons stay available;
 * and the solution then passes. */
#define _GNU_SOURCE 1

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "ferry_process.h"

#define ID "01-where-am-i"

/* Copies to the card in line 11, then runs `rest`. */
#define PROGRAM(rest) \
    "#include <ferry.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n\n\n" \
    "int main(void)\n{\n    fy_tensor *a = fy_given(\"mat1\");\n" \
    "    fy_tensor *b = fy_to(a, \"cuda\");\n" rest "}\n"

static const char device_pointer[] = PROGRAM("    float *p = fy_data(b);\n    return (int)p[0];\n");

static const char endless_loop[] = PROGRAM("    for (volatile int i = 0;;) i = fy_dim(b);\n");

static const char gigabyte[] = PROGRAM("    static char text[65536];\n    memset(text, 'x', sizeof text);\n"
                                       "    for (int i = 0; i < 16384; i++) fwrite(text, 1, sizeof text, stdout);\n"
                                       "    return fy_dim(b) - 2;\n");

/* Volatile, so that the writes are not optimized away: sanitizers do not count untouched memory. */
static const char allocation[] =
    PROGRAM("    for (size_t n = fy_dim(b) * (8 << 20);;) {\n        volatile char *p = malloc(n);\n"
            "        for (size_t i = 0; p && i < n; i += 4096) p[i] = 1;\n    }\n");

static const char fork_bomb[] =
    PROGRAM("    for (int i = 0;; i++) {\n        if (i < 10) fork();\n        usleep(20000 * fy_dim(b));\n    }\n");

#ifdef __SANITIZE_THREAD__ /* under TSan, 64 processes exceed the memory limit */
#define MANY_PROCESSES "stopped. The last Ferry call that finished"
#else
#define MANY_PROCESSES "more than 64 processes"
#endif

static const struct misbehaving_program {
    const char *source, *message, *in_log;
} misbehaving_programs[] = {
    {device_pointer, "read element 0 of 'b', which lives on cuda:0", "\"code\":\"device_pointer\""},
    {gigabyte, "printed more than 64 MiB", "\"dir\":\"h2d\""},
    {allocation, "2048 MiB of memory", "\"dir\":\"h2d\""},
    {fork_bomb, MANY_PROCESSES, "\"dir\":\"h2d\""},
};

/* Waits for the final status of the newest run. Free it. */
static cJSON *wait_for_verdict(int fd)
{
    int opcode;
    size_t size;
    for (char *text; (text = next_frame(fd, &opcode, &size)) && opcode == 1; free(text)) {
        if (strncmp(text, "{\"type\":\"status\"", 16)) continue;
        cJSON *status = cJSON_Parse(text);
        if (!strcmp(json_field(status, "state"), "done")) return free(text), status;
        if (!strcmp(json_field(status, "state"), "error")) fail_msg("%s", text);
        cJSON_Delete(status);
    }
    fail_msg("the connection has ended");
    return NULL;
}

static void assert_lessons_are_served(const page *p)
{
    cJSON *all = api(p, "GET", "/api/lessons", NULL, 200);
    assert_true(cJSON_GetArraySize(all) >= 3);
    cJSON_Delete(all);
}

static void assert_log_holds(const page *p, int run, const char *part)
{
    char path[64];
    snprintf(path, sizeof path, "/api/runs/%d/log", run);
    char *log = http_get(&p->address, path);
    int copies = 0;
    for (const char *at = log; (at = strstr(at, "\"dir\":\"h2d\"")); at++) copies++;
    assert_int_equal(copies, 1);
    if (!strstr(log, part)) fail_msg("%s is not in the log of run %d", part, run);
    free(log);
}

static void save_and_check_verdict(const page *p, int fd, const struct misbehaving_program *d)
{
    assert_true(write_answer(ID, d->source)); /* like an editor */
    cJSON *status = wait_for_verdict(fd), *verdict = cJSON_GetObjectItem(status, "verdict");
    if (!cJSON_IsFalse(cJSON_GetObjectItem(verdict, "pass")) || !strstr(json_field(verdict, "message"), d->message))
        fail_msg("'%s' was wanted, not: %s", d->message, json_field(verdict, "message"));
    assert_log_holds(p, cJSON_GetObjectItem(status, "run")->valueint, d->in_log);
    assert_lessons_are_served(p);
    cJSON_Delete(status);
}

/* The server lets each program run for `seconds`. */
static void assert_server_survives(const char *seconds, const struct misbehaving_program *programs, size_t count)
{
    page p;
    start_ferry(&p.ferry, (const char *[]){"serve", "--no-browser", "--port", "8740", "--seconds", seconds, NULL});
    enter_page(&p);
    cJSON_Delete(api(&p, "GET", "/api/lessons/" ID, NULL, 200)); /* creates the learner's file */
    int fd = join_server(&p.address);
    for (size_t i = 0; i < count; i++) save_and_check_verdict(&p, fd, &programs[i]);
    assert_true(copy_answer(ID, "solution.c"));
    cJSON *status = wait_for_verdict(fd);
    assert_true(cJSON_IsTrue(cJSON_GetObjectItem(cJSON_GetObjectItem(status, "verdict"), "pass")));
    cJSON_Delete(status);
    assert_lessons_are_served(&p);
    close(fd);
    assert_int_equal(end_ferry(&p.ferry, SIGTERM), 0);
}

static void five_programs_that_misbehave_leave_the_server_unharmed(void **state)
{
    (void)state;
    static const struct misbehaving_program endless = {endless_loop, "still running after 3 s", "\"dir\":\"h2d\""};
    assert_server_survives("3", &endless, 1);
    assert_server_survives("30", misbehaving_programs, sizeof misbehaving_programs / sizeof misbehaving_programs[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_programs_that_misbehave_leave_the_server_unharmed),
    };
    return cmocka_run_group_tests_name("unharmed", tests, make_learner_folder, remove_learner_folder);
}
