/* one_reading_test.c: grading, what-if and explain each read their log once. The Makefile wraps the functions that open
 * and read logs with the counting ones below. */
#define _GNU_SOURCE
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command.h"
#include "event.h"
#include "findings.h"
#include "grader_process.h"
#include "log.h"
#include "replay.h"

enum { EVENTS = 12 };

/* Shared memory: a grader is another process. */
static struct counts {
    int opened, as_lines, read[EVENTS + 64];
} * counts;

fy_log *__real_fy_log_open(int fd, char *err, size_t room);
fy_log *__wrap_fy_log_open(int fd, char *err, size_t room);
fy_log *__wrap_fy_log_open(int fd, char *err, size_t room)
{
    counts->opened++;
    return __real_fy_log_open(fd, err, room);
}

size_t __real_fy_log_read(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes);
size_t __wrap_fy_log_read(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes);
size_t __wrap_fy_log_read(fy_log *log, uint64_t *cursor, fy_text *out, size_t bytes)
{
    counts->as_lines++;
    return __real_fy_log_read(log, cursor, out, bytes);
}

bool __real_fy_event_next(fy_log *log, uint64_t *cursor, fy_event *e);
bool __wrap_fy_event_next(fy_log *log, uint64_t *cursor, fy_event *e);
bool __wrap_fy_event_next(fy_log *log, uint64_t *cursor, fy_event *e)
{
    bool more = __real_fy_event_next(log, cursor, e);
    if (more) counts->read[e->seq]++;
    return more;
}

static int prepare(void **state)
{
    (void)state;
    if (!counts) counts = mmap(NULL, sizeof *counts, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return counts == MAP_FAILED;
}

static void forget(void) { *counts = (struct counts){0}; }

static void assert_read_once(int events)
{
    assert_int_equal(counts->opened, 1);
    assert_int_equal(counts->as_lines, 0);
    for (int i = 0; i < events; i++)
        if (counts->read[i] != 1) fail_msg("event %d was read %d times", i, counts->read[i]);
}

/* A log whose writer has exited. */
static int finished_log(const char *path)
{
    char err[256];
    int status, fd = fy_log_file(path, 0, err, sizeof err);
    assert_true(fd >= 0);
    pid_t child = fork();
    if (child == 0) {
        if (!fy_log_adopt(fd, err, sizeof err)) _exit(1);
        FY_EMIT(NULL, session, .schema = FY_SCHEMA_VERSION, .clock = FY_WORD_model, .seed = 7);
        for (int i = 2; i < EVENTS; i++) FY_EMIT(NULL, mark, .text = fy_ref_str("a note"), .now = FY_ABSENT);
        FY_EMIT(NULL, end, .status = 0);
        _exit(0);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    return fd;
}

/* Uses everything: events, arrays, lineage, findings. */
static void check_all(grading *g)
{
    check_same_device(g);
    check_answered(g, "y");
    check_ran_on_card(g, "y", "x");
    check_computed(g, "y", "add", 1);
    check_copies(g, "copies", FY_WORD_h2d, 1, true);
    check(g, "moves", !shows_misconception(g, "to-moves-it"), NULL, "a", "b", "c");
    check(g, "small", !shows_misconception(g, "small-slice-is-small"), NULL, "a", "b", "c");
    check(g, "notes", count_events(g, mark, true) == EVENTS - 2, NULL, "a", "b", "c");
}

static void a_verdict_opens_and_reads_its_log_once(void **state)
{
    static const lesson_check everything = {"00-everything", check_all};
    (void)state;
    const lesson_check *first = lesson_checks[0];
    judgement j;
    int fd = finished_log(NULL);
    forget();
    lesson_checks[0] = &everything;
    judging g = judge_begin(fd, "00-everything", NULL, 7, "x:float32:2x3", NULL);
    judge_end(&g, &j);
    lesson_checks[0] = first;
    if (!j.judged) fail_msg("%s", j.trouble);
    assert_int_equal(j.events, EVENTS);
    assert_int_equal(j.verdict.checks, 8);
    assert_true(j.verdict.check[7].pass); /* the marks were found */
    assert_read_once(EVENTS);
    close(fd);
}

static void explain_and_whatif_read_a_log_once(void **state)
{
    (void)state;
    static const command asked[] = {{"explain", "FILE", "", command_explain}, {"whatif", "FILE", "", command_whatif}};
    char folder[] = "/tmp/ferry-one-reading-XXXXXX", path[64], *argv[] = {path, NULL};
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.log", folder);
    close(finished_log(path));
    for (size_t i = 0; i < 2; i++) {
        forget();
        fflush(stdout);
        int terminal = dup(1), nowhere = open("/dev/null", O_WRONLY);
        dup2(nowhere, 1);
        int status = asked[i].run(&asked[i], 1, argv);
        fflush(stdout);
        dup2(terminal, 1);
        close(terminal);
        close(nowhere);
        assert_int_equal(status, 0);
        assert_read_once(EVENTS);
    }
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_verdict_opens_and_reads_its_log_once),
        cmocka_unit_test(explain_and_whatif_read_a_log_once),
    };
    return cmocka_run_group_tests_name("one_reading", tests, prepare, NULL);
}
