/* fy_copy_, fy_fill_ and fy_zero_ for all devices, dtypes and layouts; and FERRY_POLICY=silent, which copies operands
 * implicitly. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <cmocka.h>

#include "forked.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

static fy_tensor *rows(int64_t n, int64_t m) { return fy_view(fy_arange((n * m)), (n, m)); }

/* ---- fy_copy_ ---- */

TEST(every_pair_of_devices_and_types_is_copied)
{
    (void)state;
    const char *devices[] = {"cpu", "cuda:0", "cuda:1"};
    for (int d = 0; d < 9; d++)
        for (fy_dtype from = FY_FLOAT32; from <= FY_BOOL; from++)
            for (fy_dtype to = FY_FLOAT32; to <= FY_BOOL; to++) FY_SCOPE
                {
                    double two = to == FY_BOOL || from == FY_BOOL ? 1 : 2;
                    fy_tensor *src = fy_tensor((0, 1, 2), .dtype = from, .device = devices[d % 3]);
                    fy_tensor *dst = fy_ones((3), .dtype = to, .device = devices[d / 3]);
                    assert_ptr_equal(fy_copy_(dst, src), dst);
                    assert_true(HOLDS(dst, 0, 1, two));
                    assert_string_equal(fy_device(dst), devices[d / 3]);
                    assert_int_equal(fy_dtype_of(dst), to);
                }
}

TEST(a_source_is_broadcast_and_cut_off)
{
    (void)state;
    const char *devices[] = {"cpu", "cuda:0"};
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_tensor *dst = fy_zeros((2, 3), .dtype = FY_INT64, .device = devices[i % 2]);
            fy_tensor *src = fy_tensor((1.9, -2.7, 3.5), .device = devices[i / 2]);
            assert_true(HOLDS(fy_copy_(dst, src), 1, -2, 3, 1, -2, 3));
            assert_true(HOLDS(fy_copy_(dst, fy_tensor((7), .device = devices[i / 2])), 7, 7, 7, 7, 7, 7));
        }
}

/* The copies and ops since then: "clone cpu, h2d 24 ...". */
static const char *copies_and_ops(void)
{
    static char text[400];
    const cJSON *e;
    text[0] = 0;
    recorded_read();
    cJSON_ArrayForEach(e, recorded_events)
    {
        bool copy = strcmp(event_kind_of(e), "copy") == 0;
        if (!copy && strcmp(event_kind_of(e), "op") != 0) continue;
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s%s %s", text[0] ? ", " : "",
                 text_of(e, copy ? "dir" : "name"), text_of(e, copy ? "dst.device" : "device"));
    }
    return text;
}

TEST(what_lies_otherwise_crosses_by_way_of_a_compact_temporary)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = rows(3, 4), *g = fy_zeros((3, 4), .dtype = FY_INT64, .device = "cuda:0");
        since();
        fy_copy_(g, x);
        assert_string_equal(kinds(), "copy complete"); /* only a copy, no allocation */
        since();
        fy_copy_(fy_t(g), fy_t(x)); /* same layout: one transfer */
        assert_string_equal(copies_and_ops(), "h2d cuda:0");
        since();
        fy_copy_(fy_narrow(g, 1, 0, 2), fy_narrow(x, 1, 2, 2));
        assert_string_equal(copies_and_ops(), "clone cpu, h2d cuda:0, clone cuda:0");
        assert_true(HOLDS(g, 2, 3, 2, 3, 6, 7, 6, 7, 10, 11, 10, 11));
        since();
        fy_copy_(fy_narrow(x, 0, 0, 2), fy_slice(g, 0, 0, FY_END, 2));
        assert_string_equal(copies_and_ops(), "clone cuda:0, d2h cpu");
        assert_true(HOLDS(x, 2, 3, 2, 3, 10, 11, 10, 11, 8, 9, 10, 11));
        fy_tensor *f = fy_zeros((4, 3));
        since();
        fy_copy_(fy_t(f), g);
        assert_string_equal(copies_and_ops(), "d2h cpu, cast cpu");
    }
}

/* Like PyTorch's copy_kernel_cuda. */
TEST(what_is_turned_round_is_laid_out_at_its_source)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = rows(4, 3), *g = fy_zeros((3, 4), .dtype = FY_INT64, .device = "cuda:0"), *f = fy_ones((3, 4));
        since();
        fy_copy_(g, fy_t(x)); /* no allocation on the card */
        assert_string_equal(copies_and_ops(), "clone cpu, h2d cuda:0");
        assert_string_equal(text_of(event_of("alloc", 0), "device"), "cpu");
        assert_null(event_of("alloc", 1));
        assert_true(HOLDS(g, 0, 3, 6, 9, 1, 4, 7, 10, 2, 5, 8, 11));
        since();
        fy_copy_(x, fy_t(g));
        assert_string_equal(copies_and_ops(), "clone cuda:0, d2h cpu");
        assert_true(HOLDS(x, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11));
        since();
        fy_copy_(fy_t(g), x); /* rows are copied without a temporary */
        assert_string_equal(copies_and_ops(), "h2d cuda:0, clone cuda:0");
        since();
        fy_copy_(g, f); /* another dtype: converted on the CPU, or on the card if non-blocking */
        assert_string_equal(copies_and_ops(), "cast cpu, h2d cuda:0");
        since();
        fy_copy_(g, f, .non_blocking = true);
        assert_string_equal(copies_and_ops(), "h2d cuda:0, cast cuda:0");
        since();
        fy_copy_(f, g);
        assert_string_equal(copies_and_ops(), "d2h cpu, cast cpu");
        since();
        fy_copy_(f, g, .non_blocking = true);
        assert_string_equal(copies_and_ops(), "cast cuda:0, d2h cpu");
        assert_true(HOLDS(g, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1) && fy_item(fy_sum(f)) == 12);
    }
}

TEST(a_copy_onto_itself_does_nothing_and_an_overlap_fails)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = rows(3, 3);
        since();
        assert_ptr_equal(fy_copy_(x, x), x);
        fy_copy_(x, fy_view(x, (3, 3)));
        assert_null(event_of("op", 0));
        assert_null(fy_copy_(x, fy_t(x)));
        assert_true(
            failed_with("some elements of the input tensor and the written-to tensor refer to a single memory"));
        assert_true(HOLDS(x, 0, 1, 2, 3, 4, 5, 6, 7, 8));
        fy_tensor *y = fy_arange((8));
        fy_copy_(fy_slice(y, 0, 0, FY_END, 2), fy_slice(y, 0, 1, FY_END, 2)); /* adjacent, not overlapping */
        assert_true(HOLDS(y, 1, 1, 3, 3, 5, 5, 7, 7));
    }
}

TEST(a_failed_copy_changes_nothing)
{
    (void)state;
    const char *devices[] = {"cpu", "cuda:0"};
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            fy_tensor *dst = fy_ones((3), .device = devices[i % 2]);
            fy_tensor *two = fy_zeros((2), .device = devices[i / 2]),
                      *wide = fy_zeros((2, 3), .device = devices[i / 2]);
            fy_tensor *spread = fy_expand(fy_ones((1), .device = devices[i % 2]), (2));
            since();
            assert_null(fy_copy_(dst, two));
            assert_true(failed_with("The size of tensor a (3) must match the size of tensor b (2) at non-singleton"));
            assert_null(fy_copy_(dst, wide));
            assert_true(failed_with("output with shape [3] doesn't match the broadcast shape [2, 3]"));
            assert_null(fy_copy_(spread, two));
            assert_true(
                failed_with("more than one element of the written-to tensor refers to a single memory location"));
            assert_string_equal(kinds(), "error error error");
            assert_true(HOLDS(dst, 1, 1, 1));
        }
}

TEST(a_card_too_full_for_the_temporary_stays_unchanged)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *big = fy_zeros((4, 1 << 20), .device = "cuda:0"); /* 16 of 32 MiB */
        fy_tensor *x = fy_ones((1 << 20, 4)), *turned = fy_t(big);
        fy_zeros((3, 1 << 20), .device = "cuda:0");
        since();
        assert_null(fy_copy_(turned, x));
        assert_true(failed_with("CUDA out of memory"));
        assert_string_equal(kinds(), "segment_free oom error"); /* cached memory was freed first */
    }
}

/* ---- fy_fill_ ---- */

TEST(fill_reaches_every_element_of_any_layout_and_no_other)
{
    (void)state;
    const char *devices[] = {"cpu", "cuda:0"};
    for (int i = 0; i < 2; i++)
        for (fy_dtype d = FY_FLOAT32; d <= FY_BOOL; d++) FY_SCOPE
            {
                fy_tensor *x = fy_zeros((2, 4), .dtype = d, .device = devices[i]);
                fy_tensor *part = fy_slice(x, 1, 1, FY_END, 2);
                assert_ptr_equal(fy_fill_(part, 1), part);
                assert_true(HOLDS(x, 0, 1, 0, 1, 0, 1, 0, 1));
                fy_fill_(fy_t(x), 1.0);
                assert_true(HOLDS(x, 1, 1, 1, 1, 1, 1, 1, 1));
                assert_true(HOLDS(fy_zero_(fy_expand(fy_narrow(x, 1, 0, 1), (2, 3))), 0, 0, 0, 0, 0, 0));
                assert_true(HOLDS(x, 0, 1, 1, 1, 0, 1, 1, 1));
            }
}

TEST(fill_takes_what_the_type_can_hold)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *n = fy_zeros((1), .dtype = FY_INT64), *u = fy_zeros((1), .dtype = FY_UINT8);
        assert_true(HOLDS(fy_fill_(n, -2.7), -2));
        assert_true(HOLDS(fy_fill_(u, -1), 255));
        assert_true(HOLDS(fy_fill_(u, fy_full((), 7)), 7));
        assert_true(HOLDS(fy_fill_(u, fy_full((), 8, .device = "cuda")), 8));
        assert_true(HOLDS(fy_fill_(fy_zeros((1), .dtype = FY_BOOL), 0.5), 1));
        assert_null(fy_fill_(u, 256));
        assert_true(failed_with("value cannot be converted to type uint8_t without overflow"));
        assert_null(fy_fill_(n, 0.0 / 0.0));
        assert_true(failed_with("value cannot be converted to type int64_t without overflow"));
        assert_null(fy_fill_(n, fy_ones((1))));
        assert_true(failed_with("fill_ only supports 0-dimension value tensor but got tensor with 1 dimensions."));
        assert_true(HOLDS(u, 8));
    }
}

/* ---- FERRY_POLICY=silent ---- */

TEST(a_silent_policy_copies_operands_and_flags_each_copy)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2, 2)), *g = fy_ones((2, 2), .device = "cuda");
        since();
        fy_tensor *c = fy_add(a, g);
        assert_string_equal(fy_device(c), "cuda:0");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "policy");
        assert_int_equal(number_of(event_of("copy", 0), "line"), __LINE__ - 3);
        assert_null(event_of("copy", 1));
        assert_true(HOLDS(c, 2, 2, 2, 2));
        since();
        assert_string_equal(fy_device(fy_matmul(a, g)), "cuda:0");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "policy");
        since();
        assert_ptr_equal(fy_add_(a, g), a); /* where it is written */
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "d2h");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "policy");
        assert_true(HOLDS(a, 2, 2, 2, 2));
        since();
        fy_add(fy_full((), 1.0), g); /* numbers are kernel arguments, not copies */
        fy_to(a, "cuda");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "user");
        since();
        fy_free(a); /* it still has one reference */
        assert_string_equal(kinds(), "drop free");
    }
}

static int in_child(void (*body)(void), const char *policy)
{
    run_forked(body, ENVIRONMENT("FERRY_POLICY", policy, "FERRY_LOG_FD", NULL), false);
    return WEXITSTATUS(last_child.status);
}

static void start(void) { fy_cuda_device_count(); }
static void mix(void) { fy_add(fy_ones((2)), fy_ones((2), .device = "cuda")); }

/* Before this process opens its devices. */
static void check_policies(void)
{
    if (in_child(start, "loud") != 1 || in_child(start, "refuse") != 0 || in_child(mix, "refuse") != 1 ||
        in_child(mix, "silent") != 0)
        printf("FERRY_POLICY is misread\n"), exit(1);
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:capacity=32MiB,gpus=2", 1);
    check_policies();
    setenv("FERRY_POLICY", "silent", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_pair_of_devices_and_types_is_copied),
        cmocka_unit_test(a_source_is_broadcast_and_cut_off),
        cmocka_unit_test(what_lies_otherwise_crosses_by_way_of_a_compact_temporary),
        cmocka_unit_test(what_is_turned_round_is_laid_out_at_its_source),
        cmocka_unit_test(a_copy_onto_itself_does_nothing_and_an_overlap_fails),
        cmocka_unit_test(a_failed_copy_changes_nothing),
        cmocka_unit_test(a_card_too_full_for_the_temporary_stays_unchanged),
        cmocka_unit_test(fill_reaches_every_element_of_any_layout_and_no_other),
        cmocka_unit_test(fill_takes_what_the_type_can_hold),
        cmocka_unit_test(a_silent_policy_copies_operands_and_flags_each_copy),
    };
    int failed = cmocka_run_group_tests_name("copy", tests, NULL, NULL);
    recorded_end();
    return failed;
}
