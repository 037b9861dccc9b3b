/* Tensors: creation, properties, views, moving. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lesson_io.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

/* ---- making ---- */

TEST(a_tensor_is_created_on_the_cpu_as_float32)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *x = fy_zeros((2, 3));
        assert_string_equal(kinds(), "alloc tensor op complete");
        assert_string_equal(fy_device(x), "cpu");
        assert_false(fy_is_cuda(x));
        assert_int_equal(fy_dtype_of(x), FY_FLOAT32);
        assert_int_equal(fy_dim(x), 2);
        assert_int_equal(fy_numel(x), 6);
        assert_int_equal(fy_size(x, -1), 3);
        assert_int_equal(fy_size(x, 2), -1);
        assert_true(HAS_STRIDES(x, 3, 1));
        assert_true(HOLDS(x, 0, 0, 0, 0, 0, 0));
        assert_string_equal(text_of(event_of("alloc", 0), "mem"), "pageable");
        assert_int_equal(number_of(event_of("alloc", 0), "asked"), 24);
        assert_int_equal(number_of(event_of("alloc", 0), "bytes"), 64);
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "x");
    }
}

TEST(a_tensor_is_made_on_the_requested_device)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *x = fy_ones((3), .device = "cuda", .name = "weights");
        assert_string_equal(kinds(), "segment alloc tensor op complete");
        assert_string_equal(fy_device(x), "cuda:0");
        assert_true(fy_is_cuda(x));
        assert_string_equal(text_of(event_of("alloc", 0), "device"), "cuda:0");
        assert_int_equal(number_of(event_of("alloc", 0), "bytes"), 512);
        assert_string_equal(text_of(event_of("tensor", 0), "name"), "weights");
        assert_string_equal(text_of(event_of("op", 0), "name"), "fill");
        assert_true(HOLDS(x, 1, 1, 1));
    }
}

TEST(values_decide_the_dtype_as_in_pytorch)
{
    (void)state;
    FY_SCOPE
    {
        assert_int_equal(fy_dtype_of(fy_tensor((1, 2, 3))), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_tensor((1, 2.5, 3))), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_tensor((1, 2), .dtype = FY_FLOAT32)), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_full((2), 7)), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_full((2), 7.5)), FY_FLOAT32);
        assert_true(HOLDS(fy_full((2), 7.5, .dtype = FY_INT64), 7, 7));
        assert_true(HOLDS(fy_tensor((1, -2.5)), 1, -2.5));
        assert_true(HOLDS(fy_tensor((4, 5), .device = "cuda"), 4, 5));
        assert_int_equal(fy_dtype_of(fy_arange((4))), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_arange((0, 1, 0.5))), FY_FLOAT32);
    }
}

TEST(arange_counts_up_and_down_and_stops_before_the_end)
{
    (void)state;
    FY_SCOPE
    {
        assert_true(HOLDS(fy_arange((4)), 0, 1, 2, 3));
        assert_true(HOLDS(fy_arange((2, 5)), 2, 3, 4));
        assert_true(HOLDS(fy_arange((5, 0, -2)), 5, 3, 1));
        assert_true(HOLDS(fy_arange((0, 1, 0.25)), 0, 0.25, 0.5, 0.75));
        assert_true(HOLDS(fy_arange((1, 2.2, 0.5), .device = "cuda"), 1, 1.5, 2));
        assert_true(HAS_SHAPE(fy_arange((3, 3)), 0));
    }
}

TEST(the_cpu_generator_draws_pytorchs_numbers)
{
    const double few[] = {1.5409960746765137, -0.293428897857666, -2.1787893772125244};
    (void)state;
    FY_SCOPE
    {
        fy_manual_seed(0);
        fy_tensor *x = fy_randn((3));
        for (int i = 0; i < 3; i++) assert_true(fabs(element(x, i) - few[i]) < 1e-6);
        fy_manual_seed(0);
        fy_tensor *one = fy_randn(()), *two = fy_randn((2)); /* 3 = 1 + 2 */
        assert_true(fabs(fy_item(one) - few[0]) < 1e-6);
        assert_true(fabs(element(two, 1) - few[2]) < 1e-6);
        fy_manual_seed(0);
        assert_true(fabs(element(fy_randn((16)), 0) + 1.1258398294448853) < 1e-6);
    }
}

TEST(seeds_repeat_on_every_device_and_devices_differ)
{
    (void)state;
    FY_SCOPE
    {
        fy_manual_seed(7);
        fy_tensor *a = fy_randn((20)), *b = fy_randn((20), .device = "cuda"), *c = fy_randn((20), .device = "cuda");
        fy_manual_seed(7);
        fy_tensor *d = fy_randn((20)), *e = fy_randn((20), .device = "cuda");
        for (int i = 0; i < 20; i++) {
            assert_true(element(a, i) == element(d, i));
            assert_true(element(b, i) == element(e, i));
            assert_false(element(b, i) == element(c, i));
            assert_false(element(a, i) == element(b, i));
        }
    }
}

TEST(an_empty_tensor_takes_no_bytes_and_has_a_storage)
{
    (void)state;
    FY_SCOPE
    {
        since();
        fy_tensor *x = fy_zeros((0, 3), .device = "cuda");
        assert_int_equal(fy_numel(x), 0);
        assert_int_equal(number_of(event_of("alloc", 0), "bytes"), 0);
        assert_true(number_of(event_of("alloc", 0), "storage") > 0);
        assert_true(HAS_SHAPE(fy_cpu(x), 0, 3));
        assert_true(HOLDS(fy_sum(x), 0));
        assert_true(HAS_SHAPE(fy_add(x, fy_ones((1, 3), .device = "cuda")), 0, 3));
    }
}

/* ---- views ---- */

TEST(views_share_the_storage_and_copy_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((6));
        since();
        fy_tensor *m = fy_view(x, (2, 3)), *t = fy_t(m);
        assert_string_equal(kinds(), "tensor tensor");
        assert_int_equal(number_of(event_of("tensor", 1), "view_of"), number_of(event_of("tensor", 0), "tensor"));
        assert_int_equal(number_of(event_of("tensor", 1), "storage"), number_of(event_of("tensor", 0), "storage"));
        assert_true(HAS_SHAPE(t, 3, 2));
        assert_true(HAS_STRIDES(t, 1, 3));
        assert_true(HOLDS(t, 0, 3, 1, 4, 2, 5));
        assert_false(fy_is_contiguous(t));
        ((int64_t *)fy_data(x))[1] = 10; /* writing the base shows in the view */
        assert_true(HOLDS(t, 0, 3, 10, 4, 2, 5));
        assert_true(HAS_STRIDES(fy_view(t, (3, 2, 1)), 1, 3, 3));
        assert_true(HAS_SHAPE(fy_view(m, (-1)), 6));
        assert_true(HOLDS(fy_narrow(m, 1, 1, 2), 10, 2, 4, 5));
        assert_true(HOLDS(fy_select(m, 0, -1), 3, 4, 5));
        assert_true(HOLDS(fy_select(fy_narrow(t, 0, 1, 2), 1, 1), 4, 5));
        assert_true(HAS_SHAPE(fy_transpose(fy_zeros((2, 3, 4)), 0, -1), 4, 3, 2));
        assert_true(HAS_SHAPE(fy_view(fy_ones(()), (1, 1)), 1, 1));
        assert_int_equal(fy_dim(fy_view(fy_ones((1)), ())), 0);
    }
}

TEST(a_storage_lives_until_its_last_view_goes)
{
    (void)state;
    fy_tensor *x = fy_arange((6)), *v = fy_narrow(x, 0, 2, 2);
    since();
    fy_free(x);
    assert_string_equal(kinds(), "drop");
    assert_true(HOLDS(v, 2, 3));
    since();
    fy_free(v);
    assert_string_equal(kinds(), "drop free");
}

TEST(contiguous_is_itself_or_a_row_major_copy)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((6)), (2, 3)), *t = fy_t(m);
        since();
        assert_ptr_equal(fy_contiguous(m), m);
        assert_string_equal(kinds(), "");
        fy_tensor *c = fy_contiguous(t);
        assert_string_equal(kinds(), "alloc tensor op complete");
        assert_true(HAS_STRIDES(c, 2, 1));
        assert_true(HOLDS(c, 0, 3, 1, 4, 2, 5));
        assert_true(HAS_STRIDES(fy_clone(t), 1, 3)); /* clone keeps dense strides */
        assert_true(HAS_STRIDES(fy_clone(fy_narrow(m, 1, 0, 2)), 2, 1));
    }
}

/* ---- moving ---- */

TEST(to_returns_x_itself_when_nothing_changes)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_zeros((2)), *g = fy_to(x, "cuda");
        since();
        assert_ptr_equal(fy_to(x, "cpu"), x);
        assert_ptr_equal(fy_to(x, "cpu:0"), x);
        assert_ptr_equal(fy_cpu(x), x);
        assert_ptr_equal(fy_to(x, FY_FLOAT32), x);
        assert_ptr_equal(fy_to(x, x), x);
        assert_ptr_equal(fy_to(g, "cuda"), g);
        assert_ptr_equal(fy_cuda(g), g);
        assert_string_equal(kinds(), "same same same same same same same"); /* no copy, but a line of the log */
        since();
        fy_tensor *copy = fy_to(x, "cpu", .copy = true);
        assert_ptr_not_equal(copy, x);
        assert_string_equal(kinds(), "alloc tensor op complete");
    }
}

TEST(each_reference_that_to_returned_is_given_back)
{
    (void)state;
    fy_tensor *x = fy_full((2), 3.0), *same = fy_to(x, "cpu");
    fy_free(x);
    assert_true(HOLDS(same, 3, 3));
    since();
    fy_free(same);
    assert_string_equal(kinds(), "drop free");
}

TEST(a_crossing_is_alloc_tensor_copy_and_its_end)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((6)), (2, 3));
        since();
        fy_tensor *g = fy_to(x, "cuda");
        assert_string_equal(kinds(), "alloc tensor copy complete");
        const cJSON *c = event_of("copy", 0);
        assert_string_equal(text_of(c, "dir"), "h2d");
        assert_string_equal(text_of(c, "route"), "staged");
        assert_int_equal(number_of(c, "bytes"), 48);
        assert_string_equal(text_of(c, "src.device"), "cpu");
        assert_string_equal(text_of(c, "dst.device"), "cuda:0");
        assert_int_equal(number_of(c, "dst.version"), 1);
        since();
        fy_tensor *on_host = fy_cpu(g);
        assert_string_equal(kinds(), "alloc tensor copy complete sync");
        assert_string_equal(text_of(event_of("sync", 0), "why"), "copy");
        assert_int_equal(number_of(event_of("sync", 0), "cause"), number_of(event_of("copy", 0), "seq"));
        assert_true(HOLDS(on_host, 0, 1, 2, 3, 4, 5));
        assert_string_equal(fy_device(x), "cpu"); /* the argument is not moved */
    }
}

TEST(dense_strides_survive_the_bus_and_holes_do_not)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((12)), (3, 4)), *t = fy_t(m);
        assert_true(HAS_STRIDES(fy_to(t, "cuda"), 1, 4));
        assert_true(HOLDS(fy_select(fy_to(t, "cuda"), 0, 1), 1, 5, 9));
        fy_tensor *holes = fy_narrow(m, 1, 1, 2);
        since();
        fy_tensor *g = fy_to(holes, "cuda");
        assert_string_equal(kinds(), "alloc tensor op complete alloc tensor copy complete drop free");
        assert_string_equal(text_of(event_of("op", 0), "device"), "cpu");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 48); /* six elements, not twelve */
        assert_true(HAS_STRIDES(g, 2, 1));
        since();
        assert_true(HOLDS(fy_cpu(fy_narrow(fy_to(m, "cuda"), 1, 1, 2)), 1, 2, 5, 6, 9, 10));
        assert_string_equal(text_of(event_of("op", 0), "device"), "cuda:0"); /* made contiguous on its own device */
    }
}

TEST(dtypes_change_on_the_cpu_before_and_after_the_bus)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1, 2, 3));
        since();
        fy_tensor *g = fy_to(x, "cuda", .dtype = FY_FLOAT32);
        assert_string_equal(kinds(), "alloc tensor op complete alloc tensor copy complete drop free");
        assert_string_equal(text_of(event_of("op", 0), "name"), "cast");
        assert_string_equal(text_of(event_of("op", 0), "device"), "cpu");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 12);
        assert_int_equal(fy_dtype_of(g), FY_FLOAT32);
        since();
        fy_tensor *on_host = fy_to(g, x); /* device and dtype of x */
        assert_string_equal(kinds(), "alloc tensor copy complete sync alloc tensor op complete drop free");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 12);
        assert_string_equal(text_of(event_of("op", 0), "device"), "cpu");
        assert_int_equal(fy_dtype_of(on_host), FY_INT64);
        assert_true(HOLDS(on_host, 1, 2, 3));
        assert_true(HOLDS(fy_to(fy_tensor((1.9, -1.9)), FY_INT64), 1, -1)); /* truncated */
        assert_true(HAS_STRIDES(fy_to(fy_t(fy_zeros((2, 3))), FY_INT64), 1, 3));
        assert_true(HAS_STRIDES(fy_to(fy_narrow(fy_zeros((3, 4)), 1, 0, 2), FY_INT64), 2, 1));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tensor_is_created_on_the_cpu_as_float32),
        cmocka_unit_test(a_tensor_is_made_on_the_requested_device),
        cmocka_unit_test(values_decide_the_dtype_as_in_pytorch),
        cmocka_unit_test(arange_counts_up_and_down_and_stops_before_the_end),
        cmocka_unit_test(the_cpu_generator_draws_pytorchs_numbers),
        cmocka_unit_test(seeds_repeat_on_every_device_and_devices_differ),
        cmocka_unit_test(an_empty_tensor_takes_no_bytes_and_has_a_storage),
        cmocka_unit_test(views_share_the_storage_and_copy_nothing),
        cmocka_unit_test(a_storage_lives_until_its_last_view_goes),
        cmocka_unit_test(contiguous_is_itself_or_a_row_major_copy),
        cmocka_unit_test(to_returns_x_itself_when_nothing_changes),
        cmocka_unit_test(each_reference_that_to_returned_is_given_back),
        cmocka_unit_test(a_crossing_is_alloc_tensor_copy_and_its_end),
        cmocka_unit_test(dense_strides_survive_the_bus_and_holes_do_not),
        cmocka_unit_test(dtypes_change_on_the_cpu_before_and_after_the_bus),
    };
    int failed = cmocka_run_group_tests_name("tensor", tests, NULL, NULL);
    recorded_end();
    return failed;
}
