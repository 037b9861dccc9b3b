/* session_test.c: a program's log from its first event to its exit, for each setting of the environment. Each program
 * is a function that runs in a child process. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "logs.h"
#include "session_hooks.h"
#include "settings.h"
#include "text.h"
#include "traced.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void trace_to_path(void)
{
    setenv("FERRY_TRACE", traced_path, 1);
    setenv("FERRY_SEED", "42", 1);
    fy_session_start();
    fy_session_start(); /* once is enough */
    FY_EMIT(NULL, mark, .text = fy_ref_str("one"), .now = FY_ABSENT);
}

static void a_trace_begins_with_session_and_ends_with_exit_status(void **state)
{
    (void)state;
    assert_exits(trace_to_path, 3);
    char *lines = slurp(traced_path), *errors = traced_output();
    fy_text text = {.data = lines, .size = strlen(lines)};
    assert_int_equal(assert_lines_are_whole(&text), 3);
    assert_non_null(strstr(lines, "\"kind\":\"session\",\"th\":0,\"schema\":2,\"ferry\":\""));
    assert_non_null(strstr(lines, "\"seed\":42,\"devices\":["));
    assert_non_null(strstr(lines, "\"kind\":\"end\",\"th\":0,\"status\":3}"));
    assert_null(strstr(errors, "trace"));
    free(lines);
    free(errors);
}

static void trace_and_die(void)
{
    trace_to_path();
    raise(SIGKILL);
}

static void a_killed_program_leaves_its_slot_log(void **state)
{
    (void)state;
    char err[200] = "";
    assert_true(WIFSIGNALED(run_program(trace_and_die)));
    int fd = open(traced_path, O_RDONLY);
    assert_true(fy_log_is_log(fd));
    fy_log *log = fy_log_open(fd, err, sizeof err);
    assert_non_null(log);
    fy_text text = {0};
    uint64_t cursor = 0;
    assert_int_equal(fy_log_read(log, &cursor, &text, SIZE_MAX), 2);
    assert_true(fy_log_drained(log, cursor));
    assert_non_null(strstr(text.data, "\"text\":\"one\""));
    free(text.data);
    fy_log_close(log);
    close(fd);
}

static void trace_and_close_everything(void)
{
    trace_to_path();
    for (int fd = 3; fd < 64; fd++) close(fd);
    assert_int_equal(open("/dev/null", O_RDWR), 3); /* the log's descriptor number refers to another file now */
    for (int i = 0; i < 20000; i++) FY_EMIT(NULL, mark, .now = i);
}

static void closing_descriptors_loses_nothing(void **state)
{
    (void)state;
    assert_exits(trace_and_close_everything, 3);
    char *lines = slurp(traced_path);
    assert_int_equal(count_of(lines, "\"kind\":\"mark\""), 20001);
    free(lines);
}

static void trace_to_a_full_disk(void)
{
    trace_to_path();
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){100, 100});
}

static void an_unwritable_trace_keeps_its_slot_log_and_says_so(void **state)
{
    (void)state;
    char name[90], err[200];
    assert_exits(trace_to_a_full_disk, 3);
    char *errors = traced_output(); /* at most 100 bytes of it */
    assert_non_null(strstr(errors, "cannot write"));
    assert_non_null(strstr(errors, traced_path));
    free(errors);
    int fd = open(traced_path, O_RDONLY);
    fy_log *log = fy_log_open(fd, err, sizeof err);
    assert_non_null(log);
    assert_int_equal(fy_log_count(log), 3);
    fy_log_close(log);
    close(fd);
    snprintf(name, sizeof name, "%s.tmp", traced_path);
    assert_int_not_equal(access(name, F_OK), 0);
}

static void fork_one_child(void)
{
    trace_to_path();
    pid_t child = fork();
    if (!child) {
        FY_EMIT(NULL, mark, .text = fy_ref_str("child"), .now = FY_ABSENT);
        exit(5);
    }
    waitpid(child, NULL, 0);
    pid_t silent = fork();
    if (!silent) exit(6);
    waitpid(silent, NULL, 0);
    FY_EMIT(NULL, mark, .text = fy_ref_str("parent"), .now = FY_ABSENT);
}

static void a_forked_childs_log_names_its_parents_last_event(void **state)
{
    (void)state;
    char name[90];
    assert_exits(fork_one_child, 3);
    char *lines = slurp(traced_path);
    assert_int_equal(count_of(lines, "\"text\":\"child\""), 0);
    assert_int_equal(count_of(lines, "\"kind\":\"end\""), 1);
    assert_int_equal(count_of(lines, "\"text\":\"parent\""), 1);
    free(lines);
    snprintf(name, sizeof name, "%s.child1", traced_path);
    lines = slurp(name);
    assert_non_null(lines);
    assert_non_null(strstr(lines, "\"parent_seq\":1}"));
    assert_int_equal(count_of(lines, "\"text\":\"child\""), 1);
    assert_non_null(strstr(lines, "\"status\":5}"));
    free(lines);
    unlink(name);
    snprintf(name, sizeof name, "%s.child2", traced_path);
    assert_int_not_equal(access(name, F_OK), 0); /* it emitted nothing */
}

static int shared_log_fd = -1;

static void write_to_shared_log(void)
{
    char number[16];
    snprintf(number, sizeof number, "%d", shared_log_fd);
    setenv("FERRY_LOG_FD", number, 1);
    fy_session_start();
    if (getenv("FERRY_LOG_FD")) exit(9);
    FY_EMIT(NULL, mark, .now = 1);
}

static void a_program_writes_to_the_log_that_it_was_lent(void **state)
{
    (void)state;
    char err[200];
    shared_log_fd = fy_log_file(NULL, 0, err, sizeof err);
    assert_exits(write_to_shared_log, 3);
    fy_text text = lines_of(shared_log_fd);
    assert_int_equal(assert_lines_are_whole(&text), 3);
    free(text.data);
    close(shared_log_fd);
    shared_log_fd = 77;
    assert_exits(write_to_shared_log, 3);
    char *errors = traced_output();
    assert_non_null(strstr(errors, "FERRY_LOG_FD=77 is not an open Ferry log"));
    free(errors);
}

static void trace_to_missing_folder(void)
{
    setenv("FERRY_TRACE", "/nowhere/run.jsonl", 1);
    setenv("FERRY_SEED", "many", 1);
    fy_session_start();
    if (fy_session_seed()) exit(9);
    if (FY_EMIT(NULL, mark, .now = 1) || fy_log_is_on()) exit(9);
}

static void what_is_unavailable_is_named_and_the_program_goes_on(void **state)
{
    (void)state;
    assert_exits(trace_to_missing_folder, 3);
    char *errors = traced_output();
    assert_non_null(strstr(errors, "cannot write /nowhere/run.jsonl"));
    assert_non_null(strstr(errors, "FERRY_SEED=many"));
    free(errors);
}

static void narrate(void)
{
    setenv("FERRY_NARRATE", "1", 1);
    fy_session_start();
    FY_EMIT(NULL, mark, .text = fy_ref_str("hello"), .now = FY_ABSENT);
}

static void narration_goes_to_stderr(void **state)
{
    (void)state;
    assert_exits(narrate, 3);
    char *errors = traced_output();
    assert_non_null(strstr(errors, "note    hello"));
    assert_non_null(strstr(errors, "exit status 3"));
    free(errors);
}

static void misspell(void)
{
    setenv("FERRY_NARATE", "1", 1);
    fy_session_start();
    fy_session_start();
}

static void a_misspelt_variable_is_named_once(void **state)
{
    (void)state;
    assert_exits(misspell, 3);
    char *errors = traced_output();
    char *at = strstr(errors, "FERRY_NARATE is ignored");
    assert_non_null(at);
    assert_null(strstr(at + 1, "FERRY_NARATE"));
    free(errors);
}

static void print_nothing(void)
{
    fy_session_start();
    if (FY_EMIT(NULL, mark, .now = 1) || fy_log_is_on() || fy_ref_str("x")) exit(9);
}

static void without_being_asked_nothing_is_recorded(void **state)
{
    (void)state;
    assert_exits(print_nothing, 3);
    char *errors = traced_output();
    assert_string_equal(errors, "");
    free(errors);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_trace_begins_with_session_and_ends_with_exit_status),
        cmocka_unit_test(a_killed_program_leaves_its_slot_log),
        cmocka_unit_test(closing_descriptors_loses_nothing),
        cmocka_unit_test(an_unwritable_trace_keeps_its_slot_log_and_says_so),
        cmocka_unit_test(a_forked_childs_log_names_its_parents_last_event),
        cmocka_unit_test(a_program_writes_to_the_log_that_it_was_lent),
        cmocka_unit_test(what_is_unavailable_is_named_and_the_program_goes_on),
        cmocka_unit_test(narration_goes_to_stderr),
        cmocka_unit_test(a_misspelt_variable_is_named_once),
        cmocka_unit_test(without_being_asked_nothing_is_recorded),
    };
    return cmocka_run_group_tests_name("session", tests, make_folder, remove_folder);
}
