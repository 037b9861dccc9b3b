/* Streams, by PyTorch's rules (tests/rules.txt, C11). Times are the model's, and exact. Events are in events_test.c,
 * asynchronous errors in late_test.c. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "two_streams.h"

/* ---- C11.1 to C11.4: streams ---- */

TEST(work_in_one_stream_runs_in_call_order)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *x = pinned_ones(MANY), *g = on_card(MANY);
        fy_cuda_synchronize();
        since();
        FY_STREAM(s)
        {
            fy_copy_(g, x, .non_blocking = true);
            fy_mul_(g, 2);
            fy_add_(g, 1);
            fy_copy_(x, g, .non_blocking = true);
        }
        fy_stream_synchronize(s);
        for (int i = 1; i < 4; i++) assert_true(start_of(i) >= end_of(i - 1));
        for (int i = 0; i < 2; i++) assert_int_equal(number_of(event_of("copy", i), "stream"), fy_stream_id(s));
        assert_int_equal(number_of(event_of("op", 0), "stream"), fy_stream_id(s));
        assert_true(element(x, 0) == 3 && element(x, MANY - 1) == 3);
    }
}

TEST(different_streams_work_side_by_side)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned_ones(MANY), *y = pinned_ones(MANY), *g = on_card(MANY), *h = on_card(MANY);
        fy_cuda_synchronize();
        since();
        FY_STREAM(a) fy_copy_(g, x, .non_blocking = true);
        FY_STREAM(b) fy_copy_(y, h, .non_blocking = true);
        assert_true(start_of(1) < end_of(0)); /* an engine for each direction */
        fy_cuda_synchronize();
        since();
        fy_copy_(g, x, .non_blocking = true);
        fy_copy_(y, h, .non_blocking = true);
        assert_true(start_of(1) >= end_of(0)); /* one stream: in order */
    }
}

TEST(the_default_stream_is_number_0_and_current_at_start)
{
    (void)state;
    fy_stream *d = fy_cuda_default_stream(), *e = fy_cuda_default_stream(.device = "cuda:1");
    assert_int_equal(fy_stream_id(d), 0);
    assert_string_equal(fy_stream_device(d), "cuda:0");
    assert_string_equal(fy_stream_device(e), "cuda:1");
    assert_ptr_equal(fy_cuda_current_stream(), d);
    assert_ptr_equal(fy_cuda_current_stream(.device = "cuda:1"), e);
    assert_true(d != e);
}

TEST(each_card_has_a_current_stream_of_its_own)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream(.device = "cuda:1");
        since();
        fy_cuda_set_stream(s);
        assert_string_equal(kinds(), "set_stream");
        assert_int_equal(number_of(event_of("set_stream", 0), "stream"), fy_stream_id(s));
        fy_cuda_set_stream(s);
        assert_string_equal(kinds(), "set_stream"); /* unchanged */
        fy_cuda_set_stream(t);
        assert_string_equal(kinds(), "set_stream set_device set_stream");
        assert_string_equal(text_of(event_of("set_device", 0), "device"), "cuda:1");
        assert_int_equal(fy_cuda_current_device(), 1);
        assert_ptr_equal(fy_cuda_current_stream(), t);
        assert_ptr_equal(fy_cuda_current_stream(.device = "cuda:0"), s);
        since();
        fy_ones((2), .device = "cuda:0");
        fy_ones((2), .device = "cuda:1");
        for (int i = 0; i < 2; i++) {
            const fy_stream *of = i ? t : s;
            assert_int_equal(number_of(event_of("op", i), "stream"), fy_stream_id(of));
            assert_int_equal(number_of(event_of("alloc", i), "stream"), fy_stream_id(of));
        }
    }
}

static void *change_stream_in_thread(void *found)
{
    fy_stream **s = found;
    s[0] = fy_cuda_current_stream();
    fy_cuda_set_stream(fy_cuda_stream());
    s[1] = fy_cuda_current_stream();
    return NULL;
}

TEST(each_thread_has_a_current_stream_of_its_own)
{
    fy_stream *s = fy_cuda_stream(), *seen_in_thread[2];
    pthread_t thread;
    (void)state;
    fy_cuda_set_stream(s);
    assert_int_equal(pthread_create(&thread, NULL, change_stream_in_thread, seen_in_thread), 0);
    pthread_join(thread, NULL);
    assert_int_equal(fy_stream_id(seen_in_thread[0]), 0);
    assert_true(seen_in_thread[1] != s && fy_stream_id(seen_in_thread[1]) > 0);
    assert_ptr_equal(fy_cuda_current_stream(), s);
}

TEST(streams_come_from_a_pool_of_32_in_turn)
{
    (void)state;
    fy_stream *first = fy_cuda_stream();
    for (int i = 1; i < 32; i++) {
        int id = fy_stream_id(fy_cuda_stream());
        assert_int_equal(id, (fy_stream_id(first) - 1 + i) % 32 + 1);
    }
    assert_ptr_equal(fy_cuda_stream(), first);
    assert_int_equal(fy_stream_id(fy_cuda_stream(.device = "cuda:1")), 2); /* one pool per card; 1 is used above */
}

TEST(no_stream_waits_implicitly_for_the_default_stream)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = pinned_ones(MANY), *y = pinned_ones(MANY), *g = on_card(MANY), *h = on_card(MANY);
        fy_stream *s = fy_cuda_stream();
        fy_cuda_synchronize();
        since();
        fy_copy_(g, x, .non_blocking = true);
        FY_STREAM(s) fy_copy_(y, h, .non_blocking = true);
        assert_true(start_of(1) < end_of(0));
    }
}

TEST(a_copy_that_waits_waits_for_its_own_stream_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *x = pinned_ones(32 * MANY), *g = on_card(32 * MANY), *few = on_card(1);
        fy_cuda_synchronize();
        FY_STREAM(s) fy_copy_(g, x, .non_blocking = true);
        since();
        assert_true(fy_item(few) == 1);
        assert_int_equal(number_of(event_of("sync", 0), "stream"), 0);
        assert_false(fy_stream_query(s));
        assert_true(fy_stream_query(fy_cuda_default_stream()));
    }
}

/* ---- C4.10: copies between cards ---- */

static double last_of(fy_tensor *x) { return fy_item(fy_select(x, 0, fy_size(x, 0) - 1)); }

/* Pending work of cuda:1's current stream comes first, and its later work after the copy. */
static void copy_into_pending_work(fy_stream *of_cuda0, fy_stream *of_cuda1)
{
    fy_tensor *x = fy_full((MANY), 5.0, .device = "cuda:0"), *d = fy_full((MANY), 3.0, .device = "cuda:1"), *y, *z;
    quiet(NULL);
    since();
    FY_STREAM(of_cuda0) FY_STREAM(of_cuda1)
    {
        fy_mul_(d, 2);
        fy_copy_(d, x, .non_blocking = true);
        y = fy_add(d, 1);
        z = fy_add(fy_to(x, "cuda:1"), 2);
        assert_true(last_of(y) == 6 && last_of(z) == 7);
    }
    assert_null(event_of("data_race", 0));
    for (int i = 0; i < 2; i++) {
        assert_int_equal(number_of(event_of("copy", i), "stream"), fy_stream_id(of_cuda0));
        assert_int_equal(number_of(event_of("copy", i), "dst_stream"), fy_stream_id(of_cuda1));
    }
    assert_null(cJSON_GetObjectItem(event_of("copy", 2), "dst_stream")); /* to the host */
}

TEST(copies_between_cards_keep_to_the_destinations_current_stream)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream(.device = "cuda:1");
        if (fy_stream_id(b) == fy_stream_id(a)) b = fy_cuda_stream(.device = "cuda:1"); /* the numbers say nothing */
        copy_into_pending_work(a, fy_cuda_default_stream(.device = "cuda:1"));
        copy_into_pending_work(fy_cuda_default_stream(), b);
        copy_into_pending_work(a, b);
    }
}

TEST(no_other_stream_of_the_destination_waits)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream(.device = "cuda:1");
        while (fy_stream_id(b) != fy_stream_id(a)) b = fy_cuda_stream(.device = "cuda:1");
        fy_tensor *x = fy_full((MANY), 5.0, .device = "cuda:0"), *d = fy_full((MANY), 3.0, .device = "cuda:1");
        quiet(NULL);
        since();
        FY_STREAM(b) fy_add_(d, 1);
        FY_STREAM(a) fy_copy_(d, x);
        const cJSON *race = event_of("data_race", 0);
        assert_non_null(race);
        assert_non_null(strstr(text_of(race, "fix"),
                               "fy_stream_wait_stream(fy_cuda_default_stream(.device = \"cuda:1\"), b) before line"));
        quiet(NULL);
        assert_true(isnan(last_of(d)));
    }
}

/* ---- FY_STREAM ---- */

TEST(at_its_end_streams_and_card_are_as_before)
{
    (void)state;
    fy_stream *s = fy_cuda_stream(), *t = fy_cuda_stream(.device = "cuda:1");
    int turns = 0;
    FY_STREAM(s)
    {
        turns++;
        FY_STREAM(t)
        {
            turns++;
            assert_ptr_equal(fy_cuda_current_stream(), t);
        }
        assert_ptr_equal(fy_cuda_current_stream(), s);
        assert_int_equal(fy_stream_id(fy_cuda_current_stream(.device = "cuda:1")), 0);
    }
    assert_int_equal(turns, 2);
    assert_int_equal(fy_stream_id(fy_cuda_current_stream()), 0);
    assert_int_equal(fy_cuda_current_device(), 0);
}

static int return_inside_stream(fy_stream *s)
{
    FY_STREAM(s) return fy_stream_id(fy_cuda_current_stream());
    return -1;
}

TEST(it_is_left_by_break_and_by_return_as_well)
{
    (void)state;
    fy_stream *s = fy_cuda_stream();
    FY_STREAM(s)
    {
        if (s) break;
        fail();
    }
    assert_int_equal(fy_stream_id(fy_cuda_current_stream()), 0);
    assert_int_equal(return_inside_stream(s), fy_stream_id(s));
    assert_int_equal(fy_stream_id(fy_cuda_current_stream()), 0);
}

/* ---- mistakes ---- */

TEST(streams_are_of_cards_that_are_there)
{
    (void)state;
    assert_null(fy_cuda_stream(.device = "cpu"));
    assert_true(failed_with("Expected a cuda device, but got: cpu"));
    assert_null(fy_cuda_default_stream(.device = "cuda:5"));
    assert_true(failed_with("invalid device ordinal"));
    assert_null(fy_cuda_current_stream(.device = "tpu"));
    assert_true(failed_with("Expected one of cpu, cuda device type"));
}

/* With FY_RETURN, the NULL of a failed call passes through; it does not mean the current stream. */
TEST(null_passes_through)
{
    (void)state;
    fy_event *e = fy_cuda_event();
    bool inside = false;
    since();
    fy_cuda_set_stream(NULL);
    fy_event_record(e, NULL);
    fy_event_wait(e, NULL);
    fy_event_record(NULL);
    fy_stream_wait_stream(NULL, fy_cuda_stream());
    fy_stream_wait_event(fy_cuda_stream(), NULL);
    fy_stream_synchronize(NULL);
    fy_event_synchronize(NULL);
    assert_null(fy_stream_record_event(NULL));
    assert_false(fy_stream_query(NULL) || fy_event_query(NULL));
    assert_true(isnan(fy_event_elapsed_time(NULL, e)));
    FY_STREAM(NULL) inside = true;
    assert_true(inside);
    assert_int_equal(fy_stream_id(NULL), -1);
    assert_null(fy_stream_device(NULL));
    assert_string_equal(kinds(), "");
    assert_null(fy_error());
    assert_false(fy_stream_query((fy_stream *)(void *)e));
    assert_true(failed_with("is not a stream"));
    fy_event_free(e);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, quiet)
    const struct CMUnitTest tests[] = {
        T(the_default_stream_is_number_0_and_current_at_start),
        T(work_in_one_stream_runs_in_call_order),
        T(different_streams_work_side_by_side),
        T(each_card_has_a_current_stream_of_its_own),
        T(streams_come_from_a_pool_of_32_in_turn),
        T(each_thread_has_a_current_stream_of_its_own),
        T(no_stream_waits_implicitly_for_the_default_stream),
        T(a_copy_that_waits_waits_for_its_own_stream_alone),
        T(copies_between_cards_keep_to_the_destinations_current_stream),
        T(no_other_stream_of_the_destination_waits),
        T(at_its_end_streams_and_card_are_as_before),
        T(it_is_left_by_break_and_by_return_as_well),
        T(streams_are_of_cards_that_are_there),
        T(null_passes_through),
    };
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:gpus=2", 1);
    recorded_start();
    int failed = cmocka_run_group_tests_name("streams", tests, NULL, NULL);
    recorded_end();
    return failed;
}
