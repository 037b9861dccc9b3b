/* cat and stack: results, events for every byte written, and errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "device.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

/* The call fails with these words, records only the error, and allocates nothing. */
#define FAILS(call, words) \
    do { \
        int64_t host = fy_dev_at(0)->live_bytes, card = fy_dev_at(1)->live_bytes; \
        since(); \
        assert_null(call); \
        assert_true(failed_with(words)); \
        assert_string_equal(kinds(), "error"); \
        assert_int_equal(fy_dev_at(0)->live_bytes, host); \
        assert_int_equal(fy_dev_at(1)->live_bytes, card); \
    } while (0)

TEST(tensors_are_joined_one_behind_the_other)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_view(fy_arange((4)), (2, 2)), *b = fy_full((2, 1), 9), *t = fy_t(a);
        fy_tensor *rows = fy_cat((a, t, a), 0), *columns = fy_cat((a, b, t), -1);
        assert_true(HAS_SHAPE(rows, 6, 2));
        assert_true(HOLDS(rows, 0, 1, 2, 3, 0, 2, 1, 3, 0, 1, 2, 3));
        assert_true(HAS_SHAPE(columns, 2, 5));
        assert_true(HAS_STRIDES(columns, 5, 1));
        assert_true(HOLDS(columns, 0, 1, 9, 0, 2, 2, 3, 9, 1, 3));
        assert_true(HOLDS(fy_cat((fy_expand(b, (2, 3))), 0), 9, 9, 9, 9, 9, 9));
        assert_true(HOLDS(fy_cat((fy_cuda(a), fy_cuda(b), fy_cuda(t)), 1), 0, 1, 9, 0, 2, 2, 3, 9, 1, 3));
    }
}

TEST(a_stack_has_a_new_dimension)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_tensor((1, 2)), *b = fy_tensor((3, 4));
        fy_tensor *outer = fy_stack((a, b, a), 0), *inner = fy_stack((a, b), -1);
        assert_true(HAS_SHAPE(outer, 3, 2));
        assert_true(HOLDS(outer, 1, 2, 3, 4, 1, 2));
        assert_true(HAS_SHAPE(inner, 2, 2));
        assert_true(HAS_STRIDES(inner, 2, 1));
        assert_true(HOLDS(inner, 1, 3, 2, 4));
        assert_true(HOLDS(fy_stack((fy_full((), 5), fy_full((), 2.5)), 0), 5, 2.5));
        assert_null(fy_stack((fy_cuda(inner), fy_cuda(outer)), 0));
        assert_true(failed_with("stack expects each tensor to be equal size, but got [2, 2] at entry 0 and [3, 2] at "
                                "entry 1"));
        assert_true(HAS_SHAPE(fy_stack((fy_zeros((0)), fy_zeros((0))), 0), 2, 0));
    }
}

TEST(every_part_that_is_written_shows_in_the_log)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2)), *b = fy_ones((3), .dtype = FY_INT64);
        since();
        fy_tensor *c = fy_cat((a, b), 0);
        assert_string_equal(kinds(), "alloc tensor op complete op complete");
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "c");
        assert_string_equal(text_of(event_of("op", 0), "name"), "clone");
        assert_string_equal(text_of(event_of("op", 1), "name"), "cast");
        double made = number_of(event_of("tensor", 0), "tensor");
        assert_true(number_of(event_of("op", 0), "out.0.tensor") == made);
        assert_true(number_of(event_of("op", 1), "out.0.tensor") == made);
        assert_int_equal(number_of(event_of("op", 1), "out.0.version"), 2);
        assert_int_equal(number_of(event_of("op", 0), "bytes"), 16);
        assert_int_equal(number_of(event_of("op", 1), "bytes"), 3 * (8 + 4));
        assert_true(HOLDS(c, 1, 1, 1, 1, 1));
        since();
        fy_cat((fy_cuda(a), fy_cuda(b)), 0);
        assert_true(strlen(text_of(event_of("op", 0), "kernel")) > 0);
        assert_true(number_of(event_of("op", 1), "grid.0") > 0);
    }
}

TEST(the_types_meet_as_in_an_addition)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *h = fy_full((1), 0.5, .dtype = FY_FLOAT16), *b = fy_full((1), 0.25, .dtype = FY_BFLOAT16),
                  *u = fy_full((1), 200, .dtype = FY_UINT8), *t = fy_ones((1), .dtype = FY_BOOL);
        fy_tensor *x = fy_cat((h, b, u), 0);
        assert_int_equal(fy_dtype_of(x), FY_FLOAT32);
        assert_true(HOLDS(x, 0.5, 0.25, 200));
        assert_int_equal(fy_dtype_of(fy_cat((u, t), 0)), FY_UINT8);
        assert_int_equal(fy_dtype_of(fy_stack((u, h), 0)), FY_FLOAT16);
        assert_int_equal(fy_dtype_of(fy_stack((fy_full((), 1), fy_full((), 1.0)), 0)), FY_FLOAT32);
        fy_tensor *none = fy_zeros((0), .dtype = FY_FLOAT64); /* empty, but its dtype counts */
        assert_int_equal(fy_dtype_of(fy_cat((u, none), 0)), FY_FLOAT64);
    }
}

TEST(an_empty_row_joins_with_anything)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *none = fy_zeros((0)), *m = fy_ones((2, 2)), *flat = fy_ones((0, 2));
        assert_true(HAS_SHAPE(fy_cat((none, m, none), 1), 2, 2));
        assert_true(HAS_SHAPE(fy_cat((m, flat), 0), 2, 2));
        assert_true(HAS_SHAPE(fy_cat((none, none), 0), 0));
        FAILS(fy_cat((m, flat), 1), "Sizes of tensors must match except in dimension 1. Expected size 2 but got size 0 "
                                    "for tensor number 1 in the list.");
    }
}

/* channels_last tensors keep PyTorch's memory format. */
TEST(channels_last_stay_last)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_permute(fy_view(fy_arange((24)), (1, 2, 4, 3)), (0, 3, 1, 2)), *rows = fy_contiguous(x);
        assert_true(HAS_STRIDES(fy_cat((x, x), 0), 24, 1, 12, 3));
        assert_true(HAS_STRIDES(fy_cat((x, x), 1), 48, 1, 24, 6));
        assert_true(HAS_STRIDES(fy_cat((x, rows), 0), 24, 8, 4, 1));
        assert_true(HAS_STRIDES(fy_stack((x, x), 0), 24, 3, 1, 12, 3));
        fy_tensor *both = fy_stack((x, x), 1);
        assert_true(HAS_STRIDES(both, 6, 3, 1, 24, 6));
        for (int64_t i = 0; i < 48; i++) assert_true(element(both, i) == element(x, i % 24));
    }
}

TEST(what_does_not_fit_is_refused_before_anything_is_made)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2, 3)), *b = fy_ones((2, 4)), *g = fy_ones((2, 3), .device = "cuda"), *dead = NULL,
                  *row = fy_ones((3)), *zero = fy_ones(()), *most = fy_ones((1, 1, 1, 1, 1, 1, 1, 1)),
                  *huge = fy_expand(fy_ones((1)), ((int64_t)1 << 60)),
                  *wide = fy_expand(fy_ones((1), .device = "cuda"), ((int64_t)1 << 28));
        FAILS(fy_cat((a, b), 0),
              "Sizes of tensors must match except in dimension 0. Expected size 3 but got size 4 for "
              "tensor number 1 in the list.");
        FAILS(fy_cat((a, row), 0), "Tensors must have same number of dimensions: got 2 and 1");
        FAILS(fy_cat((a, zero), 0), "zero-dimensional tensor (at position 1) cannot be concatenated");
        FAILS(fy_cat((a, a), 2), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
        FAILS(fy_stack((a, a), -4), "Dimension out of range (expected to be in range of [-3, 2], but got -4)");
        FAILS(fy_cat((a, g), 0), "found at least two devices, cpu and cuda:0!");
        FAILS(fy_stack((g, zero), 0), "found at least two devices, cuda:0 and cpu!");
        FAILS(fy_cat_at(FY_AT("fy_cat", "(), 0"), 0, NULL, 0), "torch.cat(): expected a non-empty list of Tensors");
        FAILS(fy_stack_at(FY_AT("fy_stack", "(), 0"), 0, NULL, 0), "stack expects a non-empty TensorList");
        FAILS(fy_stack((most, most), 0), "a tensor has at most 8 dimensions");
        FAILS(fy_cat((huge, huge, huge, huge), 0), "Storage size calculation overflowed");
        since();
        assert_null(fy_cat((wide, wide), 0));
        assert_true(failed_with("CUDA out of memory."));
        assert_string_equal(kinds(), "oom error");
        since();
        assert_null(fy_cat((a, dead), 0)); /* NULL of an earlier failure passes through */
        assert_string_equal(kinds(), "");
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tensors_are_joined_one_behind_the_other),
        cmocka_unit_test(a_stack_has_a_new_dimension),
        cmocka_unit_test(every_part_that_is_written_shows_in_the_log),
        cmocka_unit_test(the_types_meet_as_in_an_addition),
        cmocka_unit_test(an_empty_row_joins_with_anything),
        cmocka_unit_test(channels_last_stay_last),
        cmocka_unit_test(what_does_not_fit_is_refused_before_anything_is_made),
    };
    int failed = cmocka_run_group_tests_name("join", tests, NULL, NULL);
    recorded_end();
    return failed;
}
