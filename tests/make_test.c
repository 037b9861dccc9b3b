/* Factories: values, dtypes and layouts of results, and errors in PyTorch's words. */
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

/* Uninitialized memory is visible: NaN, -1, 255, true; on a card the fill bytes of new and of freed memory. */
TEST(empty_memory_is_alike_in_every_run_and_no_op)
{
    (void)state;
    for (int i = 0; i < 2; i++) FY_SCOPE
        {
            since();
            fy_tensor *x = fy_empty((2, 3), .device = devices[i]);
            assert_non_null(event_of("alloc", 0));
            assert_non_null(event_of("tensor", 0));
            assert_null(event_of("op", 0));
            assert_null(event_of("host_write", 0));
            assert_true(HAS_SHAPE(x, 2, 3) && HAS_STRIDES(x, 3, 1) && fy_is_cuda(x) == i);
            if (i == 0) assert_true(isnan(element(x, 5)));
            fy_fill_(x, 2);
            assert_true(HOLDS(x, 2, 2, 2, 2, 2, 2));
        }
    FY_SCOPE
    {
        assert_true(HOLDS(fy_empty((2), .dtype = FY_INT32), -1, -1));
        assert_true(HOLDS(fy_empty((2), .dtype = FY_UINT8), 255, 255));
        assert_true(HOLDS(fy_empty((2), .dtype = FY_BOOL), 1, 1));
        assert_true(fy_is_pinned(fy_empty((2), .pin_memory = true)));
        assert_true(HAS_SHAPE(fy_empty((0, 4)), 0, 4));
    }
    FAILS(fy_empty((2, -1)), "Trying to create tensor with negative dimension -1: [2, -1]");
    FAILS(fy_empty((2), .dtype = (fy_dtype)99), "dtype");
}

TEST(random_numbers_like_another_follow_its_memory)
{
    (void)state;
    for (int i = 0; i < 2; i++) FY_SCOPE
        {
            fy_tensor *x = fy_zeros((7, 2), .device = devices[i]);
            fy_manual_seed(5);
            fy_tensor *rows = fy_rand((7, 2), .device = devices[i]);
            fy_manual_seed(5);
            fy_tensor *turned = fy_rand_like(fy_t(x));
            assert_true(HAS_STRIDES(turned, 1, 2) && fy_is_cuda(turned) == i);
            for (int k = 0; k < 14; k++) assert_true(element(fy_t(turned), k) == element(rows, k));
            fy_manual_seed(5);
            fy_tensor *normal = fy_randn((7, 2), .device = devices[i]);
            fy_manual_seed(5);
            fy_tensor *like = fy_t(fy_randn_like(fy_t(x)));
            for (int k = 0; k < 14; k++) assert_true(element(like, k) == element(normal, k));
        }
    FY_SCOPE FAILS(fy_rand_like(fy_zeros((2), .dtype = FY_INT64)),
                   "\"check_uniform_bounds\" not implemented for 'Long'");
    FY_SCOPE FAILS(fy_full_like(fy_zeros((2), .dtype = FY_UINT8), 300),
                   "value cannot be converted to type uint8_t without overflow");
    FY_SCOPE FAILS(fy_full_like(fy_zeros((2)), fy_ones((1))), "the fill value must be a number, not a tensor");
}

TEST(classes_become_rows_and_invalid_ones_are_reported)
{
    (void)state;
    for (int i = 0; i < 2; i++) FY_SCOPE
        {
            fy_tensor *x = fy_tensor((1, 0, 2), .device = devices[i]);
            assert_true(HOLDS(fy_one_hot(x, 4), 0, 1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0));
            assert_true(HOLDS(fy_one_hot(fy_select(x, 0, 0), 2), 0, 1));
            assert_true(HAS_SHAPE(fy_one_hot(fy_narrow(x, 0, 0, 0), 5), 0, 5));
            FAILS(fy_one_hot(fy_narrow(x, 0, 0, 0)), "Can not infer total number of classes from empty tensor.");
            FAILS(fy_one_hot(fy_to(x, FY_INT32), 4), "one_hot is only applicable to index tensor. Got: Int");
            FAILS(fy_one_hot(fy_sub(x, 9)), "Class values must be non-negative.");
        }
    FY_SCOPE
    {
        FAILS(fy_one_hot(fy_tensor((1, 4)), 4), "Class values must be smaller than num_classes.");
        FAILS(fy_one_hot(fy_tensor((1, -1)), 4), "Class values must be non-negative.");
        FAILS(fy_one_hot(fy_tensor((1), .device = "cuda"), 0), "num_classes should be positive");
        FAILS(fy_one_hot(fy_full((1), INT64_MAX)), "Class values must be smaller than num_classes.");
        FAILS(fy_one_hot(fy_zeros((1, 1, 1, 1, 1, 1, 1, 1), .dtype = FY_INT64), 2), "would have 9 dimensions");
    }
}

TEST(triangles_reach_every_diagonal)
{
    (void)state;
    for (int i = 0; i < 2; i++) FY_SCOPE
        {
            fy_tensor *x = fy_add(fy_view(fy_arange((6), .device = devices[i]), (2, 3)), 1);
            assert_true(HOLDS(fy_tril(x), 1, 0, 0, 4, 5, 0));
            assert_true(HOLDS(fy_triu(x), 1, 2, 3, 0, 5, 6));
            assert_true(HOLDS(fy_tril(x, -1), 0, 0, 0, 4, 0, 0));
            assert_true(HOLDS(fy_triu(x, 2), 0, 0, 3, 0, 0, 0));
            assert_true(HOLDS(fy_triu(fy_t(x), -INT64_MAX), 1, 4, 2, 5, 3, 6));
            assert_true(HOLDS(fy_tril(fy_t(x), INT64_MAX), 1, 4, 2, 5, 3, 6));
            assert_true(HOLDS(fy_tril(x, INT64_MIN), 0, 0, 0, 0, 0, 0));
            assert_true(HAS_STRIDES(fy_tril(fy_t(x)), 2, 1));
            FAILS(fy_tril(fy_select(x, 0, 0)), "tril: input tensor must have at least 2 dimensions");
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
        assert_true(isinf(element(fy_tensor((1e40)), 0))); /* floats in a list overflow */
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
        cmocka_unit_test(empty_memory_is_alike_in_every_run_and_no_op),
        cmocka_unit_test(random_numbers_like_another_follow_its_memory),
        cmocka_unit_test(classes_become_rows_and_invalid_ones_are_reported),
        cmocka_unit_test(triangles_reach_every_diagonal),
        cmocka_unit_test(a_value_that_the_type_cannot_hold_is_refused),
        cmocka_unit_test(ranges_count_their_steps_as_pytorch_does),
    };
    int failed = cmocka_run_group_tests_name("make", tests, NULL, NULL);
    recorded_end();
    return failed;
}
