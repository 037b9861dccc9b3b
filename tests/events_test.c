/* Events, waiting, and memory used by two streams: PyTorch's rules (tests/rules.txt, C11). Times are the model's, and
 * exact. Data races are tested in race_test.c. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "two_streams.h"

/* ---- C11.5: who waits for what ---- */

TEST(work_waits_for_an_event_and_the_host_goes_on)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_event *e = fy_cuda_event();
        fy_cuda_synchronize();
        since();
        FY_STREAM(a)
        {
            fy_copy_(g, x, .non_blocking = true);
            fy_event_record(e);
        }
        fy_stream_wait_event(b, e);
        FY_STREAM(b) fy_mul_(g, 2);
        assert_int_equal(number_of(event_of("event_record", 0), "stream"), fy_stream_id(a));
        assert_int_equal(number_of(event_of("event_wait", 0), "stream"), fy_stream_id(b));
        assert_true(number_of(event_of("event_wait", 0), "event") == number_of(event_of("event_record", 0), "event"));
        assert_true(number_of(event_of("event_record", 0), "when") == end_of(0));
        assert_true(start_of(1) >= end_of(0));
        assert_true(number_of(event_of("op", 0), "t") < end_of(0)); /* the host had already passed it */
        assert_null(event_of("sync", 0));
        assert_null(event_of("data_race", 0));
        fy_stream_synchronize(b);
        assert_true(element(g, MANY - 1) == 2);
        fy_event_free(e);
    }
}

TEST(waiting_for_a_stream_equals_an_event_recorded_now)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_cuda_synchronize();
        since();
        FY_STREAM(a) fy_copy_(g, x, .non_blocking = true);
        fy_stream_wait_stream(b, a);
        FY_STREAM(a) fy_copy_(x, g, .non_blocking = true); /* queued after the event: b does not wait for it */
        FY_STREAM(b) fy_sum(g);
        assert_non_null(event_of("event_record", 0));
        assert_int_equal(number_of(event_of("event_wait", 0), "stream"), fy_stream_id(b));
        assert_true(start_of(2) >= end_of(0) && start_of(2) < end_of(1));
    }
}

TEST(an_event_means_its_last_recording)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_event *e = fy_cuda_event();
        fy_cuda_synchronize();
        fy_event_record(e);
        assert_true(fy_event_query(e));
        fy_copy_(g, x, .non_blocking = true);
        assert_true(fy_event_query(e)); /* that came later */
        fy_event_record(e);
        assert_false(fy_event_query(e));
        fy_event_synchronize(e);
        assert_true(fy_event_query(e));
        fy_event_free(e);
    }
}

TEST(a_stream_records_its_own_event_and_waits_across_cards)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream(.device = "cuda:1");
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY), *h = fy_ones((4), .device = "cuda:1");
        fy_cuda_synchronize();
        since();
        FY_STREAM(a) fy_copy_(g, x, .non_blocking = true);
        fy_event *e = fy_stream_record_event(a);
        fy_event_wait(e, b);
        FY_STREAM(b) fy_mul_(h, 2);
        assert_string_equal(text_of(event_of("event_record", 0), "device"), "cuda:0");
        assert_string_equal(text_of(event_of("event_wait", 0), "device"), "cuda:1");
        assert_true(start_of(1) >= end_of(0));
        fy_event_free(e);
    }
}

/* ---- host waits and queries ---- */

TEST(the_host_waits_for_event_or_stream_and_no_longer)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned_ones(MANY), *y = pinned_ones(32 * MANY), *g = on_card(MANY), *h = on_card(32 * MANY);
        fy_event *e = fy_cuda_event();
        fy_cuda_synchronize();
        since();
        FY_STREAM(a)
        {
            fy_copy_(g, x, .non_blocking = true);
            fy_event_record(e);
        }
        FY_STREAM(b) fy_copy_(y, h, .non_blocking = true);
        fy_event_synchronize(e);
        assert_string_equal(text_of(event_of("sync", 0), "scope"), "event");
        assert_true(number_of(event_of("sync", 0), "event") == number_of(event_of("event_record", 0), "event"));
        assert_true((double)fy_now() >= end_of(0) && (double)fy_now() < end_of(1));
        fy_stream_synchronize(b);
        assert_string_equal(text_of(event_of("sync", 1), "scope"), "stream");
        assert_int_equal(number_of(event_of("sync", 1), "stream"), fy_stream_id(b));
        assert_true((double)fy_now() >= end_of(1));
        assert_true(number_of(event_of("sync", 1), "held") > 0);
        fy_event_free(e);
    }
}

TEST(a_query_never_waits_and_says_yes_in_the_end)
{
    int asked = 0;
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_cuda_synchronize();
        since();
        FY_STREAM(s) fy_copy_(x, g, .non_blocking = true);
        while (!fy_stream_query(s)) asked++;
        assert_true(asked > 0);
        assert_true(element(x, MANY - 1) == 1); /* a true query orders like a wait */
        assert_null(event_of("data_race", 0));
        assert_string_equal(text_of(event_of("query", 0), "scope"), "stream");
        assert_true(cJSON_IsFalse(field(event_of("query", 0), "done")));
        assert_true(cJSON_IsTrue(field(event_of("query", asked), "done")));
        assert_int_equal(number_of(event_of("query", 0), "stream"), fy_stream_id(s));
    }
}

TEST(the_time_between_two_events_is_the_models)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_event *start = fy_cuda_event(.enable_timing = true), *end = fy_cuda_event(.enable_timing = true);
        fy_cuda_synchronize();
        since();
        fy_event_record(start);
        fy_copy_(g, x, .non_blocking = true);
        fy_event_record(end);
        assert_true(isnan(fy_event_elapsed_time(start, end)));
        assert_true(failed_with("Both events must be completed before calculating elapsed time."));
        fy_event_synchronize(end);
        double took = fy_event_elapsed_time(start, end);
        assert_true(took ==
                    (number_of(event_of("event_record", 1), "when") - number_of(event_of("event_record", 0), "when")) /
                        1e6);
        assert_true(took >= (end_of(0) - start_of(0)) / 1e6 && took > 0);
        assert_true(fy_event_elapsed_time(end, start) == -took);
        fy_event_free(start);
        fy_event_free(end);
    }
}

/* ---- C11.6, C11.7: events ---- */

TEST(an_unrecorded_event_is_complete_and_never_waited_for)
{
    (void)state;
    FY_SCOPE
    {
        fy_event *e = fy_cuda_event(.enable_timing = true), *f = fy_cuda_event(.enable_timing = true);
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_cuda_synchronize();
        fy_copy_(g, x, .non_blocking = true);
        int64_t before = fy_now();
        assert_true(fy_event_query(e));
        fy_event_synchronize(e);
        fy_event_wait(e);
        assert_int_equal(fy_now(), before);
        assert_null(fy_error());
        assert_true(isnan(fy_event_elapsed_time(e, f)));
        assert_true(failed_with("Both events must be recorded before calculating elapsed time."));
        fy_event_record(e);
        assert_true(isnan(fy_event_elapsed_time(e, f)));
        assert_true(failed_with("Both events must be recorded before calculating elapsed time."));
        fy_event_free(e);
        fy_event_free(f);
    }
}

TEST(an_event_belongs_to_the_card_of_its_first_recording)
{
    (void)state;
    fy_event *e = fy_cuda_event();
    fy_event_record(e);
    fy_event_record(e, fy_cuda_stream());
    assert_null(fy_error());
    since();
    fy_event_record(e, fy_cuda_stream(.device = "cuda:1"));
    assert_true(failed_with("Event device 0 does not match recording stream's device 1."));
    assert_string_equal(kinds(), "error");
    fy_event_free(e);
}

TEST(times_are_for_events_that_were_made_for_them)
{
    (void)state;
    fy_event *e = fy_cuda_event(), *f = fy_cuda_event(.enable_timing = true), *g = fy_cuda_event(.enable_timing = true);
    fy_event_record(e);
    fy_event_record(f);
    fy_event_record(g, fy_cuda_default_stream(.device = "cuda:1"));
    assert_true(isnan(fy_event_elapsed_time(e, f)));
    assert_true(failed_with("Both events must be created with argument 'enable_timing=True'."));
    assert_true(isnan(fy_event_elapsed_time(f, g)));
    assert_true(failed_with("CUDA error: invalid resource handle"));
    fy_event_free(e);
    fy_event_free(f);
    fy_event_free(g);
}

TEST(a_freed_event_is_recognised)
{
    (void)state;
    fy_event *e = fy_cuda_event();
    fy_event_record(e);
    fy_event_free(e);
    int line = __LINE__ - 1;
    char want[100];
    snprintf(want, sizeof want, "was already freed on line %d", line);
#define IS_TOLD(call) \
    do { \
        (void)call; \
        assert_true(failed_with(want)); \
    } while (0)
    IS_TOLD((fy_event_record(e), 0));
    IS_TOLD((fy_event_wait(e), 0));
    IS_TOLD((fy_event_synchronize(e), 0));
    IS_TOLD((fy_stream_wait_event(fy_cuda_stream(), e), 0));
    IS_TOLD(fy_event_query(e));
    IS_TOLD(fy_event_elapsed_time(e, e));
    IS_TOLD((fy_event_free(e), 0));
    fy_event_free(NULL);
    assert_null(fy_error());
}

/* ---- C11.8 to C11.10: memory that two streams use ---- */

/* Frees a tensor of the default stream while a slow copy in s reads it; record: after fy_record_stream. */
static void free_while_in_use(fy_stream *s, fy_tensor *on_host, bool record)
{
    fy_tensor *g = on_card(MANY);
    fy_stream_wait_stream(s, fy_cuda_default_stream());
    since();
    FY_STREAM(s) fy_copy_(on_host, g, .non_blocking = true);
    if (record) fy_record_stream(g, s);
    fy_free(g);
}

TEST(memory_still_used_by_another_stream_is_reused_at_once)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *on_host = pinned_ones(MANY);
        free_while_in_use(s, on_host, false);
        const char *was = text_of(event_of("copy", 0), "src.addr");
        fy_tensor *next = fy_zeros((MANY), .device = "cuda");
        assert_string_equal(text_of(event_of("alloc", 0), "addr"), was);
        assert_string_equal(text_of(event_of("data_race", 0), "type"), "reuse");
        assert_non_null(strstr(text_of(event_of("data_race", 0), "fix"), "fy_record_stream"));
        fy_cuda_synchronize();
        assert_true(isnan(element(on_host, 0)));
        assert_true(element(next, 0) == 0);
    }
}

TEST(recorded_memory_is_kept_until_the_stream_is_past_it)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *on_host = pinned_ones(MANY);
        fy_cuda_empty_cache();
        free_while_in_use(s, on_host, true);
        char was[32];
        snprintf(was, sizeof was, "%s", text_of(event_of("copy", 0), "src.addr"));
        assert_int_equal(number_of(event_of("record_stream", 0), "stream"), fy_stream_id(s));
        assert_true(number_of(event_of("record_stream", 0), "storage") == number_of(event_of("free", 0), "storage"));
        assert_true(cJSON_IsTrue(field(event_of("free", 0), "deferred")));
        fy_zeros((MANY), .device = "cuda");
        assert_true(strcmp(text_of(event_of("alloc", 0), "addr"), was) != 0);
        assert_null(event_of("data_race", 0));
        fy_stream_synchronize(s);
        assert_true(element(on_host, 0) == 1 && element(on_host, MANY - 1) == 1);
        since();
        fy_zeros((MANY), .device = "cuda");
        assert_string_equal(text_of(event_of("alloc", 0), "addr"), was);
        assert_null(event_of("data_race", 0));
    }
}

TEST(its_own_stream_needs_no_record_and_cpu_has_none)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = on_card(4), *x = fy_ones((4));
        since();
        fy_record_stream(g, fy_cuda_default_stream());
        assert_string_equal(kinds(), "");
        fy_record_stream(x, fy_cuda_stream());
        assert_true(failed_with("Could not run 'aten::record_stream' with arguments from the 'CPU' backend."));
        fy_record_stream(g, fy_cuda_stream(.device = "cuda:1"));
        assert_true(failed_with("the stream is on cuda:1"));
        fy_record_stream(NULL, fy_cuda_stream());
        fy_record_stream(g, NULL);
        assert_null(fy_error());
    }
}

TEST(a_side_streams_result_is_used_only_after_a_wait)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) FY_SCOPE
        {
            fy_stream *s = fy_cuda_stream();
            fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY), *sum;
            fy_cuda_synchronize();
            since();
            FY_STREAM(s) fy_copy_(g, x, .non_blocking = true);
            if (waits) fy_stream_wait_stream(fy_cuda_current_stream(), s);
            sum = fy_sum(g);
            assert_int_equal(event_of("data_race", 0) == NULL, waits);
            if (!waits) assert_string_equal(text_of(event_of("data_race", 0), "type"), "race");
            double total = fy_item(sum);
            assert_true(waits ? total == MANY : isnan(total));
        }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, quiet)
    const struct CMUnitTest tests[] = {
        T(work_waits_for_an_event_and_the_host_goes_on),
        T(waiting_for_a_stream_equals_an_event_recorded_now),
        T(an_event_means_its_last_recording),
        T(a_stream_records_its_own_event_and_waits_across_cards),
        T(the_host_waits_for_event_or_stream_and_no_longer),
        T(a_query_never_waits_and_says_yes_in_the_end),
        T(the_time_between_two_events_is_the_models),
        T(an_unrecorded_event_is_complete_and_never_waited_for),
        T(an_event_belongs_to_the_card_of_its_first_recording),
        T(times_are_for_events_that_were_made_for_them),
        T(a_freed_event_is_recognised),
        T(memory_still_used_by_another_stream_is_reused_at_once),
        T(recorded_memory_is_kept_until_the_stream_is_past_it),
        T(its_own_stream_needs_no_record_and_cpu_has_none),
        T(a_side_streams_result_is_used_only_after_a_wait),
    };
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:gpus=2", 1);
    recorded_start();
    int failed = cmocka_run_group_tests_name("events", tests, NULL, NULL);
    recorded_end();
    return failed;
}
