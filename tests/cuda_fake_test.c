/* lib/cuda.c, compiled against a recording fake of the CUDA runtime and run with the simulated card's
 * kernels: the order of its calls, and what it says when one fails. It proves nothing about a card;
 * tests/gpu does that where there is one. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "fake_cuda/fake_cuda.h"

#include "op.h"

static const fy_kernel *kernel_on_fake(int op);
static bool recording;
#define fy_backend_cuda backend_on_fake
#define fy_cuda_kernel kernel_on_fake
#define fy_log_is_on() recording
#undef FERRY_NO_NVCC
#include "../lib/cuda.c"
#undef fy_cuda_kernel

/* A launch takes 1 ms of the fake's clock; told to fail, it does so as a launch does: by the last error. */
static void launch_on_fake(fy_run_work *w)
{
    fake.ms += 1;
    cudaError_t e = called("Launch");
    fy_sim_kernel(w->op)->launch(w);
    if (e) fake.last = e;
}

static const fy_kernel *kernel_on_fake(int op)
{
    static fy_kernel k;
    k = *fy_sim_kernel(op);
    k.launch = launch_on_fake;
    return &k;
}

static fy_dev dev;

static const char *opening(void)
{
    static char why[128];
    why[0] = 0;
    dev = (fy_dev){.backend = &fy_backend_cuda, .number = 1, .name = "cuda:0"};
    return fy_backend_cuda.open(&dev, why, sizeof why) ? NULL : why;
}

static int setup(void **state)
{
    (void)state;
    recording = true;
    memset(&fake, 0, sizeof fake);
    fake.cards = 1, fake.driver = 13000;
    if (opening()) return -1;
    fy_backend_cuda.info(&dev);
    fake.calls[0] = 0;
    return 0;
}

/* Every block, pinned or not, and event that was made is gone again. */
static int teardown(void **state)
{
    (void)state;
    fy_backend_cuda.close(&dev);
    return fake.blocks || fake.events || fake.pinned;
}

static void fail_next(const char *call, cudaError_t e) { fake.fail = call, fake.error = e; }

static fy_run_work add_work(float *a, float *b, float *out, int64_t n)
{
    fy_layout l = {.ndim = 1, .numel = n, .shape = {n}, .strides = {1}};
    return (fy_run_work){.op = FY_OP_add,
                         .dtype = FY_FLOAT32,
                         .nin = 2,
                         .real = {0, 0, 1},
                         .in = {{a, FY_FLOAT32, l}, {b, FY_FLOAT32, l}},
                         .out = {out, FY_FLOAT32, l}};
}

static bool copy_way(fy_word dir, void *dst, const void *src, size_t bytes, fy_copy_work *w)
{
    *w = (fy_copy_work){.dst = dst, .src = src, .bytes = bytes, .dir = dir};
    return fy_backend_cuda.copy(&dev, w);
}

/* ---- opening ---- */

static void check_why(int cards, int driver, cudaError_t e, const char *expected)
{
    memset(&fake, 0, sizeof fake);
    fake.cards = cards, fake.driver = driver, fake.count_error = e;
    const char *why = opening();
    assert_non_null(why);
    assert_string_equal(why, expected);
    assert_null(dev.state);
    assert_int_equal(fake.last, cudaSuccess); /* the runtime is left without a grudge */
}

static void each_reason_for_having_no_card_has_its_own_words(void **state)
{
    (void)state;
    check_why(0, 0, cudaErrorInsufficientDriver, "no driver");
    check_why(0, 11000, cudaErrorInsufficientDriver, "driver too old");
    check_why(0, 13000, cudaErrorNoDevice, "no card");
    check_why(0, 13000, cudaSuccess, "no card");
    check_why(0, 13000, cudaErrorOperatingSystem, "no permission");
    check_why(0, 13000, cudaErrorLaunchFailure, "unspecified launch failure");
}

static void a_card_that_fails_while_opening_leaves_nothing_behind(void **state)
{
    (void)state;
    memset(&fake, 0, sizeof fake);
    fake.cards = 1;
    fail_next("EventRecord", cudaErrorLaunchFailure);
    assert_string_equal(opening(),
                        "CUDA error: unspecified launch failure (cudaErrorLaunchFailure, in cudaEventRecord)");
    assert_null(dev.state);
    assert_int_equal(fake.events, 0);
}

static void the_card_tells_its_name_and_capacity(void **state)
{
    (void)state;
    assert_string_equal(dev.card_name, "Fake Card 0");
    assert_int_equal(dev.capacity, 8 << 20);
}

/* ---- work ---- */

static void numbers_go_up_are_added_and_come_home(void **state)
{
    float a[3] = {1, 2, 3}, b[3] = {10, 20, 30}, home[3];
    fy_time t;
    fy_copy_work c;
    (void)state;
    float *x = fy_backend_cuda.alloc(&dev, 512, FY_WORD_device, &t), *y = fy_backend_cuda.alloc(&dev, 512, FY_WORD_device, &t),
          *z = fy_backend_cuda.alloc(&dev, 512, FY_WORD_device, &t);
    assert_true(isnan(z[0])); /* fresh memory is junk */
    assert_true(copy_way(FY_WORD_h2d, x, a, sizeof a, &c) && copy_way(FY_WORD_h2d, y, b, sizeof b, &c));
    fy_run_work w = add_work(x, y, z, 3);
    assert_true(fy_backend_cuda.run(&dev, &w));
    assert_string_equal(w.kernel, "add_f32");
    assert_true(copy_way(FY_WORD_d2h, home, z, sizeof home, &c));
    assert_true(home[0] == 11 && home[1] == 22 && home[2] == 33);
    assert_int_equal(c.route, FY_WORD_staged);
    assert_false(c.was_async);
    fy_backend_cuda.release(&dev, x, 512, FY_WORD_device, &t);
    fy_backend_cuda.release(&dev, y, 512, FY_WORD_device, &t);
    fy_backend_cuda.release(&dev, z, 512, FY_WORD_device, &t);
}

/* Three ways to ask: no page-locked side, one, and one with the wish not to wait. */
static void only_a_copy_of_pinned_memory_does_not_wait(void **state)
{
    fy_time t;
    fy_copy_work c = {.bytes = 4, .dir = FY_WORD_h2d, .async = true};
    char pageable[4] = "abc";
    (void)state;
    c.dst = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    char *pinned = fy_backend_cuda.alloc(&dev, 4, FY_WORD_pinned, &t);
    memcpy(pinned, pageable, 4);
    recording = false;
    c.src = pageable;
    assert_true(fy_backend_cuda.copy(&dev, &c));
    assert_true(!c.was_async && c.route == FY_WORD_staged);
    c.src = pinned, c.pinned = true;
    fake.calls[0] = 0;
    assert_true(fy_backend_cuda.copy(&dev, &c));
    assert_true(c.was_async && c.route == FY_WORD_direct);
    assert_string_equal(fake.calls, "SetDevice MemcpyHostToDevice");
    c.async = false;
    assert_true(fy_backend_cuda.copy(&dev, &c));
    assert_false(c.was_async);
    fail_next("HostAlloc", cudaErrorLaunchFailure);
    assert_null(fy_backend_cuda.alloc(&dev, 4, FY_WORD_pinned, &t));
    assert_non_null(strstr(dev.fault, "in cudaHostAlloc"));
    fy_backend_cuda.release(&dev, pinned, 4, FY_WORD_pinned, &t);
    fy_backend_cuda.release(&dev, c.dst, 4, FY_WORD_device, &t);
}

static void calls_come_in_the_order_that_times_need(void **state)
{
    char host[4] = "abc";
    fy_time t;
    fy_copy_work c;
    (void)state;
    char *p = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    copy_way(FY_WORD_h2d, p, host, 4, &c);
    assert_string_equal(fake.calls, "SetDevice Malloc MemsetAsync SetDevice EventRecord MemcpyHostToDevice EventRecord "
                                    "EventSynchronize EventElapsedTime EventElapsedTime");
    fake.calls[0] = 0;
    fy_run_work w = add_work((float *)p, (float *)p, (float *)p, 1);
    assert_true(fy_backend_cuda.run(&dev, &w));
    assert_string_equal(fake.calls, "SetDevice EventRecord Launch GetLastError EventRecord EventSynchronize "
                                    "EventElapsedTime EventElapsedTime");
    fake.calls[0] = 0;
    fy_backend_cuda.release(&dev, p, 4, FY_WORD_device, &t);
    assert_string_equal(fake.calls, "SetDevice MemsetAsync Free");
}

static void a_launch_is_waited_for_only_while_a_log_is_open(void **state)
{
    fy_time t;
    (void)state;
    float *p = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    fy_run_work w = add_work(p, p, p, 1);
    recording = false;
    fake.calls[0] = 0;
    assert_true(fy_backend_cuda.run(&dev, &w));
    assert_string_equal(fake.calls, "SetDevice Launch GetLastError");
    fy_backend_cuda.release(&dev, p, 4, FY_WORD_device, &t);
}

static void times_are_the_cards_and_never_in_the_future(void **state)
{
    char host[4] = "abc";
    fy_time t;
    fy_copy_work c;
    int64_t last = 0;
    (void)state;
    char *p = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    fy_clock_measure();
    for (int i = 0; i < 5; i++) { /* the fake's clock runs ahead of ours: each copy claims 1 ms */
        assert_true(copy_way(FY_WORD_h2d, p, host, 4, &c));
        assert_int_equal(c.time.end - c.time.start, 1000000);
        assert_int_equal(c.time.wire, 1000000);
        assert_true(c.time.end >= last && c.time.end <= fy_clock_now());
        last = c.time.end;
    }
    fy_backend_cuda.release(&dev, p, 4, FY_WORD_device, &t);
}

static void points_pass_and_waiting_asks_the_right_event(void **state)
{
    fy_time t;
    (void)state;
    fy_point point = {0};
    int64_t when;
    assert_true(fy_backend_cuda.record(&dev, 0, &point));
    fake.calls[0] = 0;
    assert_true(fy_backend_cuda.wait(&dev, &point, NULL, 0, &t));
    assert_true(fy_backend_cuda.wait(&dev, NULL, NULL, 0, &t));
    assert_true(fy_backend_cuda.done(&dev, &point, &when));
    assert_string_equal(
        fake.calls,
        "SetDevice EventSynchronize SetDevice DeviceSynchronize SetDevice EventQuery");
    fail_next("EventQuery", cudaErrorNotReady);
    assert_false(fy_backend_cuda.done(&dev, &point, &when));
}

/* ---- failures ---- */

static void a_full_card_is_null_and_forgotten(void **state)
{
    fy_time t;
    (void)state;
    assert_null(fy_backend_cuda.alloc(&dev, 9 << 20, FY_WORD_device, &t));
    assert_string_equal(dev.fault, ""); /* full, and nothing else is wrong */
    assert_int_equal(fake.last, cudaSuccess);
    void *p = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    assert_non_null(p);
    fy_backend_cuda.release(&dev, p, 4, FY_WORD_device, &t);
}

static void memory_that_cannot_be_filled_is_given_back(void **state)
{
    fy_time t;
    (void)state;
    fail_next("MemsetAsync", cudaErrorLaunchFailure);
    assert_null(fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t));
    assert_int_equal(fake.blocks, 0);
}

static void a_failed_launch_names_the_kernel(void **state)
{
    fy_time t;
    (void)state;
    float *p = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    fy_run_work w = add_work(p, p, p, 1);
    fail_next("Launch", cudaErrorLaunchFailure);
    assert_false(fy_backend_cuda.run(&dev, &w));
    assert_string_equal(dev.fault, "CUDA error: unspecified launch failure (cudaErrorLaunchFailure, in add_f32)");
    fail_next("EventSynchronize", cudaErrorLaunchFailure);
    assert_false(fy_backend_cuda.run(&dev, &w));
    assert_string_equal(dev.fault,
                        "CUDA error: unspecified launch failure (cudaErrorLaunchFailure, in cudaEventSynchronize)");
    assert_true(fy_backend_cuda.run(&dev, &w)); /* and the lock was let go each time */
    fy_backend_cuda.release(&dev, p, 4, FY_WORD_device, &t);
}

static void a_failed_copy_says_so(void **state)
{
    char host[4] = "abc";
    fy_time t;
    fy_copy_work c;
    (void)state;
    char *p = fy_backend_cuda.alloc(&dev, 4, FY_WORD_device, &t);
    fail_next("MemcpyDeviceToHost", cudaErrorLaunchFailure);
    assert_false(copy_way(FY_WORD_d2h, host, p, 4, &c));
    assert_non_null(strstr(dev.fault, "in cudaMemcpyAsync"));
    assert_string_equal(host, "abc");
    fy_backend_cuda.release(&dev, p, 4, FY_WORD_device, &t);
}

#define WITH_CARD(test) cmocka_unit_test_setup_teardown(test, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_reason_for_having_no_card_has_its_own_words),
        cmocka_unit_test(a_card_that_fails_while_opening_leaves_nothing_behind),
        WITH_CARD(the_card_tells_its_name_and_capacity),
        WITH_CARD(numbers_go_up_are_added_and_come_home),
        WITH_CARD(only_a_copy_of_pinned_memory_does_not_wait),
        WITH_CARD(calls_come_in_the_order_that_times_need),
        WITH_CARD(a_launch_is_waited_for_only_while_a_log_is_open),
        WITH_CARD(points_pass_and_waiting_asks_the_right_event),
        WITH_CARD(a_full_card_is_null_and_forgotten),
        WITH_CARD(memory_that_cannot_be_filled_is_given_back),
        WITH_CARD(a_failed_launch_names_the_kernel),
        WITH_CARD(a_failed_copy_says_so),
        WITH_CARD(times_are_the_cards_and_never_in_the_future),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
