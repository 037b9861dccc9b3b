/* A program that accesses VRAM from the host crashes, as with a real card, with an explanation. Each test runs such a
 * program in a child and checks its output, status and log. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "ferry.h"
#include "forked.h"
#include "log.h"
#include "text.h"

#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#else
#define VALGRIND_DISABLE_ERROR_REPORTING ((void)0)
#endif

static char trace[64];
static int made_at; /* line on which the child makes its tensor; the same in both processes */

static void (*mistake)(void);

static void make_mistake(void)
{
    VALGRIND_DISABLE_ERROR_REPORTING; /* deliberately wrong */
    mistake();
    _exit(0);
}

static void run_in_child(void (*program)(void))
{
    mistake = program;
    run_forked(make_mistake, ENVIRONMENT("FERRY_GPU", "sim", "FERRY_TRACE", trace), false);
}

static void assert_killed_by(int signal_number)
{
    assert_true(WIFSIGNALED(last_child.status));
    assert_int_equal(WTERMSIG(last_child.status), signal_number);
}

/* Does one line of the log contain all of these? */
static bool logged(const char *a, const char *b, const char *c)
{
    char err[200];
    uint64_t cursor = 0;
    fy_text lines = {0};
    bool found = false;
    int fd = open(trace, O_RDWR);
    fy_log *log = fy_log_open(fd, err, sizeof err);
    if (!log) fail_msg("%s", err);
    fy_log_writer_died(log);
    while (fy_log_read(log, &cursor, &lines, 1 << 20)) continue;
    for (char *line = strtok(lines.data, "\n"); line && !found; line = strtok(NULL, "\n"))
        found = strstr(line, a) && strstr(line, b) && strstr(line, c);
    free(lines.data);
    fy_log_close(log);
    close(fd);
    return found;
}

/* ---- programs ---- */

static float *weights_on_cuda(void)
{
    made_at = __LINE__ + 1;
    fy_tensor *weights = fy_zeros((4, 3), .device = "cuda");
    return fy_data(weights);
}

static void read_element_5(void)
{
    volatile float *w = weights_on_cuda();
    if (w[5] == 0) puts("?");
}

static void write_element_0(void)
{
    volatile float *w = weights_on_cuda();
    w[0] = 1;
}

static void read_integers(void)
{
    volatile int64_t *p = fy_data(fy_arange((10), .device = "cuda", .name = "steps"));
    if (p[7] == 7) puts("?");
}

static void read_after_free(void)
{
    fy_tensor *freed = fy_zeros((4), .device = "cuda");
    volatile float *p = fy_data(freed);
    fy_free(freed);
    if (p[0] == 0) puts("?");
}

static void read_unmapped(void)
{
    volatile int *volatile unmapped = (volatile int *)16;
    fy_free(fy_zeros((4), .device = "cuda"));
    if (*unmapped) puts("?");
}
static const int unmapped_at = __LINE__ - 2;

static void measure_no_text(void) /* crashes in libc */
{
    const char *volatile none = NULL;
    fy_free(fy_zeros((4), .device = "cuda"));
    volatile size_t size = strlen(none);
    (void)size;
}
static const int measured_at = __LINE__ - 3;

static void raise_segv(void)
{
    fy_free(fy_zeros((4), .device = "cuda"));
    raise(SIGSEGV);
}

static void own_handler(int signal_number)
{
    (void)signal_number;
    if (write(STDERR_FILENO, "mine\n", 5) != 5) _exit(2);
    _exit(42);
}

static void read_unmapped_with_handler(void)
{
    signal(SIGSEGV, own_handler);
    read_unmapped();
}

static void read_vram_with_handler(void)
{
    signal(SIGSEGV, own_handler);
    read_element_5();
}

/* ---- tests ---- */

static void a_read_is_explained_by_name_element_and_line(void **state)
{
    char made[80];
    (void)state;
    run_in_child(read_element_5);
    weights_on_cuda(); /* for the line number */
    assert_killed_by(SIGSEGV);
    assert_said("the host read element 5 of 'weights', which lives on cuda:0");
    snprintf(made, sizeof made, "made at tests/guard_test.c:%d)", made_at);
    assert_said(made);
    assert_said("ferry: tests/guard_test.c:");
    assert_said("0x7000000014 in the log, 0x");
    assert_said("fix: copy it to the host first: fy_cpu(weights)");
}

static void a_write_is_explained_as_a_write(void **state)
{
    (void)state;
    run_in_child(write_element_0);
    assert_killed_by(SIGSEGV);
#if defined(__x86_64__) || defined(__aarch64__)
    assert_said("the host wrote to element 0 of 'weights'");
    assert_said("fix: write into a tensor on the CPU, then copy it to the GPU: b = fy_cuda(a)");
#endif
}

static void elements_are_counted_in_their_own_size(void **state)
{
    (void)state;
    run_in_child(read_integers);
    assert_said("element 7 of 'steps'");
}

static void freed_vram_is_explained_too(void **state)
{
    (void)state;
    run_in_child(read_after_free);
    assert_killed_by(SIGSEGV);
    assert_said("VRAM that belongs to no tensor; was it freed?");
}

static void the_log_holds_the_error_and_all_before_it(void **state)
{
    (void)state;
    run_in_child(read_element_5);
    assert_true(logged("\"kind\":\"alloc\"", "\"device\":\"cuda:0\"", ""));
    assert_true(logged("\"kind\":\"error\"", "\"code\":\"device_pointer\"", "element 5 of 'weights'"));
    assert_true(logged("\"kind\":\"error\"", "fy_cpu(weights)", ""));
    assert_false(logged("\"kind\":\"end\"", "", ""));
}

static void other_faults_are_not_ferrys_to_explain(void **state)
{
    (void)state;
    run_in_child(read_unmapped);
    assert_null(strstr(last_child.output, "ferry: the host"));
    assert_killed_by(SIGSEGV);
    run_in_child(raise_segv);
    assert_null(strstr(last_child.output, "ferry: the host"));
    assert_killed_by(SIGSEGV);
}

static void the_log_says_that_the_program_crashed(void **state)
{
    (void)state;
    run_in_child(read_unmapped);
    assert_true(logged("\"kind\":\"error\"", "\"code\":\"crash\"", "segmentation fault"));
    run_in_child(read_unmapped_with_handler); /* the process may continue */
    assert_false(logged("\"kind\":\"error\"", "", ""));
}

static bool crash_is_at(int line)
{
    char number[32];
    snprintf(number, sizeof number, "\"line\":%d}", line);
    return logged("\"code\":\"crash\"", "\"file\":\"tests/guard_test.c\"", number);
}

static void a_crash_has_the_line_at_which_it_happened(void **state)
{
    (void)state;
    run_in_child(read_unmapped);
    assert_true(crash_is_at(unmapped_at));
#if !defined(__SANITIZE_ADDRESS__) /* its own strlen stands between */
    run_in_child(measure_no_text);
    assert_true(crash_is_at(measured_at));
#else
    (void)measured_at, (void)measure_no_text;
#endif
}

static void without_addr2line_a_crash_has_no_line(void **state)
{
    (void)state;
    mistake = read_unmapped;
    run_forked(make_mistake, ENVIRONMENT("FERRY_GPU", "sim", "FERRY_TRACE", trace, "PATH", "/nonexistent"), false);
    assert_killed_by(SIGSEGV);
    assert_true(logged("\"code\":\"crash\"", "segmentation fault", ""));
    assert_false(crash_is_at(unmapped_at));
}

static void a_programs_own_handler_still_gets_its_faults(void **state)
{
    (void)state;
    run_in_child(read_unmapped_with_handler);
    assert_string_equal(last_child.output, "mine\n");
    assert_exited_with(42);
    run_in_child(read_vram_with_handler);
    assert_said("the host read element 5 of 'weights'");
    assert_killed_by(SIGSEGV);
}

static int make_trace(void **state)
{
    (void)state;
    snprintf(trace, sizeof trace, "/tmp/ferry-guard-%d.jsonl", (int)getpid());
    return 0;
}

static int remove_trace(void **state)
{
    (void)state;
    unlink(trace);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_is_explained_as_a_write),
        cmocka_unit_test(elements_are_counted_in_their_own_size),
        cmocka_unit_test(freed_vram_is_explained_too),
        cmocka_unit_test(the_log_holds_the_error_and_all_before_it),
        cmocka_unit_test(other_faults_are_not_ferrys_to_explain),
        cmocka_unit_test(the_log_says_that_the_program_crashed),
        cmocka_unit_test(a_crash_has_the_line_at_which_it_happened),
        cmocka_unit_test(without_addr2line_a_crash_has_no_line),
        cmocka_unit_test(a_programs_own_handler_still_gets_its_faults),
        cmocka_unit_test(a_read_is_explained_by_name_element_and_line), /* last: opens a card in this process */
    };
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
