/* Views: shapes, strides and offsets as in PyTorch, its messages where no view exists, and no needless copies. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

/* ---- shapes ---- */

TEST(reshape_is_a_view_where_one_fits_else_a_copy)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((6)), (2, 3)), *t = fy_t(m);
        since();
        fy_tensor *v = fy_reshape(m, (3, -1));
        assert_string_equal(kinds(), "tensor");
        assert_true(fy_same_storage(v, m));
        assert_true(HAS_SHAPE(v, 3, 2));
        since();
        fy_tensor *c = fy_reshape(t, (6));
        assert_string_equal(kinds(), "alloc tensor op complete tensor drop");
        assert_string_equal(text_of(event_of("op", 0), "name"), "clone");
        assert_string_equal(text_of(event_of("tensor", 1), "name"), "c");
        assert_false(fy_same_storage(c, m));
        assert_true(HOLDS(c, 0, 3, 1, 4, 2, 5));
        assert_true(HOLDS(fy_reshape(t, (2, -1)), 0, 3, 1, 4, 2, 5));
        assert_true(HAS_STRIDES(fy_reshape(t, (3, 1, 2)), 1, 6, 3)); /* a view, like view's */
        assert_true(HAS_STRIDES(fy_reshape(t, (1, 6)), 6, 1));
    }
}

TEST(flatten_folds_dimensions)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((24)), (2, 3, 4));
        assert_true(HAS_SHAPE(fy_flatten(x), 24));
        assert_true(HAS_SHAPE(fy_flatten(x, 1), 2, 12));
        assert_true(HAS_SHAPE(fy_flatten(x, 0, -2), 6, 4));
        assert_true(fy_same_storage(fy_flatten(x, 0, 1), x));
        assert_ptr_equal(fy_flatten(x, 1, 1), x);
        assert_true(HAS_SHAPE(fy_flatten(fy_zeros(())), 1));
        assert_true(HOLDS(fy_flatten(fy_narrow(x, 2, 0, 1)), 0, 4, 8, 12, 16, 20));
        FAILS_ALONE(fy_flatten(x, 2, 1), "flatten() has invalid args: start_dim cannot come after end_dim");
    }
}

TEST(dimensions_are_reordered_added_and_removed)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((6)), (1, 2, 3));
        fy_tensor *p = fy_permute(x, (2, 0, -2));
        assert_true(HAS_SHAPE(p, 3, 1, 2));
        assert_true(HAS_STRIDES(p, 1, 6, 3));
        assert_true(HOLDS(p, 0, 3, 1, 4, 2, 5));
        assert_true(HAS_SHAPE(fy_squeeze(x), 2, 3));
        assert_true(HAS_SHAPE(fy_squeeze(x, 1), 1, 2, 3));
        assert_true(HAS_SHAPE(fy_squeeze(x, -3), 2, 3));
        assert_true(HAS_STRIDES(fy_unsqueeze(p, 1), 1, 6, 6, 3));
        assert_true(HAS_STRIDES(fy_unsqueeze(p, -1), 1, 6, 3, 1));
        assert_true(HAS_SHAPE(fy_unsqueeze(fy_zeros(()), 0), 1));
        assert_int_equal(fy_dim(fy_squeeze(fy_zeros((1, 1)))), 0);
        fy_tensor *d = fy_detach(x);
        assert_ptr_not_equal(d, x);
        assert_true(fy_same_storage(d, x));
    }
}

TEST(expanding_repeats_without_a_copy)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((3)), (3, 1));
        since();
        fy_tensor *e = fy_expand(x, (2, -1, 2));
        assert_string_equal(kinds(), "tensor");
        assert_true(HAS_SHAPE(e, 2, 3, 2));
        assert_true(HAS_STRIDES(e, 0, 1, 0));
        assert_true(HOLDS(e, 0, 0, 1, 1, 2, 2, 0, 0, 1, 1, 2, 2));
        assert_true(HAS_STRIDES(fy_expand(x, (1, 3, 1)), 3, 1, 1));
        assert_true(HAS_STRIDES(fy_expand(fy_ones(()), (2, 1)), 0, 0));
        assert_true(HAS_STRIDES(fy_clone(e), 6, 2, 1)); /* full size, with its own storage */
        FAILS_ALONE(fy_add_(e, 1), "more than one element of the written-to tensor refers to a single memory location");
    }
}

/* ---- parts ---- */

TEST(slices_are_cut_to_the_size)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((8)), (2, 4)), *zero = fy_zeros(());
        fy_tensor *s = fy_slice(x, 1, 1, FY_END, 2);
        assert_true(HAS_STRIDES(s, 4, 2));
        assert_int_equal(fy_storage_offset(s), 1);
        assert_true(HOLDS(s, 1, 3, 5, 7));
        assert_true(HOLDS(fy_slice(x, -1, -2, 99, 1), 2, 3, 6, 7));
        assert_true(HOLDS(fy_slice(x, 1, -99, -3, 1), 0, 4));
        assert_true(HAS_SHAPE(fy_slice(x, 0, 1, 0, 1), 0, 4));
        assert_int_equal(fy_storage_offset(fy_slice(x, 0, 5, 9, 1)), 8);
        assert_true(HAS_SHAPE(fy_slice(x, 1, 0, FY_END, INT64_MAX), 2, 1));
        assert_int_equal(fy_storage_offset(fy_slice(s, 0, 1, 2, 1)), 5);
        assert_int_equal(fy_storage_offset(NULL), 0);
        FAILS_ALONE(fy_slice(x, 0, 0, 2, -1), "step must be greater than zero");
        FAILS_ALONE(fy_slice(x, 0, 0, 2, 0), "slice step must be positive");
        FAILS_ALONE(fy_slice(zero, 0, 0, 1, 1), "slice() cannot be applied to a 0-dim tensor.");
        FAILS_ALONE(fy_narrow(x, 1, 2, 3), "start (2) + length (3) exceeds dimension size (4).");
        FAILS_ALONE(fy_narrow(x, 1, INT64_MIN, 1),
                    "start out of range (expected to be in range of [-4, 4], but got -9");
        FAILS_ALONE(fy_narrow(x, 1, 1, INT64_MAX), "exceeds dimension size (4).");
        FAILS_ALONE(fy_select(x, 1, INT64_MIN), "out of range for tensor of size [2, 4] at dimension 1");
    }
}

TEST(writing_a_view_writes_its_base)
{
    (void)state;
    FY_SCOPE
    {
        for (int card = 0; card < 2; card++) {
            fy_tensor *x = fy_zeros((2, 3), .device = card ? "cuda" : "cpu");
            since();
            fy_add_(fy_select(fy_t(x), 0, 1), 5);
            assert_true(HOLDS(x, 0, 5, 0, 0, 5, 0));
            assert_int_equal(number_of(event_of("op", 0), "out.0.version"), 2);
            fy_mul_(fy_slice(x, 1, 0, 3, 2), fy_expand(fy_tensor((7.0), .device = card ? "cuda" : "cpu"), (2, 2)));
            fy_add_(fy_permute(fy_unsqueeze(x, 0), (2, 1, 0)), 1);
            assert_true(HOLDS(x, 1, 6, 1, 1, 6, 1));
        }
    }
}

/* ---- the same bytes in another dtype ---- */

TEST(bytes_are_seen_in_another_dtype)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3));
        since();
        fy_tensor *i = fy_view(x, FY_INT32), *b = fy_view(x, FY_UINT8), *h = fy_view(fy_view(x, FY_FLOAT16), (12));
        assert_string_equal(kinds(), "tensor tensor tensor tensor");
        assert_true(fy_same_storage(i, x));
        assert_true(HAS_SHAPE(b, 2, 12));
        assert_true(HAS_STRIDES(b, 12, 1));
        assert_true(fy_item(fy_select(fy_select(i, 0, 0), 0, 0)) == 0x3f800000);
        assert_true(fy_item(fy_select(h, 0, 1)) == 1.875);
        assert_int_equal(fy_storage_offset(fy_view(fy_select(x, 0, 1), FY_UINT8)), 12);
        assert_true(HAS_SHAPE(fy_view(fy_view(x, (3, 2)), FY_FLOAT64), 3, 1));
        assert_true(HAS_SHAPE(fy_view(b, FY_FLOAT32), 2, 3));
        assert_true(fy_dtype_of(fy_view(fy_full((), 1, .dtype = FY_INT64), FY_FLOAT64)) == FY_FLOAT64);
        fy_dtype told = FY_INT64; /* a variable instead of a constant */
        assert_true(HAS_SHAPE(fy_view(fy_ones((2)), told), 1));
    }
}

TEST(dtypes_that_do_not_divide_are_refused)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3)), *w = fy_ones((2, 4)),
                  *parts[] = {fy_narrow(w, 1, 1, 2), fy_slice(w, 1, 0, FY_END, 2), fy_narrow(x, 1, 0, 2), fy_ones(())};
        FAILS_ALONE(
            fy_view(x, FY_FLOAT64),
            "self.size(-1) must be divisible by 2 to view Float as Double (different element sizes), but got 3");
        FAILS_ALONE(
            fy_view(parts[0], FY_INT64),
            "self.storage_offset() must be divisible by 2 to view Float as Long (different element sizes), but got 1");
        FAILS_ALONE(fy_view(parts[1], FY_UINT8),
                    "self.stride(-1) must be 1 to view Float as Byte (different element sizes), but got 2");
        FAILS_ALONE(
            fy_view(parts[2], FY_FLOAT64),
            "self.stride(0) must be divisible by 2 to view Float as Double (different element sizes), but got 3");
        FAILS_ALONE(fy_view(parts[3], FY_FLOAT16),
                    "self.dim() cannot be 0 to view Float as Half (different element sizes)");
        fy_dtype none = (fy_dtype)77;
        FAILS_ALONE(fy_view(x, none), "77 is not a dtype");
    }
}

/* ---- errors ---- */

TEST(shapes_that_cannot_be_are_refused)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3)), *none = fy_ones((0, 3)), *most = fy_ones((1, 1, 1, 1, 1, 1, 1, 1)),
                  *one = fy_ones((1)), *mask = fy_ones((2), .device = "cuda", .dtype = FY_BOOL);
        FAILS_ALONE(fy_reshape(x, (4, 2)), "shape '[4, 2]' is invalid for input of size 6");
        FAILS_ALONE(fy_reshape(x, (4, -1)), "shape '[4, -1]' is invalid for input of size 6");
        FAILS_ALONE(fy_view(x, (-1, -1)), "only one dimension can be inferred");
        FAILS_ALONE(fy_reshape(x, (-2, 3)), "invalid shape dimension -2");
        FAILS_ALONE(fy_view(none, (0, -1)),
                    "cannot reshape tensor of 0 elements into shape [0, -1] because the unspecified "
                    "dimension size -1 can be any value and is ambiguous");
        FAILS_ALONE(fy_reshape(x, (1, 1, 1, 1, 1, 1, 1, 1, 6)), "a shape has at most 8 dimensions");
        FAILS_ALONE(fy_reshape(x, ((int64_t)1 << 62, 4, 6)), "is invalid for input of size 6");
        FAILS_ALONE(fy_unsqueeze(most, 0), "a tensor has at most 8 dimensions");
        FAILS_ALONE(fy_expand(most, (2, 1, 1, 1, 1, 1, 1, 1, 1)), "a shape has at most 8 dimensions");
        FAILS_ALONE(fy_expand(x, (3, 3)), "The expanded size of the tensor (3) must match the existing size (2) at "
                                          "non-singleton dimension 0.  Target sizes: [3, 3].  Tensor sizes: [2, 3]");
        FAILS_ALONE(fy_expand(x, (3)),
                    "expand(torch.FloatTensor{[2, 3]}, size=[3]): the number of sizes provided (1) must be "
                    "greater or equal to the number of dimensions in the tensor (2)");
        FAILS_ALONE(fy_expand(mask, ()), "expand(torch.cuda.BoolTensor{[2]}, ");
        FAILS_ALONE(fy_expand(x, (-1, 2, 3)),
                    "The expanded size of the tensor (-1) isn't allowed in a leading, non-existing dimension 0");
        FAILS_ALONE(fy_expand(one, (-2)), "Trying to create tensor with negative dimension -2");
        FAILS_ALONE(fy_expand(one, (INT64_MAX)), "Storage size calculation overflowed");
    }
}

TEST(dimensions_that_are_not_there_are_refused)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3)), *zero = fy_zeros(()), *solid = fy_ones((1, 2, 3));
        FAILS_ALONE(fy_unsqueeze(x, 3), "Dimension out of range (expected to be in range of [-3, 2], but got 3)");
        FAILS_ALONE(fy_squeeze(x, -3), "Dimension out of range (expected to be in range of [-2, 1], but got -3)");
        FAILS_ALONE(fy_flatten(x, 2), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
        FAILS_ALONE(fy_permute(x, (0, 2)), "Dimension out of range (expected to be in range of [-2, 1], but got 2)");
        FAILS_ALONE(fy_permute(x, (1, -1)), "permute(): duplicate dims are not allowed.");
        FAILS_ALONE(fy_permute(x, (0)),
                    "number of dimensions in the tensor input does not match the length of the desired "
                    "ordering of dimensions i.e. input.dim() = 2 is not equal to len(dims) = 1");
        FAILS_ALONE(fy_transpose(zero, 0, 1), "Dimension out of range (expected to be in range of [-1, 0], but got 1)");
        FAILS_ALONE(fy_select(zero, 0, 0), "select() cannot be applied to a 0-dim tensor.");
        FAILS_ALONE(fy_transpose(x, 0, (int64_t)1 << 32), "but got 4294967296)");
        FAILS_ALONE(fy_t(solid), "t() expects a tensor with <= 2 dimensions, but self is 3D");
    }
}

TEST(views_on_a_card_are_as_on_the_cpu)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((24)), (2, 3, 4)), *g = fy_cuda(x);
        since();
        fy_tensor *v = fy_slice(fy_permute(g, (2, 0, 1)), 0, 1, FY_END, 2);
        assert_string_equal(kinds(), "tensor tensor");
        assert_true(HOLDS(v, 1, 5, 9, 13, 17, 21, 3, 7, 11, 15, 19, 23));
        since();
        assert_true(HOLDS(fy_flatten(v, 0, 1), 1, 5, 9, 13, 17, 21, 3, 7, 11, 15, 19, 23));
        assert_string_equal(text_of(event_of("op", 0), "device"), "cuda:0"); /* made contiguous on its own device */
        assert_true(fy_item(fy_view(fy_narrow(fy_cuda(fy_ones((2))), 0, 1, 1), FY_INT32)) == 0x3f800000);
    }
}

/* Bytes viewed as bool can have any value. */
TEST(a_bool_is_true_where_its_byte_is_not_0)
{
    (void)state;
    for (int card = 0; card < 2; card++) {
        FY_SCOPE
        {
            fy_tensor *bytes = fy_to(fy_tensor((0, 1, 2, 255), .dtype = FY_UINT8), card ? "cuda" : "cpu");
            fy_tensor *x = fy_view(bytes, FY_BOOL), *yes = fy_ne(bytes, 0), *some = fy_narrow(x, 0, 1, 3);
            assert_true(HOLDS(fy_to(x, FY_INT64), 0, 1, 1, 1));
            assert_true(HOLDS(fy_eq(x, yes), 1, 1, 1, 1));
            assert_true(HOLDS(fy_view(fy_add(x, x), FY_UINT8), 0, 1, 1, 1));
            assert_true(HOLDS(fy_view(fy_mul(x, x), FY_UINT8), 0, 1, 1, 1));
            assert_true(HOLDS(fy_view(fy_maximum(x, x), FY_UINT8), 0, 1, 1, 1));
            assert_true(HOLDS(fy_view(fy_minimum(x, x), FY_UINT8), 0, 1, 1, 1));
            assert_true(HOLDS(fy_view(fy_clone(x), FY_UINT8), 0, 1, 1, 1));
            assert_true(HOLDS(fy_logical_not(x), 1, 0, 0, 0));
            assert_true(HOLDS(fy_mul(fy_ones((2), .device = fy_device(x)), fy_select(x, 0, 3)), 1, 1));
            assert_true(fy_item(fy_sum(x)) == 3 && fy_item(fy_prod(some)) == 1);
            assert_true(fy_item(fy_all(some)) == 1 && fy_item(fy_min(some)) == 1 && fy_item(fy_select(x, 0, 2)) == 1);
        }
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reshape_is_a_view_where_one_fits_else_a_copy),
        cmocka_unit_test(flatten_folds_dimensions),
        cmocka_unit_test(dimensions_are_reordered_added_and_removed),
        cmocka_unit_test(expanding_repeats_without_a_copy),
        cmocka_unit_test(slices_are_cut_to_the_size),
        cmocka_unit_test(writing_a_view_writes_its_base),
        cmocka_unit_test(bytes_are_seen_in_another_dtype),
        cmocka_unit_test(dtypes_that_do_not_divide_are_refused),
        cmocka_unit_test(shapes_that_cannot_be_are_refused),
        cmocka_unit_test(dimensions_that_are_not_there_are_refused),
        cmocka_unit_test(views_on_a_card_are_as_on_the_cpu),
        cmocka_unit_test(a_bool_is_true_where_its_byte_is_not_0),
    };
    int failed = cmocka_run_group_tests_name("views", tests, NULL, NULL);
    recorded_end();
    return failed;
}
