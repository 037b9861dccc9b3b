/* When, and in which order, the log gets the completion of work that the program did not wait for. Uses the real card's
 * back end on the fake CUDA runtime. */
#include <math.h>

#include "clock.h"
#include "device.h"
#include "event.h"
#include "run_work.h"
#include "cuda_on_fake.h"

#include "completion.h"
#include "recorded.h"

static uint32_t last_id;

/* A launch in a stream, as by dispatch.c; returns its id. */
static uint32_t issue(fy_dev *d, int stream, double ms)
{
    static float x[1] = {1};
    fy_run_work w = add_on_fake(x, x, x, 1);
    w.id = ++last_id;
    w.stream = stream;
    fake.work = ms;
    assert_true(start_work(d, &w));
    fy_completion_add(
        NULL, &(fy_completion){.dev = d, .stream = stream, .id = w.id, .engine = FY_WORD_compute, .time = w.time});
    return w.id;
}

static void check_complete(int n, uint32_t id, double start, double end)
{
    const cJSON *e = event_of("complete", n);
    assert_non_null(e);
    assert_int_equal(number_of(e, "id"), id);
    assert_true(fabs(number_of(e, "start") - start * 1e6) < 1000 && fabs(number_of(e, "end") - end * 1e6) < 1000);
}

static bool wait_for_card(fy_dev *d)
{
    fy_time t;
    bool ok = fy_backend_cuda.wait(d, NULL, NULL, 0, &t);
    fy_completion_poll(d);
    return ok;
}

static void nothing_is_waited_for_while_a_log_is_open(void **state)
{
    (void)state;
    use_stream(&fake_card0, 1);
    begin_calls();
    since();
    issue(&fake_card0, 1, 5);
    assert_string_equal(fake.calls, "EventRecord@1 Launch@1 GetLastError EventRecord@1");
    for (int i = 0; i < 50; i++) issue(&fake_card0, i % 3, 5);
    assert_null(strstr(fake.calls, "Synchronize"));
    assert_true(fake.now == 0);
    assert_string_equal(kinds(), "");
    assert_true(wait_for_card(&fake_card0));
}

/* Two marks and their two times, beside the launch and its check; all else is asked once for many. */
static void a_logged_op_makes_four_calls_besides_its_launch(void **state)
{
    (void)state;
    issue(&fake_card0, 1, 1); /* makes its stream */
    assert_true(wait_for_card(&fake_card0));
    for (int round = 0; round < 3; round++) {
        begin_calls();
        for (int i = 0; i < 1000; i++) {
            fake.calls[0] = 0; /* there is no room for all of them */
            issue(&fake_card0, 1, 1);
            fake.now += round == 1 ? 1 : 0.9;
        }
        assert_true(wait_for_card(&fake_card0));
        if (round > 0) assert_in_range(fake.count, 1000 * 6, 1000 * 6 + 200); /* the first makes events for all */
    }
}

static void completions_are_reported_in_the_order_in_which_they_ended(void **state)
{
    (void)state;
    since();
    uint32_t slow = issue(&fake_card0, 1, 9), quick = issue(&fake_card0, 2, 2), next = issue(&fake_card0, 2, 4),
             last = issue(&fake_card0, 0, 20);
    assert_string_equal(kinds(), "");
    assert_true(wait_for_card(&fake_card0));
    assert_string_equal(kinds(), "complete complete complete complete");
    check_complete(0, quick, 0, 2);
    check_complete(1, next, 2, 6);
    check_complete(2, slow, 0, 9);
    check_complete(3, last, 0, 20);
    assert_string_equal(text_of(event_of("complete", 0), "engine"), "compute");
}

static void a_later_call_reports_what_has_ended_by_then(void **state)
{
    (void)state;
    since();
    uint32_t first = issue(&fake_card0, 1, 3);
    issue(&fake_card0, 1, 3);
    fake.now += 4;
    issue(&fake_card0, 2, 3);
    assert_string_equal(kinds(), ""); /* it asks once for many, or after a while */
    fy_clock_advance(20000000);
    issue(&fake_card0, 2, 3);
    assert_string_equal(kinds(), "complete");
    check_complete(0, first, 0, 3);
    fy_completion_add(
        NULL, &(fy_completion){.dev = &fake_card0, .id = 1, .time = {.start = 5, .end = 6}}); /* known at once */
    assert_string_equal(kinds(), "complete complete");
    assert_true(wait_for_card(&fake_card0));
}

/* What the launch took is between its marks then, and only then. */
static void where_the_stream_was_idle_the_launch_is_told(void **state)
{
    (void)state;
    since();
    fake.launching = 0.005, fake_card0.marks = 3000;
    issue(&fake_card0, 1, 1);
    issue(&fake_card0, 1, 1);
    assert_true(wait_for_card(&fake_card0));
    const cJSON *idle = event_of("complete", 0), *busy = event_of("complete", 1);
    assert_int_equal(number_of(idle, "launch"), 5000);
    assert_int_equal(number_of(idle, "marks"), 3000);
    assert_true(fabs(number_of(idle, "end") - number_of(idle, "start") - 1005000) < 1000);
    assert_null(cJSON_GetObjectItem(busy, "launch"));
    assert_null(cJSON_GetObjectItem(busy, "marks"));
}

static void a_copy_is_reported_with_its_time_on_the_bus(void **state)
{
    char a[4], b[4];
    fy_copy_work c = {.dst = a, .src = b, .bytes = 4, .dir = FY_WORD_h2d, .pinned = true, .async = true};
    (void)state;
    since();
    assert_true(copy_of(&fake_card0, &c));
    fy_completion_add(
        NULL, &(fy_completion){.dev = &fake_card0, .id = 1, .engine = FY_WORD_h2d, .is_copy = true, .time = c.time});
    assert_true(wait_for_card(&fake_card0));
    assert_true(fabs(number_of(event_of("complete", 0), "wire") - 1e6) < 1000);
    assert_int_equal(number_of(event_of("complete", 0), "staging"), 0);
}

static void cards_are_reported_separately(void **state)
{
    (void)state;
    since();
    uint32_t one = issue(&fake_card0, 0, 5), two = issue(&fake_card1, 0, 1);
    assert_true(wait_for_card(&fake_card1));
    check_complete(0, two, 0, 1);
    assert_null(event_of("complete", 1));
    assert_true(wait_for_card(&fake_card0));
    check_complete(1, one, 0, 5);
}

/* Its events are freed: the teardown counts them. */
static void the_work_of_a_broken_card_does_not_end(void **state)
{
    (void)state;
    since();
    issue(&fake_card0, 1, 5);
    next_launch_breaks = cudaErrorLaunchFailure;
    issue(&fake_card0, 2, 5);
    assert_false(wait_for_card(&fake_card0));
    assert_string_equal(kinds(), "");
    fake.sticky = 0;
    fake.now += 50;
    fy_completion_poll(&fake_card0); /* its record was dropped */
    assert_string_equal(kinds(), "");
}

static void without_a_log_nothing_is_marked_or_reported(void **state)
{
    (void)state;
    since();
    fake_log_is_on = false;
    begin_calls();
    issue(&fake_card0, 0, 5);
    assert_string_equal(fake.calls, "SetDevice Launch GetLastError");
    assert_true(wait_for_card(&fake_card0));
    assert_string_equal(kinds(), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARDS(nothing_is_waited_for_while_a_log_is_open),
        WITH_CARDS(a_logged_op_makes_four_calls_besides_its_launch),
        WITH_CARDS(completions_are_reported_in_the_order_in_which_they_ended),
        WITH_CARDS(a_later_call_reports_what_has_ended_by_then),
        WITH_CARDS(where_the_stream_was_idle_the_launch_is_told),
        WITH_CARDS(a_copy_is_reported_with_its_time_on_the_bus),
        WITH_CARDS(cards_are_reported_separately),
        WITH_CARDS(the_work_of_a_broken_card_does_not_end),
        WITH_CARDS(without_a_log_nothing_is_marked_or_reported),
    };
    recorded_start();
    int failed_tests = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed_tests;
}
