/* lib/devices/cuda.c, compiled against a recording fake of the CUDA runtime and run with the simulated card's kernels:
 * the order of its runtime calls, and errors. Real cards are tested by tests/gpu. Streams, points and times:
 * cuda_stream_test.c; completion of asynchronous work: finished_test.c. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "clock.h"
#include "device.h"
#include "event.h"
#include "run_work.h"
#include "cuda_on_fake.h"

/* ---- opening ---- */

static void check_why(int cards, int driver, cudaError_t e, const char *expected)
{
    fake_reset(cards);
    fake.driver = driver, fake.count_error = e;
    const char *why = open_error(&fake_card0, 1);
    assert_non_null(why);
    assert_string_equal(why, expected);
    assert_null(fake_card0.state);
    assert_int_equal(fake.last, cudaSuccess); /* the runtime's last error is cleared */
}

static void each_reason_for_having_no_card_has_its_own_words(void **state)
{
    (void)state;
    check_why(0, 0, cudaErrorInsufficientDriver, "no NVIDIA driver was found");
    check_why(0, 11000, cudaErrorInsufficientDriver, "the NVIDIA driver is too old");
    check_why(0, 13000, cudaErrorNoDevice, "no NVIDIA card was found");
    check_why(0, 13000, cudaSuccess, "no NVIDIA card was found");
    check_why(0, 13000, cudaErrorOperatingSystem, "no permission to use the card");
    check_why(0, 13000, cudaErrorLaunchFailure, "unspecified launch failure");
}

static void a_card_that_fails_when_first_used_leaves_nothing(void **state)
{
    (void)state;
    fake_reset(1);
    assert_null(open_error(&fake_card0, 1));
    fail_next("HostAlloc", cudaErrorLaunchFailure);
    assert_null(alloc_block(&fake_card0, 4));
    assert_string_equal(fy_fault.text,
                        "CUDA error: unspecified launch failure (cudaErrorLaunchFailure, in cudaHostAlloc)");
    fy_backend_cuda.close(&fake_card0);
    assert_null(fake_card0.state);
    assert_int_equal(fake.events + fake.pinned, 0);
}

/* Kernels are loaded early, or the first launch would include the loading time. */
static void kernels_are_loaded_at_the_first_use_of_a_card(void **state)
{
    (void)state;
    unsetenv("CUDA_MODULE_LOADING");
    fake_reset(1);
    assert_null(open_error(&fake_card0, 1));
    assert_null(info_error(&fake_card0));
    assert_false(fake.context[0]);
    begin_calls();
    release_block(&fake_card0, alloc_block(&fake_card0, 4));
    assert_string_equal(fake.calls, "SetDevice FuncGetAttributes HostAlloc Malloc Free");
    assert_true(fake.context[0] && !fake.lazy);
    fy_backend_cuda.close(&fake_card0);
    setenv("CUDA_MODULE_LOADING", "LAZY", 1); /* it exists once it was asked for */
    assert_null(open_error(&fake_card0, 1));
    assert_true(fake.lazy);
    fy_backend_cuda.close(&fake_card0);
    unsetenv("CUDA_MODULE_LOADING");
}

static void a_card_older_than_the_build_is_refused_in_words(void **state)
{
    (void)state;
    fake_reset(1);
    fake.sm = 61;
    assert_null(open_error(&fake_card0, 1));
    assert_string_equal(info_error(&fake_card0),
                        "card too old for this build: Fake Card 0 is sm_61, and the oldest kernels are for sm_75");
    fake.sm = 80, fake.oldest = 90;
    assert_string_equal(info_error(&fake_card0),
                        "card too old for this build: Fake Card 0 is sm_80, and the oldest kernels are for sm_90");
    assert_false(fake.context[0]);
    fy_backend_cuda.close(&fake_card0);
}

/* How the runtime loads kernels for a card of that architecture: NVML has told it before the first call. */
static void check_loading(int sm, const char *loading, const char *said)
{
    char text[600] = "";
    unsetenv("CUDA_MODULE_LOADING");
    fake_reset(1);
    fake.sm = fake.nvml = sm;
    assert_null(open_error(&fake_card0, 1));
    assert_null(info_error(&fake_card0));
    assert_string_equal(getenv("CUDA_MODULE_LOADING"), loading);
    fflush(stderr);
    FILE *caught = tmpfile();
    int kept = dup(2);
    dup2(fileno(caught), 2);
    release_block(&fake_card0, alloc_block(&fake_card0, 4));
    dup2(kept, 2);
    close(kept);
    rewind(caught);
    text[fread(text, 1, sizeof text - 1, caught)] = 0;
    fclose(caught);
    assert_string_equal(text, said);
    fy_backend_cuda.close(&fake_card0);
    unsetenv("CUDA_MODULE_LOADING");
}

/* The fake build has machine code for sm_75, 80 and 90. */
static void what_a_driver_must_compile_is_said_and_loaded_late(void **state)
{
    (void)state;
    check_loading(75, "EAGER", "");
    check_loading(89, "EAGER", "");
    check_loading(
        120, "LAZY",
        "ferry: this build has no machine code for Fake Card 0, which is sm_120: its driver compiles each "
        "kernel at its first use, and keeps it in ~/.nv/ComputeCache. Building Ferry on this machine makes it "
        "needless\n");
}

/* Not a division by zero in the first random number. */
static void a_card_of_no_multiprocessors_is_refused_in_words(void **state)
{
    (void)state;
    fake_reset(1);
    fake.multiprocessors = 0;
    assert_null(open_error(&fake_card0, 1));
    assert_string_equal(info_error(&fake_card0),
                        "Fake Card 0 says that it has 0 multiprocessors of 2048 threads, and a card has at least 1 of "
                        "1: restart its driver, or hide it by CUDA_VISIBLE_DEVICES");
    fail_next("GetDeviceProperties", cudaErrorLaunchFailure);
    assert_string_equal(info_error(&fake_card0),
                        "CUDA error: unspecified launch failure (cudaErrorLaunchFailure, in cudaGetDeviceProperties)");
    fy_backend_cuda.close(&fake_card0);
}

/* A context takes time and device memory, so it is created only for cards in use. */
static void a_second_card_is_left_alone_until_it_is_used(void **state)
{
    (void)state;
    fake_reset(2);
    assert_true(!open_error(&fake_card0, 1) && !open_error(&fake_card1, 2));
    assert_null(info_error(&fake_card1));
    assert_string_equal(fake_card1.card_name, "Fake Card 1");
    assert_null(strstr(fake.calls, "SetDevice:1"));
    begin_calls();
    void *p = alloc_block(&fake_card1, 4);
    assert_string_equal(fake.calls, "SetDevice:1 FuncGetAttributes HostAlloc Malloc");
    begin_calls();
    release_block(&fake_card1, p);
    assert_string_equal(fake.calls, "Free");
    fy_backend_cuda.close(&fake_card1);
    assert_null(open_error(&fake_card1, 2));
    begin_calls();
    fy_backend_cuda.close(&fake_card1);
    assert_string_equal(fake.calls, "");
    fy_backend_cuda.close(&fake_card0);
    assert_int_equal(fake.pinned, 0);
}

static void the_card_reports_its_name_capacity_and_peers(void **state)
{
    (void)state;
    assert_string_equal(fake_card0.card_name, "Fake Card 0");
    assert_int_equal(fake_card0.capacity, 8 << 20);
    assert_int_equal(fake_card0.peers, 1 << 2);
    assert_int_equal(fake_card1.peers, 1 << 1);
}

/* On a stream that is busy for sure: on one that is not, the distance would be the launch's. */
static void the_distance_of_marks_is_measured_at_the_first_use(void **state)
{
    (void)state;
    fake_reset(1);
    fake_log_is_on = true;
    fake.memory = (size_t)1 << 30, fake.empty = 0.003;
    for (int busy = 1; busy >= 0; busy--) {
        fake.work = busy;
        assert_null(open_error(&fake_card0, 1));
        release_block(&fake_card0, alloc_block(&fake_card0, 4));
        assert_int_equal(fake_card0.marks, busy ? 3000 : 0);
        fy_backend_cuda.close(&fake_card0);
        assert_int_equal(fake.events + fake.blocks + fake.streams, 0);
    }
    fake_log_is_on = false;
}

/* ---- memory ---- */

static void numbers_are_copied_added_and_copied_back(void **state)
{
    float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, on_host[3];
    fy_copy_work c;
    (void)state;
    float *x = alloc_block(&fake_card0, 512), *y = alloc_block(&fake_card0, 512), *z = alloc_block(&fake_card0, 512);
    assert_true(copy_on_fake(FY_WORD_h2d, x, a, sizeof a, &c) && copy_on_fake(FY_WORD_h2d, y, b, sizeof b, &c));
    fy_run_work w = add_on_fake(x, y, z, 3);
    assert_true(start_work(&fake_card0, &w));
    assert_string_equal(w.kernel, "add_f32");
    drop_fake_marks(&fake_card0, &w.time);
    assert_true(copy_on_fake(FY_WORD_d2h, on_host, z, sizeof on_host, &c));
    assert_true(on_host[0] == 11 && on_host[1] == 22 && on_host[2] == 33);
    assert_int_equal(c.route, FY_WORD_staged);
    assert_false(c.was_async);
    release_block(&fake_card0, x), release_block(&fake_card0, y), release_block(&fake_card0, z);
}

/* The log does not show it. */
static void memory_of_any_size_is_filled_in_its_stream(void **state)
{
    fy_copy_work c = {.bytes = 1 << 20, .fill_byte = 0xf5, .stream = 3};
    (void)state;
    char *p = alloc_block(&fake_card0, (1 << 20) + 1);
    begin_calls();
    c.dst = p;
    assert_true(copy_of(&fake_card0, &c));
    assert_string_equal(fake.calls, "StreamCreate MemsetAsync@1");
    assert_true((unsigned char)p[0] == 0xf5 && (unsigned char)p[(1 << 20) - 1] == 0xf5);
    assert_true(c.was_async && !c.time.begun && c.time.end == c.time.start);
    c.bytes++;
    begin_calls();
    assert_true(copy_of(&fake_card0, &c));
    assert_string_equal(fake.calls, "MemsetAsync@1");
    release_block(&fake_card0, p);
}

static void memory_comes_and_goes_without_a_fill(void **state)
{
    fy_time t;
    (void)state;
    begin_calls();
    void *p = alloc_block(&fake_card0, 4);
    assert_string_equal(fake.calls, "SetDevice Malloc");
    begin_calls();
    release_block(&fake_card0, p);
    assert_string_equal(fake.calls, "Free");
    fail_next("HostAlloc", cudaErrorLaunchFailure);
    assert_null(fy_backend_cuda.alloc(&fake_card0, 4, FY_WORD_pinned, &t));
    assert_non_null(strstr(fy_fault.text, "in cudaHostAlloc"));
}

static void a_full_card_is_null_and_forgotten(void **state)
{
    (void)state;
    assert_null(alloc_block(&fake_card0, 9 << 20));
    assert_string_equal(fy_fault.text, ""); /* out of memory, and no other error */
    assert_int_equal(fake.last, cudaSuccess);
    void *p = alloc_block(&fake_card0, 4);
    assert_non_null(p);
    release_block(&fake_card0, p);
}

/* ---- copies ---- */

/* The runtime calls of a copy in stream 1, which exists. */
static const char *calls_of(fy_word dir, bool pinned, bool async, fy_copy_work *c)
{
    static char a[4], b[4];
    *c = (fy_copy_work){.dst = a, .src = b, .bytes = 4, .dir = dir, .pinned = pinned, .async = async, .stream = 1};
    begin_calls();
    assert_true(copy_of(&fake_card0, c));
    return fake.calls;
}

static void a_copy_is_waited_for_unless_non_blocking_and_pinned(void **state)
{
    fy_copy_work c;
    (void)state;
    use_stream(&fake_card0, 1);
    fake_log_is_on = false;
    const char *up = "MemcpyHostToDevice@1", *down = "MemcpyDeviceToHost@1",
               *up_waits = "MemcpyHostToDevice@1 StreamSynchronize@1",
               *down_waits = "MemcpyDeviceToHost@1 StreamSynchronize@1", *within = "MemcpyDeviceToDevice@1";
    assert_string_equal(calls_of(FY_WORD_h2d, false, false, &c), up_waits);
    assert_true(!c.was_async && c.route == FY_WORD_staged && c.time.wire == 1000000);
    assert_string_equal(calls_of(FY_WORD_h2d, false, true, &c),
                        up); /* pageable memory has been read when the call returns */
    assert_true(!c.was_async && c.route == FY_WORD_staged && c.time.end == -1);
    assert_string_equal(calls_of(FY_WORD_h2d, true, true, &c), up);
    assert_true(c.was_async && c.route == FY_WORD_direct && c.time.end == -1 && !c.time.ended);
    assert_string_equal(calls_of(FY_WORD_d2h, true, true, &c), down);
    assert_true(c.was_async);
    assert_string_equal(calls_of(FY_WORD_d2h, true, false, &c), down_waits);
    assert_string_equal(calls_of(FY_WORD_d2h, false, true, &c), down_waits);
    assert_false(c.was_async);
    assert_string_equal(calls_of(FY_WORD_d2d, false, false, &c), within);
    assert_true(c.was_async && c.route == FY_WORD_direct);
}

static void a_copy_that_was_waited_for_knows_its_times(void **state)
{
    fy_copy_work c;
    (void)state;
    use_stream(&fake_card0, 1);
    const char *calls = calls_of(FY_WORD_h2d, false, false, &c);
    assert_string_equal(calls, "EventRecord@1 MemcpyHostToDevice@1 EventRecord@1 StreamSynchronize@1 "
                               "EventElapsedTime EventElapsedTime");
    assert_int_equal(c.time.end - c.time.start, 1000000);
    assert_true(c.time.wire == 1000000 && c.time.held == 1000000 && c.time.end == fy_clock_now());
    assert_null(c.time.begun);
}

static void a_copy_between_cards_is_in_order_in_both(void **state)
{
    fy_copy_work c = {.bytes = 4, .dir = FY_WORD_p2p, .stream = 1, .to_stream = 2};
    (void)state;
    use_stream(&fake_card0, 1), use_stream(&fake_card1, 2);
    char *from = alloc_block(&fake_card0, 4), *to = alloc_block(&fake_card1, 4);
    memcpy(from, "abc", 4);
    c.src = from, c.dst = to;
    begin_calls();
    assert_true(copy_of(&fake_card0, &c));
    assert_string_equal(fake.calls, "SetDevice PointerGetAttributes DeviceEnablePeerAccess "
                                    "SetDevice:1 EventRecord@2 SetDevice StreamWaitEvent@1 "
                                    "EventRecord@1 MemcpyPeerAsync@1 EventRecord@1 "
                                    "EventRecord@1 SetDevice:1 StreamWaitEvent@2");
    assert_true(c.was_async && c.route == FY_WORD_direct && c.time.ended);
    assert_string_equal(to, "abc");
    drop_fake_marks(&fake_card0, &c.time);
    begin_calls();
    fake_card0.peers = 0; /* peers need only one wait */
    assert_true(copy_of(&fake_card0, &c));
    assert_null(strstr(fake.calls, "Enable"));
    assert_int_equal(c.route, FY_WORD_host);
    drop_fake_marks(&fake_card0, &c.time);
    release_block(&fake_card0, from), release_block(&fake_card1, to);
}

/* ---- failures ---- */

static void a_failed_launch_names_the_kernel(void **state)
{
    (void)state;
    float *p = alloc_block(&fake_card0, 4);
    fy_run_work w = add_on_fake(p, p, p, 1);
    fail_next("Launch", cudaErrorLaunchFailure);
    assert_false(start_work(&fake_card0, &w));
    assert_string_equal(fy_fault.text, "CUDA error: unspecified launch failure (cudaErrorLaunchFailure, in add_f32)");
    assert_null(w.time.begun);
    fail_next("EventRecord", cudaErrorLaunchFailure);
    assert_false(start_work(&fake_card0, &w));
    assert_non_null(strstr(fy_fault.text, "in cudaEventRecord"));
    assert_true(start_work(&fake_card0, &w)); /* the lock was released after each failure */
    drop_fake_marks(&fake_card0, &w.time);
    release_block(&fake_card0, p);
}

static void a_failed_copy_says_so(void **state)
{
    char host[4] = "abc", card[4] = "";
    fy_copy_work c;
    (void)state;
    fail_next("MemcpyDeviceToHost", cudaErrorLaunchFailure);
    assert_false(copy_on_fake(FY_WORD_d2h, host, card, 4, &c));
    assert_non_null(strstr(fy_fault.text, "in cudaMemcpyAsync"));
    assert_string_equal(host, "abc");
    fail_next("StreamSynchronize", cudaErrorLaunchFailure);
    assert_false(copy_on_fake(FY_WORD_d2h, host, card, 4, &c));
    assert_non_null(strstr(fy_fault.text, "in cudaStreamSynchronize"));
    fail_next("PointerGetAttributes", cudaErrorLaunchFailure);
    assert_false(copy_on_fake(FY_WORD_p2p, host, card, 4, &c));
    assert_false(copy_on_fake(FY_WORD_p2p, host, card, 4, &c)); /* host memory belongs to no card */
    assert_non_null(strstr(fy_fault.text, "not a copy between two cards"));
}

static void a_record_or_wait_that_fails_says_so(void **state)
{
    fy_time t;
    fy_point point = {0}, filled = {0};
    int64_t when;
    (void)state;
    use_stream(&fake_card0, 1);
    assert_true(fy_backend_cuda.record(&fake_card0, 1, &filled));
    fail_next("EventRecord", cudaErrorLaunchFailure);
    assert_false(fy_backend_cuda.record(&fake_card0, 1, &point));
    assert_null(point.native);
    fail_next("StreamCreate", cudaErrorLaunchFailure);
    assert_false(fy_backend_cuda.record(&fake_card0, 2, &point));
    assert_non_null(strstr(fy_fault.text, "in cudaStreamCreate"));
    fail_next("EventSynchronize", cudaErrorLaunchFailure);
    assert_false(fy_backend_cuda.wait(&fake_card0, &filled, NULL, 0, &t));
    assert_non_null(strstr(fy_fault.text, "in cudaEventSynchronize"));
    fail_next("StreamWaitEvent", cudaErrorLaunchFailure);
    assert_false(fy_backend_cuda.wait(&fake_card0, &filled, &fake_card1, 1, &t));
    assert_non_null(strstr(fy_fault.text, "in cudaStreamWaitEvent"));
    fail_next("EventQuery", cudaErrorLaunchFailure);
    fy_fault.text[0] = 0;
    assert_false(fy_backend_cuda.done(&fake_card0, &filled, &when));
    assert_non_null(strstr(fy_fault.text, "in cudaEventQuery"));
    fy_backend_cuda.record(&fake_card0, -1, &filled);
}

/* The next call reports the failure, whichever it is; the id written by the kernel names the launch. */
static void a_broken_card_names_the_launch_whose_assertion_failed(void **state)
{
    float x[1] = {1};
    fy_time t;
    fy_run_work w = add_on_fake(x, x, x, 1);
    (void)state;
    w.id = 77;
    next_launch_breaks = cudaErrorAssert;
    assert_true(start_work(&fake_card0, &w));
    drop_fake_marks(&fake_card0, &w.time);
    assert_false(fy_backend_cuda.wait(&fake_card0, NULL, NULL, 0, &t));
    assert_non_null(strstr(fy_fault.text, "device-side assert triggered"));
    assert_int_equal(fy_fault.work, 77);
    fake.sticky = 0;
    clear_blame(&fake_card0);
    fail_next("DeviceSynchronize", cudaErrorLaunchFailure); /* another kind of fault: its launch is unknown */
    assert_false(fy_backend_cuda.wait(&fake_card0, NULL, NULL, 0, &t));
    assert_int_equal(fy_fault.work, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_for_having_no_card_has_its_own_words),
        cmocka_unit_test(a_card_that_fails_when_first_used_leaves_nothing),
        cmocka_unit_test(kernels_are_loaded_at_the_first_use_of_a_card),
        cmocka_unit_test(a_card_older_than_the_build_is_refused_in_words),
        cmocka_unit_test(what_a_driver_must_compile_is_said_and_loaded_late),
        cmocka_unit_test(a_card_of_no_multiprocessors_is_refused_in_words),
        cmocka_unit_test(a_second_card_is_left_alone_until_it_is_used),
        cmocka_unit_test(the_distance_of_marks_is_measured_at_the_first_use),
        WITH_CARDS(the_card_reports_its_name_capacity_and_peers),
        WITH_CARDS(numbers_are_copied_added_and_copied_back),
        WITH_CARDS(memory_of_any_size_is_filled_in_its_stream),
        WITH_CARDS(memory_comes_and_goes_without_a_fill),
        WITH_CARDS(a_full_card_is_null_and_forgotten),
        WITH_CARDS(a_copy_is_waited_for_unless_non_blocking_and_pinned),
        WITH_CARDS(a_copy_that_was_waited_for_knows_its_times),
        WITH_CARDS(a_copy_between_cards_is_in_order_in_both),
        WITH_CARDS(a_failed_launch_names_the_kernel),
        WITH_CARDS(a_failed_copy_says_so),
        WITH_CARDS(a_record_or_wait_that_fails_says_so),
        WITH_CARDS(a_broken_card_names_the_launch_whose_assertion_failed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
