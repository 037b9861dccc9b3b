/* The real card's streams, points and times: lib/devices/cuda.c and lib/devices/cuda_clock.h on the fake CUDA
 * runtime. */
#include "clock.h"
#include "device.h"
#include "run_work.h"
#include "cuda_on_fake.h"

/* ---- streams and points ---- */

static void a_stream_is_made_at_first_use_once_per_card(void **state)
{
    float x[1] = {1};
    fy_run_work w = add_on_fake(x, x, x, 1);
    (void)state;
    fake_log_is_on = false;
    assert_true(start_work(&fake_card0, &w)); /* the default stream exists */
    w.stream = 32;
    assert_true(start_work(&fake_card0, &w) && start_work(&fake_card0, &w) && start_work(&fake_card1, &w));
    assert_string_equal(fake.calls, "SetDevice Launch GetLastError StreamCreate Launch@1 GetLastError "
                                    "Launch@1 GetLastError SetDevice:1 StreamCreate Launch@2 GetLastError");
}

static void points_pass_and_waiting_asks_the_right_event(void **state)
{
    fy_time t;
    fy_point point = {0};
    int64_t when;
    (void)state;
    use_stream(&fake_card0, 1);
    assert_true(fy_backend_cuda.record(&fake_card0, 1, &point));
    assert_true(point.stream == 1 && point.when == -1 && point.native);
    begin_calls();
    assert_true(fy_backend_cuda.wait(&fake_card0, &point, NULL, 0, &t));
    assert_true(fy_backend_cuda.wait(&fake_card0, NULL, NULL, 0, &t));
    assert_true(fy_backend_cuda.done(&fake_card0, &point, &when));
    void *native = point.native;
    assert_true(fy_backend_cuda.record(&fake_card0, 1, &point)); /* the event is reused */
    assert_ptr_equal(point.native, native);
    assert_string_equal(fake.calls, "EventSynchronize DeviceSynchronize EventQuery EventElapsedTime EventRecord@1");
    assert_true(fy_backend_cuda.record(&fake_card0, -1, &point));
    assert_null(point.native);
}

/* It represents all work of the stream so far. */
static void a_point_that_was_never_put_asks_its_stream(void **state)
{
    fy_time t;
    fy_point point = {.stream = 1};
    int64_t when;
    (void)state;
    use_stream(&fake_card0, 1), use_stream(&fake_card0, 2);
    begin_calls();
    assert_true(fy_backend_cuda.wait(&fake_card0, &point, NULL, 0, &t));
    assert_true(fy_backend_cuda.done(&fake_card0, &point, &when));
    assert_true(fy_backend_cuda.wait(&fake_card0, &point, &fake_card0, 2, &t));
    assert_string_equal(fake.calls, "StreamSynchronize@1 StreamQuery@1 EventRecord@1 StreamWaitEvent@2");
}

static void a_point_is_not_done_before_its_time(void **state)
{
    float x[1] = {1};
    fy_run_work w = add_on_fake(x, x, x, 1);
    fy_point point = {0}, all = {.stream = 1};
    int64_t when;
    (void)state;
    fake_log_is_on = false;
    w.stream = 1;
    assert_true(start_work(&fake_card0, &w) && fy_backend_cuda.record(&fake_card0, 1, &point));
    assert_false(fy_backend_cuda.done(&fake_card0, &point, &when));
    assert_false(fy_backend_cuda.done(&fake_card0, &all, &when));
    assert_int_equal(fake.last, cudaSuccess); /* cudaErrorNotReady must not remain as the last error */
    fake.now += 5;
    assert_true(fy_backend_cuda.done(&fake_card0, &point, &when) &&
                fy_backend_cuda.done(&fake_card0, &all, &(int64_t){0}));
    assert_int_equal(when, fy_clock_now() - 4000000);
    fy_backend_cuda.record(&fake_card0, -1, &point);
}

static void another_cards_stream_waits_and_the_host_does_not(void **state)
{
    fy_time t;
    fy_point point = {0};
    (void)state;
    use_stream(&fake_card0, 1), use_stream(&fake_card1, 5);
    assert_true(fy_backend_cuda.record(&fake_card0, 1, &point));
    begin_calls();
    assert_true(fy_backend_cuda.wait(&fake_card0, &point, &fake_card1, 5, &t));
    assert_string_equal(fake.calls, "SetDevice:1 StreamWaitEvent@2");
    fy_backend_cuda.record(&fake_card0, -1, &point);
}

/* ---- times ---- */

/* Measured start and duration of a launch of `us` microseconds that is queried a millisecond later. */
static int64_t measured(double us, int64_t *start)
{
    float x[1] = {1};
    fy_run_work w = add_on_fake(x, x, x, 1);
    int64_t end;
    fake.work = us / 1000;
    assert_true(start_work(&fake_card0, &w));
    fake.now += 1 + fake.work;
    assert_true(fy_backend_cuda.done(&fake_card0, &(fy_point){.native = w.time.ended}, &end));
    assert_true(fy_backend_cuda.done(&fake_card0, &(fy_point){.native = w.time.begun, .passed = true}, start));
    drop_fake_marks(&fake_card0, &w.time);
    fake.calls[0] = 0;
    return end - *start;
}

static void check_measured(double us)
{
    int64_t start, before = fy_clock_now(), n = measured(us, &start);
    assert_in_range(n, (int64_t)(us * 1e3) - 1000, (int64_t)(us * 1e3) + 1000);
    assert_in_range(start, before, fy_clock_now());
}

/* A float that holds an hour in milliseconds has a resolution of a quarter ms. Anchors limit the error of an hour to
 * one part in ten million. */
static void an_hour_later_microseconds_are_still_resolved(void **state)
{
    int64_t start;
    (void)state;
    for (int second = 0; second < 3600; second++, fake.now += 999) check_measured(7);
    measured(7, &start);
    assert_in_range(start, fy_clock_now() - 1007000 - 200000, fy_clock_now() - 1007000 + 200000);
    fake.now += 3600e3; /* an hour without a query */
    measured(7, &start);
    check_measured(7);
    check_measured(123);
}

/* The clocks drift by a second per day: times are moved into the interval that the host observed. */
static void clocks_that_drift_apart_are_kept_together(void **state)
{
    int64_t start;
    (void)state;
    for (int way = -1; way <= 1; way += 2) {
        fake.drift = way * 1.2e-5;
        for (int second = 0; second < 1000; second++, fake.now += 999) {
            int64_t before = fy_clock_now();
            measured(7, &start);
            assert_in_range(start, before, fy_clock_now());
        }
    }
}

/* What CUDA measured between its two marks, though the first is moved between the two moments that the host knows. */
static void a_correction_of_the_clock_changes_no_duration(void **state)
{
    int64_t start;
    (void)state;
    for (int way = -1; way <= 1; way += 2) {
        fake.drift = way * 1e-3; /* a millisecond in each second */
        fake.now += 900;
        int64_t before = fy_clock_now();
        float x[1] = {1};
        fy_run_work w = add_on_fake(x, x, x, 1), next = w;
        int64_t begin, end;
        fake.work = 0.5;
        assert_true(start_work(&fake_card0, &w) && start_work(&fake_card0, &next));
        fake.now += 1;
        assert_true(fy_backend_cuda.done(&fake_card0, &(fy_point){.native = w.time.ended}, &end)); /* corrects it */
        assert_true(fy_backend_cuda.done(&fake_card0, &(fy_point){.native = w.time.begun}, &start));
        assert_in_range(end - start, 499000, 501000);
        assert_true(fy_backend_cuda.done(&fake_card0, &(fy_point){.native = next.time.ended}, &end));
        assert_true(fy_backend_cuda.done(&fake_card0, &(fy_point){.native = next.time.begun}, &begin));
        assert_in_range(end - begin, 499000, 501000);
        assert_true(start >= before && end <= fy_clock_now());
        drop_fake_marks(&fake_card0, &w.time);
        drop_fake_marks(&fake_card0, &next.time);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_CARDS(a_stream_is_made_at_first_use_once_per_card),
        WITH_CARDS(points_pass_and_waiting_asks_the_right_event),
        WITH_CARDS(a_point_that_was_never_put_asks_its_stream),
        WITH_CARDS(a_point_is_not_done_before_its_time),
        WITH_CARDS(another_cards_stream_waits_and_the_host_does_not),
        WITH_CARDS(an_hour_later_microseconds_are_still_resolved),
        WITH_CARDS(a_correction_of_the_clock_changes_no_duration),
        WITH_CARDS(clocks_that_drift_apart_are_kept_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
