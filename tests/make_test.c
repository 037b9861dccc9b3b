/* Factories: values, types and layouts of what they make, and what they refuse, in PyTorch's words. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)
#define FAILS(call, words) (assert_null(call), assert_true(failed_with(words)))

static const char *const devices[] = {"cpu", "cuda"};

TEST(every_factory_makes_every_type_on_both_devices)
{
    (void)state;
    for (int i = 0; i < 2; i++)
        for (fy_dtype d = FY_FLOAT32; d <= FY_BOOL; d++) FY_SCOPE
            {
                const char *on = devices[i];
                bool mask = d == FY_BOOL;
                assert_true(HOLDS(fy_zeros((2), .dtype = d, .device = on), 0, 0));
                assert_true(HOLDS(fy_ones((2), .dtype = d, .device = on), 1, 1));
                assert_true(HOLDS(fy_full((2), 3, .dtype = d, .device = on), mask ? 1 : 3, mask ? 1 : 3));
                assert_true(HOLDS(fy_tensor((0, 1, 5), .dtype = d, .device = on), 0, 1, mask ? 1 : 5));
                assert_true(HOLDS(fy_eye((2, 3), .dtype = d, .device = on), 1, 0, 0, 0, 1, 0));
                if (mask) continue;
                assert_true(HOLDS(fy_arange((1, 8, 3), .dtype = d, .device = on), 1, 4, 7));
                assert_true(HOLDS(fy_linspace((0, 8, 5), .dtype = d, .device = on), 0, 2, 4, 6, 8));
            }
}

TEST(what_is_like_another_has_its_dense_layout)
{
    (void)state;
    for (int i = 0; i < 2; i++) FY_SCOPE
        {
            fy_tensor *x = fy_zeros((3, 4), .dtype = FY_INT32, .device = devices[i]);
            fy_tensor *ones = fy_ones_like(fy_t(x));
            assert_true(HAS_STRIDES(ones, 1, 4) && HAS_SHAPE(ones, 4, 3));
            assert_int_equal(fy_dtype_of(ones), FY_INT32);
            assert_true(fy_item(fy_sum(ones)) == 12 && fy_is_cuda(ones) == i);
            assert_true(HAS_STRIDES(fy_zeros_like(fy_slice(x, 1, 0, FY_END, 2)), 2, 1));
            assert_true(HAS_STRIDES(fy_zeros_like(fy_expand(fy_narrow(x, 1, 0, 1), (3, 4))), 4, 1));
            fy_tensor *cube = fy_zeros((2, 3, 4), .device = devices[i]);
            assert_true(HAS_STRIDES(fy_empty_like(fy_slice(fy_permute(cube, (2, 0, 1)), 0, 0, FY_END, 2)), 1, 6, 2));
        }
}

TEST(a_value_that_the_type_cannot_hold_is_refused)
{
    (void)state;
    FAILS(fy_full((2), 256, .dtype = FY_UINT8), "value cannot be converted to type uint8_t without overflow");
    FAILS(fy_full((2), -256, .dtype = FY_UINT8), "value cannot be converted to type uint8_t without overflow");
    FAILS(fy_full((2), -1.5, .dtype = FY_UINT8), "value cannot be converted to type uint8_t without overflow");
    FAILS(fy_full((2), NAN, .dtype = FY_INT32), "value cannot be converted to type int without overflow");
    FAILS(fy_full((2), 1e30, .dtype = FY_INT64), "value cannot be converted to type int64_t without overflow");
    FAILS(fy_full((2), 65505.0, .dtype = FY_FLOAT16), "value cannot be converted to type at::Half without overflow");
    FAILS(fy_full((2), 1e40), "value cannot be converted to type float without overflow");
    FAILS(fy_tensor((256), .dtype = FY_UINT8), "value cannot be converted to type uint8 without overflow");
    FAILS(fy_tensor((1.0, NAN), .dtype = FY_INT64), "value cannot be converted to type int64 without overflow");
    FAILS(fy_linspace((0, 300, 4), .dtype = FY_UINT8), "value cannot be converted to type uint8_t without overflow");
    FY_SCOPE
    {
        assert_true(HOLDS(fy_full((1), -1, .dtype = FY_UINT8), 255)); /* wraps, as in PyTorch */
        assert_true(HOLDS(fy_full((1), 255.0, .dtype = FY_UINT8), 255));
        assert_true(HOLDS(fy_full((1), NAN, .dtype = FY_BOOL), 1));
        assert_true(isinf(element(fy_full((1), INFINITY, .dtype = FY_FLOAT16), 0)));
        assert_true(isinf(element(fy_tensor((1e40)), 0))); /* a list's floats overflow */
        assert_true(HOLDS(fy_tensor((2.7, -2.7), .dtype = FY_INT64), 2, -2));
    }
}

TEST(ranges_count_their_steps_as_pytorch_does)
{
    (void)state;
    FY_SCOPE
    {
        assert_true(HOLDS(fy_arange((0.5, 5), .dtype = FY_INT64), 0, 1, 2, 3, 4));
        assert_true(HOLDS(fy_arange((-1, 3), .dtype = FY_UINT8), 255, 0, 1, 2));
        assert_true(HOLDS(fy_arange((5, 0, -2)), 5, 3, 1));
        assert_true(HOLDS(fy_linspace((0, 10, 4), .dtype = FY_INT64), 0, 3, 6, 10));
        assert_true(HOLDS(fy_linspace((3, 1, 1)), 3));
        assert_int_equal(fy_numel(fy_linspace((3, 1, 0))), 0);
        assert_true(HAS_STRIDES(fy_eye((0)), 1, 1));
    }
    FAILS(fy_arange((0, 2.5, 0.5), .dtype = FY_INT64), "step must be nonzero");
    FAILS(fy_arange((5, 0)), "upper bound and larger bound inconsistent with step sign");
    FAILS(fy_arange((0, INFINITY)), "unsupported range: 0 -> inf");
    FAILS(fy_arange((3), .dtype = FY_BOOL), "\"arange_cpu\" not implemented for 'Bool'");
    FAILS(fy_arange((3), .dtype = FY_BOOL, .device = "cuda"), "\"arange_cuda\" not implemented for 'Bool'");
    FAILS(fy_linspace((0, 1, -1)), "number of steps must be non-negative");
    FAILS(fy_linspace((0, 1, 2.5)), "steps must be a whole number");
    FAILS(fy_eye((-1)), "n must be greater or equal to 0, got -1");
    FAILS(fy_eye((2, -1)), "m must be greater or equal to 0, got -1");
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_factory_makes_every_type_on_both_devices),
        cmocka_unit_test(what_is_like_another_has_its_dense_layout),
        cmocka_unit_test(a_value_that_the_type_cannot_hold_is_refused),
        cmocka_unit_test(ranges_count_their_steps_as_pytorch_does),
    };
    int failed = cmocka_run_group_tests_name("make", tests, NULL, NULL);
    recorded_end();
    return failed;
}
