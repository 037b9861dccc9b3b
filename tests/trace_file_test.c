/* The file of FERRY_TRACE in use by several programs, or deleted or truncated while it is written. Programs continue,
 * and a message tells what happens to their events. */
#define _GNU_SOURCE
#include "event.h"
#include "log.h"
#include "log_format.h"
#include "session_hooks.h"
#include "text.h"
#include "traced.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void trace(const char *text)
{
    setenv("FERRY_TRACE", traced_path, 1);
    fy_session_start();
    FY_EMIT(NULL, mark, .text = fy_ref_str(text), .now = FY_ABSENT);
}

static char *lines_in(const char *name)
{
    char file[96];
    snprintf(file, sizeof file, "%s/%s", traced_folder, name);
    char *lines = slurp(file);
    if (!lines) fail_msg("there is no %s", name);
    return lines;
}

/* The file is complete, and contains only the program that recorded `text`. */
static void assert_log_of(const char *name, const char *text)
{
    char *lines = lines_in(name);
    const fy_text all = {.data = lines, .size = strlen(lines)};
    assert_int_equal(assert_lines_are_whole(&all), 3);
    assert_int_equal(count_of(lines, text), 1);
    free(lines);
}

static int start_empty(void **state)
{
    char command[80];
    (void)state;
    snprintf(command, sizeof command, "rm -f %s/*", traced_folder);
    return system(command);
}

/* ---- one name, several programs ---- */

static int ready[2], go[2];

/* Signals that it traces, and exits when the test closes its pipe. */
static void trace_until_closed(const char *text, bool close_files)
{
    char byte = 0;
    close(go[1]);
    trace(text);
    for (int fd = 3; close_files && fd < 64; fd++)
        if (fd != ready[1] && fd != go[0]) close(fd);
    if (write(ready[1], "", 1) != 1 || read(go[0], &byte, 1) != 0) exit(9);
}

static void trace_second(void) { trace("second"); }

static pid_t start_first(bool close_files)
{
    char byte;
    assert_true(!pipe(ready) && !pipe(go));
    fflush(NULL);
    pid_t first = fork();
    if (!first) {
        trace_until_closed("first", close_files);
        exit(3);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    return first;
}

static void end_programs(pid_t *programs, int count)
{
    int status;
    for (int i = 0; i < 2; i++) close(go[1 - i]);
    for (int i = 0; i < count; i++) {
        assert_int_equal(waitpid(programs[i], &status, 0), programs[i]);
        assert_true(WIFEXITED(status));
        assert_int_equal(WEXITSTATUS(status), 3);
    }
    for (int i = 0; i < 2; i++) close(ready[i]);
}

static void a_second_program_takes_another_name_and_says_so(void **state)
{
    (void)state;
    pid_t first = start_first(false);
    assert_exits(trace_second, 3);
    assert_said("run.jsonl is being written by another program; this run is recorded to ");
    assert_said("run.2.jsonl\n");
    assert_log_of("run.2.jsonl", "\"second\"");
    end_programs(&first, 1);
    assert_log_of("run.jsonl", "\"first\"");
    assert_exits(trace_second, 3); /* no program writes it now */
    assert_log_of("run.jsonl", "\"second\"");
}

/* before the lock names its writer */
static void a_new_log_is_its_makers(void **state)
{
    (void)state;
    char err[200];
    int fd = fy_log_file(traced_path, 0, err, sizeof err);
    assert_true(fd >= 0);
    assert_int_equal(fy_log_file(traced_path, 0, err, sizeof err), -1);
    assert_int_equal(errno, EBUSY);
    assert_non_null(strstr(err, "run.jsonl is being written by another program"));
    close(fd);
    fd = fy_log_file(traced_path, 0, err, sizeof err);
    assert_true(fd >= 0);
    close(fd);
}

static void programs_that_start_at_once_keep_a_log_each(void **state)
{
    (void)state;
    enum { PROGRAMS = 12 };
    pid_t programs[PROGRAMS];
    char name[32], text[32], byte;
    int start[2];
    assert_true(!pipe(ready) && !pipe(go) && !pipe(start));
    fflush(NULL);
    for (int i = 0; i < PROGRAMS; i++) {
        if ((programs[i] = fork())) continue;
        close(start[1]);
        if (read(start[0], &byte, 1)) exit(9);
        snprintf(text, sizeof text, "program %d", i);
        trace_until_closed(text, false);
        exit(3);
    }
    close(start[0]), close(start[1]);
    for (int i = 0; i < PROGRAMS; i++) assert_int_equal(read(ready[0], &byte, 1), 1);
    end_programs(programs, PROGRAMS);
    for (int i = 0, found = 0; i < PROGRAMS; i++, found = 0) {
        snprintf(text, sizeof text, "\"program %d\"", i);
        for (int k = 1; k <= PROGRAMS; k++) {
            snprintf(name, sizeof name, k > 1 ? "run.%d.jsonl" : "run.jsonl", k);
            char *lines = lines_in(name);
            found += count_of(lines, text);
            free(lines);
        }
        assert_int_equal(found, 1);
    }
}

/* the mapping keeps the lock */
static void a_writer_that_closed_its_files_keeps_its_name(void **state)
{
    (void)state;
    pid_t first = start_first(true);
    assert_exits(trace_second, 3);
    end_programs(&first, 1);
    assert_log_of("run.jsonl", "\"first\"");
    assert_log_of("run.2.jsonl", "\"second\"");
}

/* ---- the file is removed ---- */

static void trace_and_unlink(void)
{
    trace("first");
    unlink(traced_path);
    FILE *other = fopen(traced_path, "w");
    fputs("mine\n", other);
    fclose(other);
}

static void a_file_that_came_meanwhile_is_left_alone(void **state)
{
    (void)state;
    assert_exits(trace_and_unlink, 3);
    char *other = lines_in("run.jsonl");
    assert_string_equal(other, "mine\n");
    free(other);
    assert_log_of("run.2.jsonl", "\"first\"");
    assert_said("run.jsonl was replaced while the program ran; its events are written to ");
}

static void trace_unlinked_on_a_full_disk(void)
{
    trace("first");
    unlink(traced_path);
    signal(SIGXFSZ, SIG_IGN);
    setrlimit(RLIMIT_FSIZE, &(struct rlimit){300, 300});
}

static void a_deleted_log_is_not_called_kept(void **state)
{
    (void)state;
    assert_exits(trace_unlinked_on_a_full_disk, 3);
    assert_said("cannot write ");
    assert_said("Its events are lost");
}

static void trace_with_missing_card(void)
{
    setenv("FERRY_SIM", "bogus", 1);
    trace("never");
}

static void a_refused_card_leaves_no_trace(void **state)
{
    (void)state;
    assert_exits(trace_with_missing_card, 1);
    assert_said("FERRY_SIM=bogus");
    assert_int_not_equal(access(traced_path, F_OK), 0);
}

/* ---- the file is truncated ---- */

static void trace_cut(void)
{
    trace("first");
    if (truncate(traced_path, 0)) exit(9);
    for (int i = 0; i < 20000; i++) FY_EMIT(FY_AT("fy_mark", "text"), mark, .text = fy_ref_str("later"), .now = i);
    if (fy_log_is_on()) exit(9);
}

static void a_program_with_truncated_log_goes_on_and_says_so(void **state)
{
    (void)state;
    assert_exits(trace_cut, 3);
    assert_said("run.jsonl was truncated while the program ran; its events are lost");
}

static void trace_cut_and_filled(void)
{
    trace("first");
    struct stat s;
    if (stat(traced_path, &s) || truncate(traced_path, 0) || truncate(traced_path, s.st_size)) exit(9);
}

static void a_log_that_was_cut_and_grew_again_is_cut(void **state)
{
    (void)state;
    assert_exits(trace_cut_and_filled, 3);
    assert_said("run.jsonl was truncated while the program ran");
}

static void trace_truncated(void)
{
    trace("first");
    if (truncate(traced_path, 100 << 10)) exit(9);
    for (int i = 0; i < 20000; i++) FY_EMIT(NULL, mark, .text = fy_ref_str("later"), .now = i);
}

static void read_cut_log(void)
{
    fy_text text = lines_of(open(traced_path, O_RDONLY));
    if (assert_lines_are_whole(&text) < 2) exit(9);
    free(text.data);
}

static void what_is_left_of_a_cut_log_can_be_read(void **state)
{
    (void)state;
    assert_exits(trace_truncated, 3);
    assert_said("reads what is left of it");
    assert_exits(read_cut_log, 3);
}

static volatile char *own_file;

static void exit_42(int signal_number)
{
    (void)signal_number;
    _exit(42);
}

static void truncate_own_file(void)
{
    signal(SIGBUS, exit_42);
    trace("first");
    int fd = memfd_create("own", 0);
    if (ftruncate(fd, 4096)) exit(9);
    own_file = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
    if (ftruncate(fd, 0)) exit(9);
    exit(*own_file);
}

static void truncate_without_handler(void)
{
    signal(SIGBUS, SIG_DFL);
    trace("first");
    raise(SIGBUS);
}

static void a_bus_error_elsewhere_is_the_programs_own(void **state)
{
    (void)state;
    assert_exits(truncate_own_file, 42);
    int status = run_program(truncate_without_handler);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGBUS);
}

/* In another process: cmocka catches SIGBUS in this one. */
static void read_while_it_is_cut(void)
{
    uint16_t kind;
    fy_text text = {0};
    uint64_t cursor = 0;
    int fd = log_to_write(1000);
    for (int i = 0; i < 500; i++) FY_EMIT(NULL, mark, .now = i);
    fy_log *log = log_to_read(fd);
    if (!fy_log_slot(log, 400, &kind) || ftruncate(fd, 0)) exit(9);
    if (fy_log_slot(log, 400, &kind)) exit(9); /* the size was not checked in between */
    if (fy_log_read(log, &cursor, &text, SIZE_MAX) || fy_log_count(log)) exit(9);
    if (!fy_log_is_truncated(log) || !fy_log_drained(log, cursor)) exit(9);
    fy_log_close(log);
}

static void a_reader_survives_a_log_that_is_cut_under_it(void **state)
{
    (void)state;
    assert_exits(read_while_it_is_cut, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_second_program_takes_another_name_and_says_so, start_empty),
        cmocka_unit_test_setup(a_new_log_is_its_makers, start_empty),
        cmocka_unit_test_setup(programs_that_start_at_once_keep_a_log_each, start_empty),
        cmocka_unit_test_setup(a_writer_that_closed_its_files_keeps_its_name, start_empty),
        cmocka_unit_test_setup(a_file_that_came_meanwhile_is_left_alone, start_empty),
        cmocka_unit_test_setup(a_deleted_log_is_not_called_kept, start_empty),
        cmocka_unit_test_setup(a_refused_card_leaves_no_trace, start_empty),
        cmocka_unit_test_setup(a_program_with_truncated_log_goes_on_and_says_so, start_empty),
        cmocka_unit_test_setup(a_log_that_was_cut_and_grew_again_is_cut, start_empty),
        cmocka_unit_test_setup(what_is_left_of_a_cut_log_can_be_read, start_empty),
        cmocka_unit_test_setup(a_bus_error_elsewhere_is_the_programs_own, start_empty),
        cmocka_unit_test_setup(a_reader_survives_a_log_that_is_cut_under_it, start_empty),
    };
    return cmocka_run_group_tests_name("trace_file", tests, make_folder, remove_folder);
}
