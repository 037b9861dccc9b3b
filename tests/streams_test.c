/* Streams and events, rule by rule as PyTorch has them (tests/rules.txt, C11). Two cards are simulated, and the
 * times are the model's: exact. Which accesses are hazards is hazard_test.c's, errors that surface late are
 * late_test.c's. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

/* Everything waited for, the default streams current, the first card the thread's. */
static int quiet(void **state)
{
    (void)state;
    fy_clear_error();
    for (int i = 1; i >= 0; i--) {
        fy_cuda_set_device(i);
        fy_cuda_set_stream(fy_cuda_default_stream());
        fy_cuda_synchronize();
    }
    return 0;
}

/* When the n-th copy or op since then began and ended. */
static double start_of(int n) { return number_of(event_of("complete", n), "start"); }
static double end_of(int n) { return number_of(event_of("complete", n), "end"); }

enum { MANY = 1 << 20 };
static fy_tensor *pinned(int64_t n) { return fy_pin_memory(fy_ones((n))); }
static fy_tensor *on_card(int64_t n) { return fy_ones((n), .device = "cuda"); }

/* ---- C11.1 to C11.4: streams ---- */

TEST(work_in_one_stream_runs_in_the_order_of_its_calls)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
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
        fy_tensor *x = pinned(MANY), *y = pinned(MANY), *g = on_card(MANY), *h = on_card(MANY);
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

TEST(the_default_stream_is_number_0_and_current_at_the_start)
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
        assert_string_equal(kinds(), "set_stream"); /* nothing changed */
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

static void *elsewhere(void *found)
{
    fy_stream **s = found;
    s[0] = fy_cuda_current_stream();
    fy_cuda_set_stream(fy_cuda_stream());
    s[1] = fy_cuda_current_stream();
    return NULL;
}

TEST(each_thread_has_a_current_stream_of_its_own)
{
    fy_stream *s = fy_cuda_stream(), *there[2];
    pthread_t thread;
    (void)state;
    fy_cuda_set_stream(s);
    assert_int_equal(pthread_create(&thread, NULL, elsewhere, there), 0);
    pthread_join(thread, NULL);
    assert_int_equal(fy_stream_id(there[0]), 0);
    assert_true(there[1] != s && fy_stream_id(there[1]) > 0);
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
    assert_int_equal(fy_stream_id(fy_cuda_stream(.device = "cuda:1")), 2); /* a pool a card; 1 is in use above */
}

TEST(no_stream_waits_for_the_default_stream_unless_told)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = pinned(MANY), *y = pinned(MANY), *g = on_card(MANY), *h = on_card(MANY);
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
        fy_tensor *x = pinned(32 * MANY), *g = on_card(32 * MANY), *few = on_card(1);
        fy_cuda_synchronize();
        FY_STREAM(s) fy_copy_(g, x, .non_blocking = true);
        since();
        assert_true(fy_item(few) == 1);
        assert_int_equal(number_of(event_of("sync", 0), "stream"), 0);
        assert_false(fy_stream_query(s));
        assert_true(fy_stream_query(fy_cuda_default_stream()));
    }
}

/* ---- FY_STREAM ---- */

TEST(at_its_end_the_streams_and_the_card_are_what_they_were)
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

static int left_by_return(fy_stream *s)
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
    assert_int_equal(left_by_return(s), fy_stream_id(s));
    assert_int_equal(fy_stream_id(fy_cuda_current_stream()), 0);
}

/* ---- C11.5: who waits for what ---- */

TEST(work_after_a_wait_for_an_event_begins_after_it_and_the_host_goes_on)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
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
        assert_true(number_of(event_of("op", 0), "t") < end_of(0)); /* the host was long past it */
        assert_null(event_of("sync", 0));
        assert_null(event_of("hazard", 0));
        fy_stream_synchronize(b);
        assert_true(element(g, MANY - 1) == 2);
        fy_event_free(e);
    }
}

TEST(to_wait_for_a_stream_is_to_wait_for_an_event_recorded_now)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
        fy_cuda_synchronize();
        since();
        FY_STREAM(a) fy_copy_(g, x, .non_blocking = true);
        fy_stream_wait_stream(b, a);
        FY_STREAM(a) fy_copy_(x, g, .non_blocking = true); /* after it: b does not wait for that */
        FY_STREAM(b) fy_sum(g);
        assert_non_null(event_of("event_record", 0));
        assert_int_equal(number_of(event_of("event_wait", 0), "stream"), fy_stream_id(b));
        assert_true(start_of(2) >= end_of(0) && start_of(2) < end_of(1));
    }
}

TEST(an_event_stands_for_its_last_recording)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
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

TEST(a_stream_records_an_event_of_its_own_and_waits_across_cards)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream(.device = "cuda:1");
        fy_tensor *x = pinned(MANY), *g = on_card(MANY), *h = fy_ones((4), .device = "cuda:1");
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

/* ---- the host waits, or asks ---- */

TEST(the_host_waits_for_an_event_or_a_stream_and_no_longer)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *a = fy_cuda_stream(), *b = fy_cuda_stream();
        fy_tensor *x = pinned(MANY), *y = pinned(32 * MANY), *g = on_card(MANY), *h = on_card(32 * MANY);
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
        assert_true(fy_now() >= end_of(0) && fy_now() < end_of(1));
        fy_stream_synchronize(b);
        assert_string_equal(text_of(event_of("sync", 1), "scope"), "stream");
        assert_int_equal(number_of(event_of("sync", 1), "stream"), fy_stream_id(b));
        assert_true(fy_now() >= end_of(1));
        assert_true(number_of(event_of("sync", 1), "held") > 0);
        fy_event_free(e);
    }
}

TEST(who_asks_does_not_wait_and_is_told_yes_in_the_end)
{
    int asked = 0;
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
        fy_cuda_synchronize();
        since();
        FY_STREAM(s) fy_copy_(x, g, .non_blocking = true);
        while (!fy_stream_query(s)) asked++;
        assert_true(asked > 0);
        assert_true(element(x, MANY - 1) == 1); /* a yes orders as a wait does */
        assert_null(event_of("hazard", 0));
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
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
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

TEST(an_event_that_was_never_recorded_is_reached_and_nobody_waits_for_it)
{
    (void)state;
    FY_SCOPE
    {
        fy_event *e = fy_cuda_event(.enable_timing = true), *f = fy_cuda_event(.enable_timing = true);
        fy_tensor *x = pinned(MANY), *g = on_card(MANY);
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
    snprintf(want, sizeof want, "was already freed by fy_event_free at tests/streams_test.c:%d", line);
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

/* A tensor of the default stream that a slow copy in s still reads when it is freed; told: record_stream says so. */
static void free_while_in_use(fy_stream *s, fy_tensor *home, bool told)
{
    fy_tensor *g = on_card(MANY);
    fy_stream_wait_stream(s, fy_cuda_default_stream());
    since();
    FY_STREAM(s) fy_copy_(home, g, .non_blocking = true);
    if (told) fy_record_stream(g, s);
    fy_free(g);
}

TEST(memory_that_another_stream_still_uses_is_given_on_at_once)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *home = pinned(MANY);
        free_while_in_use(s, home, false);
        const char *was = text_of(event_of("copy", 0), "src.addr");
        fy_tensor *next = fy_zeros((MANY), .device = "cuda");
        assert_string_equal(text_of(event_of("alloc", 0), "addr"), was);
        assert_string_equal(text_of(event_of("hazard", 0), "type"), "reuse");
        assert_non_null(strstr(text_of(event_of("hazard", 0), "fix"), "fy_record_stream"));
        fy_cuda_synchronize();
        assert_true(isnan(element(home, 0)));
        assert_true(element(next, 0) == 0);
    }
}

TEST(recorded_it_is_kept_until_that_stream_has_got_past_its_end)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *s = fy_cuda_stream();
        fy_tensor *home = pinned(MANY);
        fy_cuda_empty_cache();
        free_while_in_use(s, home, true);
        char was[32];
        snprintf(was, sizeof was, "%s", text_of(event_of("copy", 0), "src.addr"));
        assert_int_equal(number_of(event_of("record_stream", 0), "stream"), fy_stream_id(s));
        assert_true(number_of(event_of("record_stream", 0), "storage") == number_of(event_of("free", 0), "storage"));
        assert_true(cJSON_IsTrue(field(event_of("free", 0), "deferred")));
        fy_zeros((MANY), .device = "cuda");
        assert_true(strcmp(text_of(event_of("alloc", 0), "addr"), was) != 0);
        assert_null(event_of("hazard", 0));
        fy_stream_synchronize(s);
        assert_true(element(home, 0) == 1 && element(home, MANY - 1) == 1);
        since();
        fy_zeros((MANY), .device = "cuda");
        assert_string_equal(text_of(event_of("alloc", 0), "addr"), was);
        assert_null(event_of("hazard", 0));
    }
}

TEST(its_own_stream_need_not_be_recorded_and_the_cpu_has_none)
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
        assert_true(failed_with("the stream is of cuda:1"));
        fy_record_stream(NULL, fy_cuda_stream());
        fy_record_stream(g, NULL);
        assert_null(fy_error());
    }
}

TEST(what_a_side_stream_makes_is_used_after_a_wait_alone)
{
    (void)state;
    for (int waits = 0; waits < 2; waits++) FY_SCOPE
        {
            fy_stream *s = fy_cuda_stream();
            fy_tensor *x = pinned(MANY), *g = on_card(MANY), *sum;
            fy_cuda_synchronize();
            since();
            FY_STREAM(s) fy_copy_(g, x, .non_blocking = true);
            if (waits) fy_stream_wait_stream(fy_cuda_current_stream(), s);
            sum = fy_sum(g);
            assert_int_equal(event_of("hazard", 0) == NULL, waits);
            if (!waits) assert_string_equal(text_of(event_of("hazard", 0), "type"), "race");
            double total = fy_item(sum);
            assert_true(waits ? total == MANY : isnan(total));
        }
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

/* After FY_RETURN what a failed call gave passes through silently; the current stream is not taken for it. */
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
        T(the_default_stream_is_number_0_and_current_at_the_start),
        T(work_in_one_stream_runs_in_the_order_of_its_calls),
        T(different_streams_work_side_by_side),
        T(each_card_has_a_current_stream_of_its_own),
        T(streams_come_from_a_pool_of_32_in_turn),
        T(each_thread_has_a_current_stream_of_its_own),
        T(no_stream_waits_for_the_default_stream_unless_told),
        T(a_copy_that_waits_waits_for_its_own_stream_alone),
        T(at_its_end_the_streams_and_the_card_are_what_they_were),
        T(it_is_left_by_break_and_by_return_as_well),
        T(work_after_a_wait_for_an_event_begins_after_it_and_the_host_goes_on),
        T(to_wait_for_a_stream_is_to_wait_for_an_event_recorded_now),
        T(an_event_stands_for_its_last_recording),
        T(a_stream_records_an_event_of_its_own_and_waits_across_cards),
        T(the_host_waits_for_an_event_or_a_stream_and_no_longer),
        T(who_asks_does_not_wait_and_is_told_yes_in_the_end),
        T(the_time_between_two_events_is_the_models),
        T(an_event_that_was_never_recorded_is_reached_and_nobody_waits_for_it),
        T(an_event_belongs_to_the_card_of_its_first_recording),
        T(times_are_for_events_that_were_made_for_them),
        T(a_freed_event_is_recognised),
        T(memory_that_another_stream_still_uses_is_given_on_at_once),
        T(recorded_it_is_kept_until_that_stream_has_got_past_its_end),
        T(its_own_stream_need_not_be_recorded_and_the_cpu_has_none),
        T(what_a_side_stream_makes_is_used_after_a_wait_alone),
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
