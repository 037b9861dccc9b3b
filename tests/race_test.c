/* Data races: a small program for each type, reported with both lines and the fix, and a corrected version without one;
 * what is a data race and what is not; and values: a racing read always returns the fill value. */
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

static fy_stream *side;

/* ---- reported data races ---- */

static const cJSON *event_with(double seq)
{
    const cJSON *e;
    recorded_read();
    cJSON_ArrayForEach(e, recorded_events) if (number_of(e, "seq") == seq) return e;
    return NULL;
}

static int data_races(void)
{
    int n = 0;
    while (event_of("data_race", n)) n++;
    return n;
}

/* Exactly one data race since then, of this type, between events of these kinds at these lines, with these words in the
 * fix. */
static void assert_reported(const char *type, const char *kind_a, int line_a, const char *kind_b, int line_b,
                            const char *words, const char *name)
{
    const cJSON *h = event_of("data_race", 0), *a = event_with(number_of(h, "a")), *b = event_with(number_of(h, "b"));
    assert_int_equal(data_races(), 1);
    assert_string_equal(text_of(h, "type"), type);
    assert_true(a && b);
    assert_string_equal(event_kind_of(a), kind_a);
    assert_string_equal(event_kind_of(b), kind_b);
    assert_int_equal(number_of(a, "line"), line_a);
    assert_int_equal(number_of(b, "line"), line_b);
    assert_int_equal(number_of(h, "line"), line_b);
    assert_non_null(strstr(text_of(h, "file"), "race_test.c"));
    if (!strstr(text_of(h, "fix"), words) || !strstr(text_of(h, "fix"), name))
        fail_msg("'%s' and '%s' are not in: %s", words, name, text_of(h, "fix"));
}

static fy_tensor *pinned(double value) { return fy_full((4), value, .pin_memory = true); }
static fy_tensor *on_card(double value) { return fy_full((4), value, .device = "cuda"); }

/* ---- the types ---- */

static double read_result(bool wait, int *copy_line, int *read_line)
{
    double value = 0;
    fy_cuda_synchronize();
    since();
    FY_SCOPE
    {
        fy_tensor *x = fy_full((1), 3.0, .device = "cuda"), *home = fy_full((1), 0.0, .pin_memory = true);
        *copy_line = __LINE__, fy_copy_(home, x, .non_blocking = true);
        if (wait) fy_cuda_synchronize();
        *read_line = __LINE__, value = fy_item(home);
    }
    return value;
}

TEST(reading_a_result_before_its_copy_is_done)
{
    (void)state;
    int copy_line, read_line;
    assert_true(isnan(read_result(false, &copy_line, &read_line)));
    assert_reported("read_early", "copy", copy_line, "host_read", read_line, "fy_cuda_synchronize()", "home");
    assert_true(read_result(true, &copy_line, &read_line) == 3);
    assert_int_equal(data_races(), 0);
}

static double rewrite_source(bool wait, int *copy_line, int *write_line)
{
    double value = 0;
    fy_cuda_synchronize();
    since();
    FY_SCOPE
    {
        fy_tensor *batch = fy_full((1), 5.0, .pin_memory = true), *x = fy_zeros((1), .device = "cuda");
        FY_STREAM(side)
        {
            fy_stream_wait_stream(side, fy_cuda_default_stream());
            *copy_line = __LINE__, fy_copy_(x, batch, .non_blocking = true);
            if (wait) fy_stream_synchronize(side);
        }
        *write_line = __LINE__, fy_fill_(batch, 6);
        if (!wait) fy_cuda_synchronize();
        value = fy_item(x);
    }
    return value;
}

TEST(writing_into_a_source_before_it_has_left)
{
    (void)state;
    int copy_line, write_line;
    assert_true(rewrite_source(false, &copy_line, &write_line) == 6);
    assert_reported("write_early", "copy", copy_line, "op", write_line, "fy_stream_synchronize(side), before line ",
                    "batch");
    assert_true(rewrite_source(true, &copy_line, &write_line) == 5);
    assert_int_equal(data_races(), 0);
}

static double use_on_another_stream(bool wait, int *fill_line, int *use_line)
{
    double value = 0;
    fy_cuda_synchronize();
    FY_SCOPE
    {
        fy_tensor *weights = fy_zeros((1), .device = "cuda"), *y;
        fy_cuda_synchronize();
        since();
        FY_STREAM(side) { *fill_line = __LINE__, fy_fill_(weights, 2); }
        if (wait) fy_stream_wait_stream(fy_cuda_default_stream(), side);
        *use_line = __LINE__, y = fy_add(weights, 1.0);
        value = fy_item(y);
        fy_cuda_synchronize();
    }
    return value;
}

TEST(using_a_result_of_another_stream_that_nothing_orders)
{
    (void)state;
    int fill_line, use_line;
    assert_true(isnan(use_on_another_stream(false, &fill_line, &use_line)));
    assert_reported("race", "op", fill_line, "op", use_line,
                    "fy_stream_wait_stream(fy_cuda_default_stream(), side) before line ", "weights");
    assert_non_null(strstr(text_of(event_of("data_race", 0), "fix"), "fy_event_wait"));
    assert_true(use_on_another_stream(true, &fill_line, &use_line) == 3);
    assert_int_equal(data_races(), 0);
}

static void reuse_memory(bool wait, int *use_line, int *reuse_line)
{
    fy_cuda_synchronize();
    FY_SCOPE
    {
        since();
        fy_tensor *first = fy_ones((4), .device = "cuda"), *second, *home = pinned(0);
        char addr[40];
        snprintf(addr, sizeof addr, "%s", text_of(event_of("alloc", 0), "addr"));
        fy_cuda_synchronize();
        since();
        FY_STREAM(side) { *use_line = __LINE__, fy_copy_(home, first, .non_blocking = true); }
        if (wait) fy_stream_wait_stream(fy_cuda_default_stream(), side);
        fy_free(first);
        *reuse_line = __LINE__, second = fy_zeros((4), .device = "cuda");
        assert_non_null(second);
        assert_string_equal(text_of(event_of("alloc", 0), "addr"), addr);
        fy_cuda_synchronize();
    }
}

TEST(freed_memory_reused_while_a_stream_uses_it_races)
{
    (void)state;
    int use_line, reuse_line;
    reuse_memory(false, &use_line, &reuse_line);
    assert_reported("reuse", "copy", use_line, "op", reuse_line, "fy_record_stream(first, side) before first is freed",
                    "second");
    reuse_memory(true, &use_line, &reuse_line);
    assert_int_equal(data_races(), 0);
}

/* ---- what is a data race and what is not ---- */

TEST(a_pair_is_reported_once_and_ordered_accesses_are_clean)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = on_card(1), *home = pinned(0);
        since();
        fy_copy_(home, x, .non_blocking = true);
        fy_data(home);
        assert_int_equal(data_races(), 1);
        fy_data(home);
        assert_int_equal(data_races(), 2); /* another access */
        fy_cuda_synchronize();
        fy_data(home);
        fy_zero_(home);
        assert_int_equal(data_races(), 2);
    }
}

TEST(an_event_orders_what_came_before_it_and_no_more)
{
    (void)state;
    fy_event *e = fy_cuda_event();
    FY_SCOPE
    {
        fy_tensor *x = on_card(1), *y = on_card(1);
        fy_cuda_synchronize();
        since();
        FY_STREAM(side)
        {
            fy_zero_(x);
            fy_event_record(e);
            fy_zero_(y);
        }
        fy_event_wait(e);
        fy_zero_(x);
        assert_int_equal(data_races(), 0);
        fy_zero_(y);
        assert_int_equal(data_races(), 1);
        fy_cuda_synchronize();
    }
    fy_event_free(e);
}

TEST(adjacent_columns_do_not_race_and_the_same_column_does)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_zeros((6, 8), .device = "cuda");
        fy_cuda_synchronize();
        since();
        FY_STREAM(side) fy_fill_(fy_narrow(x, 1, 0, 3), 1);
        fy_fill_(fy_narrow(x, 1, 3, 5), 2);
        assert_int_equal(data_races(), 0);
        fy_fill_(fy_narrow(x, 1, 2, 1), 2);
        assert_int_equal(data_races(), 1);
        assert_int_equal(number_of(event_of("data_race", 0), "first"), 8);
        fy_cuda_synchronize();
    }
}

/* A 0-dim CPU tensor is a kernel argument: the host reads it at the launch. */
TEST(a_number_whose_copy_to_the_host_is_not_done)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = on_card(1), *from = fy_full((), 2.0, .device = "cuda"),
                  *scale = fy_full((), 0.0, .pin_memory = true);
        since();
        fy_copy_(scale, from, .non_blocking = true);
        fy_mul(x, scale);
        assert_string_equal(text_of(event_of("data_race", 0), "type"), "read_early");
        fy_cuda_synchronize();
        fy_mul(x, scale);
        assert_int_equal(data_races(), 1);
    }
}

TEST(copies_that_hold_the_host_order_it)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = on_card(1), *home = pinned(0), *rows = fy_zeros((4));
        since();
        fy_copy_(home, x);
        fy_data(home);
        fy_copy_(x, home);
        fy_zero_(home);
        fy_copy_(x, rows, .non_blocking = true); /* pageable: staged before the call returns */
        fy_zero_(rows);
        fy_copy_(home, x, .non_blocking = true);
        fy_item(fy_select(x, 0, 0)); /* waits for its stream, and so for the copy */
        fy_data(home);
        assert_int_equal(data_races(), 0);
        fy_cuda_synchronize();
    }
}

TEST(an_answer_that_another_stream_still_computes)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *c = on_card(1);
        fy_cuda_synchronize();
        since();
        FY_STREAM(side) fy_fill_(c, 2);
        fy_answer("c", c);
        assert_string_equal(text_of(event_of("data_race", 0), "type"), "race");
        assert_true(number_of(event_of("data_race", 0), "b") == number_of(event_of("host_read", 0), "seq"));
        fy_cuda_synchronize();
        fy_answer("c", c);
        assert_int_equal(data_races(), 1);
    }
}

static void *copy_in_thread(void *home)
{
    FY_SCOPE
    {
        fy_copy_((fy_tensor *)home, on_card(4), .non_blocking = true);
        fy_cuda_synchronize();
    }
    return NULL;
}

TEST(what_one_thread_waited_for_the_others_may_read)
{
    (void)state;
    pthread_t thread;
    FY_SCOPE
    {
        fy_tensor *home = pinned(0);
        since();
        assert_int_equal(pthread_create(&thread, NULL, copy_in_thread, home), 0);
        pthread_join(thread, NULL);
        assert_true(((float *)fy_data(home))[0] == 4);
        assert_int_equal(data_races(), 0);
    }
}

static int start(void **state)
{
    record_on_sim(state);
    side = fy_cuda_stream();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reading_a_result_before_its_copy_is_done),
        cmocka_unit_test(writing_into_a_source_before_it_has_left),
        cmocka_unit_test(using_a_result_of_another_stream_that_nothing_orders),
        cmocka_unit_test(freed_memory_reused_while_a_stream_uses_it_races),
        cmocka_unit_test(a_pair_is_reported_once_and_ordered_accesses_are_clean),
        cmocka_unit_test(an_event_orders_what_came_before_it_and_no_more),
        cmocka_unit_test(adjacent_columns_do_not_race_and_the_same_column_does),
        cmocka_unit_test(a_number_whose_copy_to_the_host_is_not_done),
        cmocka_unit_test(copies_that_hold_the_host_order_it),
        cmocka_unit_test(an_answer_that_another_stream_still_computes),
        cmocka_unit_test(what_one_thread_waited_for_the_others_may_read),
    };
    cmocka_set_message_output(CM_OUTPUT_TAP);
    return cmocka_run_group_tests(tests, start, record_no_more);
}
