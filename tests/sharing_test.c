/* Ownership of memory: in-place ops, copies between devices, the program's own memory, page-locked memory, waiting,
 * generators; by PyTorch's rules (tests/rules.txt). Two cards are simulated. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)
#define FAILS(call, words) \
    do { \
        assert_null(call); \
        if (!fy_error() || !strstr(fy_error(), words)) fail_msg("expected '%s', got: %s", words, fy_error()); \
        fy_clear_error(); \
    } while (0)

static int clear(void **state)
{
    (void)state;
    fy_clear_error();
    return 0;
}

static double at(fy_tensor *x, int64_t i) { return fy_item(fy_select(x, 0, i)); }

/* ---- C4: copy_ ---- */

TEST(copy_converts_and_broadcasts_between_any_devices)
{
    static const char *const devices[] = {"cpu", "cuda:0", "cuda:1"};
    static const fy_dtype dtypes[] = {FY_FLOAT32, FY_INT64, FY_FLOAT16, FY_BFLOAT16,
                                      FY_FLOAT64, FY_INT32, FY_UINT8,   FY_BOOL};
    (void)state;
    for (int to = 0; to < 3; to++)
        for (int from = 0; from < 3; from++)
            for (int d = 0; d < 8; d++)
                for (int s = 0; s < 8; s++) FY_SCOPE
                    {
                        fy_tensor *dst = fy_zeros((2, 2), .device = devices[to], .dtype = dtypes[d]);
                        fy_tensor *src = fy_to(fy_to(fy_tensor((1.75, 2)), dtypes[s]), devices[from]);
                        bool whole = dtypes[d] == FY_INT64 || dtypes[d] == FY_INT32 || dtypes[d] == FY_UINT8;
                        double first = at(src, 0), second = at(src, 1);
                        assert_ptr_equal(fy_copy_(dst, src), dst);
                        fy_tensor *row = fy_select(dst, 0, 1);
                        assert_true(at(row, 0) == (dtypes[d] == FY_BOOL ? first != 0 : whole ? trunc(first) : first));
                        assert_true(at(row, 1) == (dtypes[d] == FY_BOOL ? second != 0 : second));
                        assert_string_equal(fy_device(dst), devices[to]);
                        assert_true(fy_dtype_of(dst) == dtypes[d]);
                    }
}

TEST(holes_cross_through_a_compact_tensor)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((8)), *g = fy_zeros((4), .device = "cuda", .dtype = FY_INT64);
        since();
        fy_copy_(g, fy_slice(x, 0, 0, FY_END, 2));
        assert_string_equal(text_of(event_of("op", 0), "name"), "clone");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 32);
        assert_true(at(g, 3) == 6);
        fy_copy_(fy_slice(x, 0, 1, FY_END, 2), g);
        assert_true(at(x, 7) == 6 && at(x, 6) == 6 && at(x, 5) == 4);
    }
}

TEST(card_to_card_brings_the_values)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_arange((4), .device = "cuda:0"), *b = fy_zeros((4), .device = "cuda:1", .dtype = FY_INT64);
        fy_copy_(b, a);
        assert_true(at(b, 3) == 3);
        assert_string_equal(fy_device(fy_cuda(b, 0)), "cuda:0");
    }
}

TEST(a_copy_onto_itself_copies_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((4)), *g = fy_cuda(x);
        since();
        assert_ptr_equal(fy_copy_(x, x), x);
        assert_ptr_equal(fy_copy_(g, g), g);
        assert_null(event_of("copy", 0));
        assert_null(event_of("op", 0));
    }
}

/* ---- C9: the program's own memory ---- */

TEST(a_blob_is_shared_both_ways)
{
    float mine[] = {1, 2, 3};
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_from_blob(mine, (3)), *copy = fy_to(x, FY_FLOAT64), *same = fy_to(x, FY_FLOAT32);
        mine[1] = 20;
        assert_true(at(x, 1) == 20 && at(same, 1) == 20 && at(copy, 1) == 2);
        fy_mul_(x, 2);
        assert_true((double)mine[2] == 6);
        assert_ptr_equal(fy_data(x), mine);
    }
}

TEST(negative_strides_are_refused)
{
    float mine[4] = {0};
    (void)state;
    FAILS(fy_from_blob(mine, (2), .strides = FY_STRIDES(-1)), "negative");
}

TEST(numpy_has_no_bfloat16)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2), .dtype = FY_BFLOAT16);
        assert_false(fy_save_npy("bfloat16.npy", x));
        assert_non_null(strstr(fy_error(), "BFloat16"));
    }
}

TEST(detach_shares)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *d = fy_detach(x);
        assert_true(fy_same_storage(x, d) && x != d);
        fy_add_(d, 1);
        assert_true(at(x, 0) == 2);
    }
}

TEST(a_view_keeps_the_whole_storage_unlike_a_clone)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1000)), *ten = fy_narrow(x, 0, 10, 10), *own = fy_clone(ten);
        since();
        fy_free(x);
        assert_null(event_of("free", 0));
        assert_true(fy_item(fy_sum(ten)) == 10);
        since();
        fy_free(ten);
        assert_in_range((uintmax_t)number_of(event_of("free", 0), "bytes"), 4000, 4095); /* all of x, rounded up */
        assert_true(fy_item(fy_sum(own)) == 10);
    }
}

/* ---- C10: page-locked memory ---- */

TEST(pinning_copies_once)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((4)), *p = fy_pin_memory(x);
        assert_false(fy_is_pinned(x) || fy_same_storage(x, p));
        assert_true(fy_is_pinned(p) && fy_is_pinned(fy_narrow(p, 0, 1, 2)) && at(p, 3) == 3);
        assert_ptr_equal(fy_pin_memory(p), p);
        assert_true(fy_is_pinned(fy_zeros((2), .pin_memory = true)));
    }
}

TEST(a_card_has_nothing_to_pin)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((2), .device = "cuda");
        assert_false(fy_is_pinned(g));
        FAILS(fy_pin_memory(g), "only dense CPU tensors can be pinned");
        assert_null(fy_zeros((2), .device = "cuda", .pin_memory = true));
        fy_clear_error();
    }
}

static const char *self; /* not /proc/self/exe, which is valgrind when run by it */

/* In another process: devices are opened once per process. */
static int no_card(void)
{
    fy_on_error(FY_RETURN);
    fy_tensor *x = fy_ones((2));
    if (fy_is_pinned(x) || fy_pin_memory(x) || !strstr(fy_error(), "Pinned memory requires CUDA.")) return 1;
    fy_clear_error();
    return fy_zeros((2), .pin_memory = true) || !strstr(fy_error(), "Pinned memory requires CUDA.");
}

TEST(without_a_card_nothing_is_pinned)
{
    int status = -1;
    (void)state;
    pid_t pid = fork();
    if (pid == 0) {
        unsetenv("FERRY_LOG_FD");
        setenv("FERRY_GPU", "none", 1);
        execl(self, "sharing_test", "no card", (char *)NULL);
        _exit(3);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

/* The host waits for copies from pageable memory, but not for non-blocking ones from pinned memory. */
TEST(only_pinned_copies_need_no_waiting)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1 << 20)), *p = fy_pin_memory(x);
        int64_t t0 = fy_now();
        fy_cuda(x);
        int64_t pageable = fy_now() - t0, t1 = fy_now();
        fy_to(x, "cuda", .non_blocking = true);
        int64_t still = fy_now() - t1, t2 = fy_now();
        fy_to(p, "cuda", .non_blocking = true);
        int64_t pinned = fy_now() - t2;
        assert_true(pinned * 4 < pageable && pinned * 4 < still); /* on the model's clock */
    }
}

/* ---- C15: what waits ---- */

TEST(item_waits_for_the_card_and_brings_one_element)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_sum(fy_ones((100), .device = "cuda"));
        since();
        assert_true(fy_item(g) == 100);
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 4);
        assert_non_null(event_of("sync", 0));
        assert_true(isnan(fy_item(fy_ones((2)))));
        assert_non_null(strstr(fy_error(), "a Tensor with 2 elements cannot be converted to Scalar"));
    }
}

TEST(an_operation_on_the_card_does_not_wait)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((100), .device = "cuda");
        since();
        fy_add(g, g);
        assert_null(event_of("sync", 0));
    }
}

/* ---- C16: generators ---- */

static bool are_equal(fy_tensor *a, fy_tensor *b) { return fy_item(fy_all(fy_eq(a, b))) == 1; }

TEST(one_seed_starts_every_generator_yet_each_device_draws_differently)
{
    (void)state;
    FY_SCOPE
    {
        fy_manual_seed(7);
        fy_tensor *c = fy_randn((8)), *g = fy_randn((8), .device = "cuda:0"), *h = fy_randn((8), .device = "cuda:1");
        fy_manual_seed(7);
        fy_tensor *g2 = fy_randn((8), .device = "cuda:0"), *h2 = fy_randn((8), .device = "cuda:1"), *c2 = fy_randn((8));
        assert_true(are_equal(c, c2) && are_equal(g, g2) && are_equal(h, h2));
        assert_true(fy_item(fy_any(fy_eq(c, fy_cpu(g)))) == 0);
        FAILS(fy_rand((2), .dtype = FY_INT64), "not implemented for 'Long'");
    }
}

int main(int argc, char **argv)
{
    self = argv[0];
    if (argc > 1) return no_card();
#define T(name) cmocka_unit_test_setup(name, clear)
    const struct CMUnitTest tests[] = {
        T(copy_converts_and_broadcasts_between_any_devices),
        T(holes_cross_through_a_compact_tensor),
        T(card_to_card_brings_the_values),
        T(a_copy_onto_itself_copies_nothing),
        T(a_blob_is_shared_both_ways),
        T(negative_strides_are_refused),
        T(numpy_has_no_bfloat16),
        T(detach_shares),
        T(a_view_keeps_the_whole_storage_unlike_a_clone),
        T(pinning_copies_once),
        T(a_card_has_nothing_to_pin),
        T(without_a_card_nothing_is_pinned),
        T(only_pinned_copies_need_no_waiting),
        T(item_waits_for_the_card_and_brings_one_element),
        T(an_operation_on_the_card_does_not_wait),
        T(one_seed_starts_every_generator_yet_each_device_draws_differently),
    };
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:gpus=2", 1);
    recorded_start();
    int failed = cmocka_run_group_tests_name("sharing", tests, NULL, NULL);
    recorded_end();
    return failed;
}
