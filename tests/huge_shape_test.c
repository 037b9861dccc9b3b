/* Sizes and ranges near the limits of int64 are exact or refused, and do not wrap around. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "ferry.h"

#define HUGE_SIZE (INT64_C(1) << 40)

static int returning(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
    return 0;
}

static void a_shape_with_0_holds_nothing_however_large_the_rest(void **state)
{
    (void)state;
    fy_tensor *x = fy_zeros((HUGE_SIZE, HUGE_SIZE, 0)), *y = fy_zeros((0, HUGE_SIZE, HUGE_SIZE), .device = "cuda");
    assert_non_null(x);
    assert_int_equal(fy_numel(x), 0);
    assert_int_equal(fy_numel(fy_add(x, 1)), 0);
    assert_int_equal(fy_numel(fy_cos(fy_zeros((2, 0, HUGE_SIZE, HUGE_SIZE)))), 0);
    assert_int_equal(fy_numel(y), 0);
    assert_int_equal(fy_numel(fy_relu(fy_t(fy_select(y, 1, 5)))), 0);
    assert_true(fy_stride(y, 0) > 0);
    assert_null(fy_error());
}

static void nothing_cannot_be_viewed_as_more_than_int64_counts(void **state)
{
    (void)state;
    fy_tensor *x = fy_zeros((0, 3));
    assert_null(fy_view(x, (HUGE_SIZE, HUGE_SIZE)));
    assert_non_null(fy_error());
    fy_clear_error();
    assert_null(fy_view(x, (INT64_C(1) << 32, INT64_C(1) << 32))); /* 2^64 wraps around to 0 */
    fy_clear_error();
    fy_tensor *y = fy_view(x, (HUGE_SIZE, HUGE_SIZE, 0));
    assert_int_equal(fy_numel(y), 0);
    assert_null(fy_error());
}

/* Sizes, strides and offsets that overflow are refused, or saturate. */
static void views_of_nothing_never_wrap_around(void **state)
{
    (void)state;
    fy_tensor *x = fy_zeros((0, INT64_MAX, 3)), *y = fy_zeros((0, INT64_MAX));
    assert_true(fy_storage_offset(fy_narrow(x, 1, INT64_MAX - 1, 1)) >= 0);
    assert_true(fy_storage_offset(fy_select(x, 1, INT64_MAX - 1)) >= 0);
    assert_true(fy_storage_offset(fy_slice(x, 1, INT64_MAX - 2, FY_END, INT64_MAX)) >= 0);
    assert_int_equal(fy_storage_offset(fy_narrow(fy_zeros((0, 5)), 1, 2, 1)), 2);
    assert_int_equal(fy_numel(fy_stack((y, y), 0)), 0);
    assert_int_equal(fy_numel(fy_stack((y, y), 1)), 0);
    assert_int_equal(fy_size(fy_flatten(x, 0, 1), 0), 0);
    assert_null(fy_error());
    assert_null(fy_flatten(x, 1, 2));
    fy_clear_error();
    assert_null(fy_view(y, FY_UINT8));
    assert_non_null(strstr(fy_error(), "too large to view Float as Byte"));
    fy_clear_error();
}

static void results_of_empty_tensors_are_right_with_huge_sizes(void **state)
{
    (void)state;
    fy_tensor *x = fy_reshape(fy_narrow(fy_ones((3)), 0, 0, 0), (INT64_MAX, 3, 0)); /* the storage is not empty */
    assert_true(fy_item(fy_sum(x)) == 0);
    assert_true(fy_item(fy_all(x)) == 1);
    assert_int_equal(fy_numel(fy_add(x, 1)), 0);
    assert_null(fy_error());
    assert_null(fy_matmul(x, fy_ones((2, 3))));
    fy_clear_error();
}

/* The stride of a dimension of size 1 is never used. */
static void a_size_of_1_may_have_any_stride(void **state)
{
    (void)state;
    float one = 1;
    fy_tensor *x = fy_from_blob(&one, (1, 1), .strides = FY_STRIDES(INT64_MAX, INT64_MAX));
    assert_true(fy_item(fy_add(x, x)) == 2);
    assert_true(fy_item(fy_sum(fy_matmul(x, fy_cpu(fy_to(x, "cuda"))), (0))) == 1);
    assert_true(fy_item(fy_sum(fy_stack((x, fy_narrow(fy_t(x), 0, -1, 1)), 2))) == 2);
    assert_int_equal(fy_numel(fy_exp(fy_narrow(x, 0, 1, 0))), 0);
    assert_null(fy_error());
}

static void whole_number_ranges_are_exact_beyond_2_to_the_53(void **state)
{
    (void)state;
    const int64_t big = INT64_C(1) << 53;
    fy_tensor *x = fy_arange((big, big + 3)), *one = fy_arange((INT64_MAX - 1, INT64_MAX));
    assert_int_equal(fy_numel(x), 3);
    assert_int_equal(((int64_t *)fy_data(x))[2], big + 2);
    assert_int_equal(fy_numel(fy_arange((big + 1, big, -1))), 1);
    assert_int_equal(fy_numel(one), 1);
    assert_int_equal(*(int64_t *)fy_data(one), INT64_MAX - 1);
    assert_int_equal(fy_numel(fy_arange((INT64_MIN, INT64_MAX, INT64_MAX))), 3);
    fy_tensor *wide = fy_cpu(fy_arange((INT64_MIN, INT64_MAX, INT64_MAX), .device = "cuda"));
    assert_int_equal(((int64_t *)fy_data(wide))[2], INT64_MAX - 1);
    assert_int_equal(fy_numel(fy_arange((0, 10, 3))), 4);
    assert_int_equal(fy_numel(fy_arange((10, 0, -3))), 4);
    assert_int_equal(fy_numel(fy_arange((5, 5))), 0);
    assert_null(fy_error());
    assert_null(fy_arange((INT64_MIN, INT64_MAX)));
    fy_clear_error();
    assert_null(fy_arange((3, 1)));
    fy_clear_error();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_shape_with_0_holds_nothing_however_large_the_rest),
        cmocka_unit_test(nothing_cannot_be_viewed_as_more_than_int64_counts),
        cmocka_unit_test(views_of_nothing_never_wrap_around),
        cmocka_unit_test(results_of_empty_tensors_are_right_with_huge_sizes),
        cmocka_unit_test(a_size_of_1_may_have_any_stride),
        cmocka_unit_test(whole_number_ranges_are_exact_beyond_2_to_the_53),
    };
    return cmocka_run_group_tests_name("huge_shape", tests, returning, NULL);
}
