/* index_test.c: split, indexing, sorting, and results whose size depends on values: their events, sizes that PyTorch's
 * cases (tests/oracle) do not cover, and invalid indices on a card. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"
#include "values.h"

/* ---- parts ---- */

static void parts_are_views_called_by_their_place(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = fy_to(fy_view(fy_arange((10)), (2, 5)), d);
        since();
        fy_tensors p = fy_split(x, 2, 1);
        assert_int_equal(p.n, 3);
        assert_string_equal(kinds(), "tensor tensor tensor results");
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "p.at[0]");
        assert_string_equal(text_of(event_of("tensor", 2), "name"), "p.at[2]");
        assert_true(number_of(event_of("tensor", 1), "view_of") == number_of(event_of("tensor", 2), "view_of"));
        GIVES(p.at[0], 0, 1, 5, 6);
        GIVES(p.at[2], 4, 9);
        assert_null(p.at[3]);
        fy_mul_(p.at[2], 10);
        assert_true(element(x, 9) == 90);
        fy_tensors q = fy_split(x, (1, 4), 1), r = fy_chunk(x, 4, 1);
        assert_true(q.n == 2 && r.n == 3);
        GIVES(q.at[0], 0, 5);
        GIVES(fy_select(r.at[1], 0, 0), 2, 3);
    }
}

static void more_parts_than_fit_are_refused_with_a_way_out(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((FY_MOST_PARTS + 1, 2));
        since();
        fy_tensors p = fy_split(x, 1, 0);
        assert_true(p.n == 0 && !p.at[0]);
        assert_true(failed_with("65 parts are too many: an fy_tensors holds at most 64"));
        assert_string_equal(kinds(), "error");
        assert_int_equal(fy_chunk(fy_narrow(x, 0, 0, FY_MOST_PARTS), 64, 0).n, 64);
        fy_split(x, (1.5, 2), 1);
        assert_true(failed_with("the sizes of the parts must be whole numbers"));
    }
}

/* ---- order ---- */

/* A shuffled row with duplicates, of any length: 5 elements, several blocks, odd sizes. */
static void check_sorted(const char *d, int64_t n, bool descending)
{
    fy_tensor *keys = fy_remainder(fy_mul(fy_arange((n)), 7919), 31), *index = NULL;
    fy_tensor *x = fy_to(fy_view(fy_to(keys, FY_FLOAT32), (1, n)), d);
    fy_tensor *sorted = fy_contiguous(fy_cpu(fy_sort(x, 1, .descending = descending, .indices = &index)));
    const float *v = fy_data(sorted);
    const int64_t *at = fy_data(fy_cpu(index)), *key = fy_data(keys);
    for (int64_t i = 0; i < n; i++) {
        if (v[i] != (float)key[at[i]]) fail_msg("%s, %d elements: value and index differ", d, (int)n);
        if (i == 0) continue;
        bool ordered = descending ? v[i - 1] >= v[i] : v[i - 1] <= v[i];
        if (!ordered || (v[i - 1] == v[i] && at[i - 1] >= at[i])) fail_msg("%s, %d elements: not in order", d, (int)n);
    }
}

static void any_length_is_sorted_and_equals_keep_their_order(void **state)
{
    static const int64_t lengths[] = {1, 2, 3, 5, 8, 31, 33, 64, 100, 255, 257, 1000, 2049};
    (void)state;
    ON_BOTH(d)
    {
        for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) check_sorted(d, lengths[i], i % 2);
    }
}

static void a_nan_is_the_largest(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = fy_to(fy_tensor((1, NAN, -INFINITY, NAN, INFINITY)), d), *i = NULL;
        GIVES(fy_sort(x, 0), -INFINITY, 1, INFINITY, NAN, NAN);
        GIVES(fy_sort(x, 0, .descending = true, .indices = &i), NAN, NAN, INFINITY, 1, -INFINITY);
        GIVES(i, 1, 3, 4, 0, 2);
        GIVES(fy_topk(x, 2, 0, .smallest = true, .indices = &i), -INFINITY, 1);
        GIVES(i, 2, 0);
        GIVES(fy_topk(fy_to(fy_tensor((3, 5, 5, 5)), d), 2, 0, .indices = &i), 5, 5);
        GIVES(i, 1, 2); /* the first of equal values */
    }
}

/* A block processes a row of more than 256 elements. */
static void long_lines_add_up_as_short_ones_do(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *ones = fy_ones((3, 1000), .device = d, .dtype = FY_INT64);
        fy_tensor *sums = fy_cumsum(ones, 1), *across = fy_cumsum(fy_t(ones), 0);
        assert_true(element(sums, 0) == 1 && element(sums, 999) == 1000 && element(sums, 2500) == 501);
        assert_true(element(across, 2999) == 1000 && element(across, 3) == 2);
        GIVES(fy_cumsum(fy_to(fy_tensor((200, 100)), d), 0, .dtype = FY_UINT8), 200, 44);
        FAILS_ALONE(fy_cumsum(ones, 0, .dtype = FY_BOOL), "not implemented for 'Bool'");
    }
}

/* ---- elements by their index ---- */

/* In index order on both devices: rounded sums are equal to the bit in every run. */
static void what_is_scattered_is_added_in_order(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *src = fy_randn((50, 400)), *index = fy_randint((0, 7), (50, 400)), *sums[3];
        for (int i = 0; i < 3; i++) {
            const char *d = i ? "cuda" : "cpu";
            since();
            sums[i] = fy_zeros((50, 7), .device = d);
            assert_ptr_equal(fy_scatter_add_(sums[i], 1, fy_to(index, d), fy_to(src, d)), sums[i]);
            assert_true(fy_item_int(fy_all(fy_eq(fy_cpu(sums[i]), sums[0]))));
        }
        fy_tensor *x = fy_zeros((3)), *none = fy_zeros((0), .dtype = FY_INT64);
        since();
        assert_ptr_equal(fy_scatter_add_(x, 0, none, sums[0]), x);
        assert_string_equal(kinds(), ""); /* an empty index: no work */
    }
}

static void a_source_in_part_unused_has_no_gradient(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *src = fy_ones((3, 3), .requires_grad = true), *rows = fy_zeros((1, 2), .dtype = FY_INT64);
        fy_tensor *sum = fy_sum(fy_scatter_add_(fy_zeros((2, 2)), 0, rows, src));
        assert_false(fy_backward(sum));
        assert_true(failed_with("Function ScatterAddBackward0 returned an invalid gradient at index 1 - got [1, 2] but "
                                "expected shape compatible with [3, 3]"));
    }
}

static void a_short_index_is_converted_in_the_open(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = fy_to(fy_arange((4)), d), *i = fy_to(fy_to(fy_tensor((3, 0)), FY_INT32), d);
        since();
        GIVES(fy_index_select(x, 0, i), 3, 0);
        assert_string_equal(text_of(event_of("op", 0), "name"), "cast");
        assert_string_equal(text_of(event_of("op", 1), "name"), "index_select");
    }
}

/* Costs only the rows that are read, not the table. */
static void an_op_costs_what_its_index_names(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *weight = fy_ones((1000, 4), .device = "cuda"), *i = fy_tensor((7, 7, 9), .device = "cuda");
        fy_tensor *rows = fy_expand(fy_view(i, (3, 1)), (3, 4)), *some = fy_ones((3, 4), .device = "cuda");
        since();
        fy_embedding(weight, i);
        fy_scatter_add_(weight, 0, fy_contiguous(rows), some);
        assert_int_equal(number_of(event_of("op", 0), "bytes"), 3 * 8 + 2 * 3 * 16);
        assert_int_equal(number_of(event_of("op", 2), "bytes"), 12 * 8 + 3 * 3 * 16);
        assert_int_equal(number_of(event_of("op", 2), "flops"), 12);
    }
}

static void a_wrong_index_on_the_cpu_is_reported_at_once(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3)), *far = fy_tensor((0, 3)), *rows = fy_view(fy_tensor((0, -1)), (2, 1));
        FAILS_ALONE(fy_index_select(x, 1, far), "index out of range in self");
        FAILS_ALONE(fy_embedding(x, rows), "index out of range in self");
        FAILS_ALONE(fy_gather(x, 1, rows), "index -1 is out of bounds for dimension 1 with size 3");
        FAILS_ALONE(fy_scatter_add_(x, -1, rows, x), "index -1 is out of bounds for dimension 1 with size 3");
        since();
        assert_null(fy_gather(x, 1, rows));
        assert_non_null(strstr(fy_error(), "rows is on cpu (2, 1) int64")); /* and not "1 is on cpu" */
        fy_clear_error();
    }
}

static void operands_apart_are_called_by_their_names(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3), .device = "cuda"), *i = fy_tensor((0, 1)), *zero = fy_full((), 0);
        fy_tensor *mask = fy_ones((3), .dtype = FY_BOOL);
        since();
        assert_null(fy_index_select(x, 1, i));
        assert_non_null(strstr(fy_error(), "fy_to(i, \"cuda\")"));
        assert_true(failed_with("Expected all tensors to be on the same device"));
        assert_null(fy_index_select(x, 1, fy_add(i, 0))); /* without a name it is called as it was written */
        assert_non_null(strstr(fy_error(), "fy_add(i, 0) is on cpu"));
        fy_clear_error();
        FAILS_ALONE(fy_embedding(x, zero), "Expected all tensors to be on the same device"); /* no number */
        FAILS_ALONE(fy_masked_select(x, mask), "Expected all tensors to be on the same");
    }
}

/* ---- a size that hangs on values ---- */

static void a_size_comes_to_the_host_and_is_logged(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_to(fy_tensor((0, 3, 0, 5)), "cuda");
        since();
        GIVES(fy_nonzero(x), 1, 3);
        assert_string_equal(text_of(event_of("op", 0), "name"), "prefix_count");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "size");
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "d2h");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 8);
        assert_string_equal(text_of(event_of("sync", 0), "why"), "size");
        assert_true(number_of(event_of("sync", 0), "cause") == number_of(event_of("copy", 0), "seq"));
        assert_string_equal(text_of(event_of("op", 1), "name"), "nonzero");
        since();
        GIVES(fy_masked_select(x, fy_gt(x, 3)), 5);
        assert_string_equal(text_of(event_of("sync", 0), "why"), "size");
        fy_tensor *on_host = fy_cpu(x);
        since();
        fy_nonzero(on_host);
        fy_nonzero(fy_ones((0, 2), .device = "cuda")); /* nothing to count */
        assert_null(event_of("sync", 0));
    }
}

static void large_masks_pick_what_they_should(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = fy_to(fy_view(fy_arange((3000)), (30, 100)), d), *even = fy_eq(fy_remainder(x, 2), 0);
        fy_tensor *picked = fy_masked_select(x, even), *at = fy_nonzero(fy_t(even));
        assert_true(HAS_SHAPE(picked, 1500) && HAS_SHAPE(at, 1500, 2) && HAS_STRIDES(at, 1, 1500));
        assert_true(element(picked, 1499) == 2998 && element(at, 2 * 1499) == 98 && element(at, 2 * 1499 + 1) == 29);
        fy_tensor *narrow = fy_narrow(even, 1, 0, 99);
        fy_tensor *rows = fy_index(x, fy_lt(fy_select(x, 1, 0), 250));
        assert_true(HAS_SHAPE(rows, 3, 100) && element(rows, 299) == 299);
        FAILS_ALONE(fy_index(x, narrow), "The shape of the mask [30, 99] at index 1 does not match");
    }
}

static void a_mask_of_the_host_is_brought_for_the_op(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_to(fy_view(fy_arange((6)), (3, 2)), "cuda"), *mask = fy_gt(fy_arange((3)), 0);
        since();
        GIVES(fy_index(x, mask), 2, 3, 4, 5);
        assert_string_equal(text_of(event_of("copy", 0), "why"), "op");
    }
}

/* Even if the values and counts race, nothing outside the result is written. */
static void a_race_spoils_the_values_and_nothing_else(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_stream *side = fy_cuda_stream();
        fy_tensor *x = fy_zeros((1 << 16), .device = "cuda"), *n = NULL, *picked = NULL;
        fy_cuda_synchronize();
        fy_fill_(x, 1);
        since();
        FY_STREAM(side)
        {
            n = fy_nonzero(x);
            picked = fy_masked_select(x, fy_gt(x, 0));
        }
        assert_non_null(event_of("data_race", 0));
        assert_true(fy_size(n, 0) <= 1 << 16 && fy_numel(picked) <= 1 << 16);
        fy_cuda_synchronize();
        assert_null(fy_error());
    }
}

/* The card does not check in advance: the kernel asserts, and a later wait reports it. The card then is unusable, so
 * this test is the last. */
static void a_wrong_index_on_a_card_stops_it(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2, 3), .device = "cuda"), *i = fy_tensor((0, 3), .device = "cuda");
        fy_tensor *out = fy_index_select(x, 1, i);
        if (out) fy_cuda_synchronize();
        assert_non_null(strstr(fy_error(), "CUDA error: device-side assert triggered: index.cu:"));
        assert_true(failed_with("Assertion `wanted >= 0 && wanted < size` failed"));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_views_called_by_their_place),
        cmocka_unit_test(more_parts_than_fit_are_refused_with_a_way_out),
        cmocka_unit_test(any_length_is_sorted_and_equals_keep_their_order),
        cmocka_unit_test(a_nan_is_the_largest),
        cmocka_unit_test(long_lines_add_up_as_short_ones_do),
        cmocka_unit_test(what_is_scattered_is_added_in_order),
        cmocka_unit_test(a_source_in_part_unused_has_no_gradient),
        cmocka_unit_test(a_short_index_is_converted_in_the_open),
        cmocka_unit_test(an_op_costs_what_its_index_names),
        cmocka_unit_test(a_wrong_index_on_the_cpu_is_reported_at_once),
        cmocka_unit_test(operands_apart_are_called_by_their_names),
        cmocka_unit_test(a_size_comes_to_the_host_and_is_logged),
        cmocka_unit_test(large_masks_pick_what_they_should),
        cmocka_unit_test(a_mask_of_the_host_is_brought_for_the_op),
        cmocka_unit_test(a_race_spoils_the_values_and_nothing_else),
        cmocka_unit_test(a_wrong_index_on_a_card_stops_it),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
