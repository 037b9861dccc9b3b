/* Asynchronous errors (tests/rules.txt, C15.7): a fault in a kernel is reported by a later call, which names the line
 * of the launch; with FERRY_LAUNCH_BLOCKING by the call itself. A failed card stays failed, so every test runs in a
 * process of its own: this program again. */
#define _GNU_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "recorded.h"
#include "launch_record.h"

static const char *own_path;
static bool is_child;

/* true in the child that runs the test */
static bool run_in_own_process(const char *name, const char *environment)
{
    char command[600];
    if (is_child) return true;
    snprintf(command, sizeof command, "CMOCKA_MESSAGE_OUTPUT=stdout FERRY_GPU=sim FERRY_SIM=h200:gpus=2 %s '%s' %s",
             environment, own_path, name);
    assert_int_equal(system(command), 0);
    return false;
}
#define ALONE(environment) \
    if (!run_in_own_process(__func__, environment)) return
#define TEST(name) static void name(void **state)

/* Two scores per row; the second row's class is out of range. */
static fy_tensor *scores_on(const char *device) { return fy_ones((2, 3), .device = device); }
static fy_tensor *classes_on(const char *device) { return fy_to(fy_tensor((0, 7)), device); }

/* The op whose kernel asserts. */
static double seq_of_cause(void)
{
    for (int i = 0; event_of("op", i); i++)
        if (!strcmp(text_of(event_of("op", i), "name"), "nll_loss")) return number_of(event_of("op", i), "seq");
    return -1;
}

static bool names_line(int line, const char *call)
{
    char want[200];
    snprintf(want, sizeof want, "tests/late_test.c:%d: %s", line, call);
    return fy_error() && strstr(fy_error(), want);
}

TEST(the_error_surfaces_later_and_names_the_line_at_fault)
{
    (void)state;
    ALONE("");
    fy_tensor *scores = scores_on("cuda"), *classes = classes_on("cuda");
    fy_tensor *loss = fy_cross_entropy(scores, classes);
    int line = __LINE__ - 1;
    assert_non_null(loss);
    assert_null(fy_error()); /* the host continued */
    fy_cuda_synchronize();
    assert_true(names_line(line + 4, "fy_cuda_synchronize: CUDA error: device-side assert triggered"));
    assert_true(names_line(line, "fy_cross_entropy(scores, classes)"));
    assert_non_null(strstr(fy_error(), "It was reported by this call"));
    assert_non_null(strstr(fy_error(), "FERRY_LAUNCH_BLOCKING=1"));
    const cJSON *error = event_of("error", 0);
    assert_true(number_of(error, "caused_by") == seq_of_cause() && seq_of_cause() > 0);
    assert_int_equal(number_of(error, "line"), line + 4);
}

TEST(the_first_wait_gets_the_error)
{
    (void)state;
    ALONE("");
    fy_tensor *loss = fy_cross_entropy(scores_on("cuda"), classes_on("cuda"));
    int line = __LINE__ - 1;
    assert_true(isnan(fy_item(loss)));
    assert_true(names_line(line, "fy_cross_entropy"));
}

TEST(waiting_for_an_event_or_stream_reports_it_too)
{
    (void)state;
    ALONE("");
    fy_stream *s = fy_cuda_stream();
    fy_event *e = fy_cuda_event();
    fy_tensor *scores = scores_on("cuda"), *classes = classes_on("cuda");
    fy_cuda_synchronize();
    FY_STREAM(s)
    {
        fy_cross_entropy(scores, classes);
        fy_event_record(e);
    }
    int line = __LINE__ - 3;
    fy_event_synchronize(e);
    assert_true(names_line(line, "fy_cross_entropy"));
    fy_clear_error();
    fy_stream_synchronize(s);
    assert_true(names_line(line, "fy_cross_entropy"));
    fy_clear_error();
    assert_false(fy_stream_query(s));
    assert_true(names_line(line, "fy_cross_entropy"));
}

TEST(the_card_is_useless_afterwards_and_the_others_are_not)
{
    (void)state;
    ALONE("");
    fy_tensor *x = fy_ones((2), .device = "cuda:0");
    fy_cross_entropy(scores_on("cuda:0"), classes_on("cuda:0"));
    int line = __LINE__ - 1;
    fy_cuda_synchronize();
    for (int i = 0; i < 4; i++) {
        fy_clear_error();
        since();
        if (i == 0) assert_null(fy_add(x, 1));
        if (i == 1) assert_null(fy_cpu(x));
        if (i == 2) assert_null(fy_ones((1 << 22), .device = "cuda:0"));
        if (i == 3) fy_cuda_synchronize();
        assert_true(names_line(line, "fy_cross_entropy"));
        assert_non_null(strstr(fy_error(), "CUDA error: device-side assert triggered"));
        assert_true(event_of("error", 0) && !event_of("op", 0) && !event_of("copy", 0) && !event_of("sync", 0));
    }
    fy_clear_error();
    assert_true(fy_item(fy_sum(fy_ones((3), .device = "cuda:1"))) == 3);
    assert_true(fy_item(fy_sum(fy_ones((3)))) == 3);
    assert_null(fy_error());
}

TEST(under_launch_blocking_the_line_at_fault_reports_the_error)
{
    (void)state;
    ALONE("FERRY_LAUNCH_BLOCKING=1");
    fy_tensor *scores = scores_on("cuda"), *classes = classes_on("cuda");
    assert_null(fy_cross_entropy(scores, classes));
    int line = __LINE__ - 1;
    assert_true(names_line(line, "fy_cross_entropy: "));
    assert_non_null(strstr(fy_error(), "device-side assert triggered"));
    assert_null(strstr(fy_error(), "reported by"));
    assert_null(strstr(fy_error(), "FERRY_LAUNCH_BLOCKING"));
    assert_null(field(event_of("error", 0), "caused_by"));
    fy_clear_error();
    fy_cuda_synchronize(); /* not advised if already set */
    assert_null(strstr(fy_error(), "FERRY_LAUNCH_BLOCKING"));
    assert_non_null(strstr(fy_error(), "fix that call"));
}

TEST(under_launch_blocking_the_host_waits_for_all_work)
{
    (void)state;
    ALONE("FERRY_LAUNCH_BLOCKING=1");
    fy_stream *s = fy_cuda_stream();
    fy_tensor *x = fy_pin_memory(fy_ones((1 << 20))), *g = fy_ones((1 << 20), .device = "cuda");
    assert_string_equal(text_of(event_of("mode", 0), "mode"), "launch_blocking");
    assert_true(number_of(event_of("mode", 0), "seq") == 1);
    since();
    FY_STREAM(s)
    {
        fy_copy_(g, x, .non_blocking = true);
        fy_mul_(g, 2);
    }
    assert_string_equal(kinds(), "set_stream copy complete sync op complete sync set_stream");
    for (int i = 0; i < 2; i++) {
        const cJSON *sync = event_of("sync", i);
        assert_string_equal(text_of(sync, "scope"), "stream");
        assert_string_equal(text_of(sync, "why"), "policy");
        assert_int_equal(number_of(sync, "stream"), fy_stream_id(s));
        assert_true(number_of(sync, "cause") == number_of(event_of(i ? "op" : "copy", 0), "seq"));
        assert_true(number_of(sync, "t") >= number_of(event_of("complete", i), "end"));
    }
    assert_true(fy_stream_query(s));
    assert_true(element(g, 0) == 2);
    assert_null(event_of("data_race", 0));
}

TEST(cudas_own_variable_works_too_and_ferrys_takes_precedence)
{
    (void)state;
    if (!is_child) {
        run_in_own_process(__func__, "CUDA_LAUNCH_BLOCKING=1");
        run_in_own_process(__func__, "CUDA_LAUNCH_BLOCKING=1 FERRY_LAUNCH_BLOCKING=0 OFF=1");
        run_in_own_process(__func__, "CUDA_LAUNCH_BLOCKING=0 OFF=1");
        return;
    }
    bool off = getenv("OFF") != NULL;
    fy_tensor *g = fy_ones((3), .device = "cuda");
    assert_non_null(g);
    assert_int_equal(event_of("mode", 0) != NULL, !off);
    assert_int_equal(event_of("sync", 0) != NULL, !off);
}

TEST(the_cpu_reports_at_once)
{
    (void)state;
    ALONE("");
    assert_null(fy_cross_entropy(scores_on("cpu"), classes_on("cpu")));
    int line = __LINE__ - 1;
    assert_true(names_line(line, "fy_cross_entropy: "));
    assert_non_null(strstr(fy_error(), "Target 7 is out of bounds."));
}

TEST(the_last_65536_works_are_remembered)
{
    static fy_site at = {"a.c", 1, "main", "fy_add", "a, b", 0, 0, 0, false};
    uint64_t seq = 0;
    fy_site *from = NULL;
    (void)state;
    for (uint32_t id = 1; id <= 65537; id++) fy_launch_record_add(id, id + 5ull, &at);
    assert_false(fy_launch_record_find(0, &seq, &from));
    assert_false(fy_launch_record_find(1, &seq, &from));
    assert_true(fy_launch_record_find(2, &seq, &from) && seq == 7 && from == &at);
    assert_true(fy_launch_record_find(65537, &seq, &from) && seq == 65542);
    assert_false(fy_launch_record_find(65538, &seq, &from));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_error_surfaces_later_and_names_the_line_at_fault),
        cmocka_unit_test(the_first_wait_gets_the_error),
        cmocka_unit_test(waiting_for_an_event_or_stream_reports_it_too),
        cmocka_unit_test(the_card_is_useless_afterwards_and_the_others_are_not),
        cmocka_unit_test(under_launch_blocking_the_line_at_fault_reports_the_error),
        cmocka_unit_test(under_launch_blocking_the_host_waits_for_all_work),
        cmocka_unit_test(cudas_own_variable_works_too_and_ferrys_takes_precedence),
        cmocka_unit_test(the_cpu_reports_at_once),
        cmocka_unit_test(the_last_65536_works_are_remembered),
    };
    own_path = argv[0];
    if (argc == 1) return cmocka_run_group_tests_name("late", tests, NULL, NULL);
    is_child = true;
    cmocka_set_test_filter(argv[1]);
    recorded_start();
    int failed = cmocka_run_group_tests_name("late", tests, NULL, NULL);
    recorded_end();
    return failed;
}
