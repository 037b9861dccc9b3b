/* Where tensors are: fy_to and related calls, device strings, operands on two devices, by PyTorch's rules
 * (tests/rules.txt). Two cards are simulated. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)
#define ON(x, device) assert_string_equal(fy_device(x), device)

/* The call fails with these words and allocates, copies and computes nothing. */
#define FAILS(call, words) \
    do { \
        since(); \
        assert_null(call); \
        if (!fy_error() || !strstr(fy_error(), words)) fail_msg("expected '%s', got: %s", words, fy_error()); \
        assert_true(!event_of("alloc", 0) && !event_of("copy", 0) && !event_of("op", 0)); \
        fy_clear_error(); \
    } while (0)

static int first_card(void **state)
{
    (void)state;
    fy_clear_error();
    fy_cuda_set_device(0);
    return 0;
}

static void are_strides(fy_tensor *x, int64_t first, int64_t second)
{
    assert_int_equal(fy_stride(x, 0), first);
    assert_int_equal(fy_stride(x, 1), second);
}

/* ---- C1: to, cuda, cpu ---- */

TEST(to_that_changes_nothing_is_the_tensor_itself)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((2)), *like = fy_ones((5));
        since();
        assert_ptr_equal(fy_to(x, "cpu"), x);
        assert_ptr_equal(fy_cpu(x), x);
        assert_ptr_equal(fy_to(x, FY_FLOAT32), x);
        assert_ptr_equal(fy_to(x, like), x);
        assert_ptr_equal(fy_to(x, "cpu", .dtype = FY_FLOAT32), x);
        assert_ptr_equal(fy_to(x, "cpu", .non_blocking = true), x);
        assert_string_equal(kinds(), "same same same same same same");
    }
}

TEST(copy_asks_for_a_storage_of_its_own)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_arange((3)), *y = fy_to(x, "cpu", .copy = true), *z = fy_to(x, x, .copy = true);
        assert_false(fy_same_storage(x, y) || fy_same_storage(x, z));
        fy_fill_(x, 9);
        assert_true(fy_item(fy_sum(y)) == 3 && fy_item(fy_sum(z)) == 3);
    }
}

TEST(to_of_another_dtype_leaves_the_argument)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((0.1, 2)), *y = fy_to(x, FY_FLOAT64);
        assert_ptr_not_equal(x, y);
        assert_true(fy_dtype_of(x) == FY_FLOAT32 && fy_dtype_of(y) == FY_FLOAT64);
        assert_true(fy_item(fy_select(y, 0, 0)) == (double)0.1f);
        ON(x, "cpu");
    }
}

TEST(to_keeps_the_strides_of_dense_tensors_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_randn((3, 4));
        are_strides(fy_to(fy_t(x), FY_FLOAT64), 1, 4);
        are_strides(fy_to(fy_slice(x, 1, 0, FY_END, 2), FY_FLOAT64), 2, 1);
        are_strides(fy_to(fy_expand(fy_randn((3, 1)), (3, 4)), FY_FLOAT64), 4, 1);
        are_strides(fy_to(fy_t(x), "cuda"), 1, 4);
        are_strides(fy_to(fy_slice(x, 1, 0, FY_END, 2), "cuda"), 2, 1);
    }
}

TEST(a_slice_moves_its_own_bytes_alone)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_randn((1000)), *ten = fy_narrow(x, 0, 5, 10);
        since();
        fy_to(ten, "cpu", .copy = true);
        assert_int_equal(number_of(event_of("alloc", 0), "bytes"), 64); /* 40, rounded up */
        since();
        fy_to(ten, "cuda");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 40);
    }
}

TEST(to_another_tensor_takes_its_dtype_and_device)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1.75, 2)), *other = fy_zeros((1), .device = "cuda:1", .dtype = FY_INT32);
        fy_tensor *y = fy_to(x, other);
        ON(y, "cuda:1");
        assert_true(fy_dtype_of(y) == FY_INT32 && fy_item(fy_sum(y)) == 3);
    }
}

TEST(cuda_without_a_number_is_the_current_card)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((2), .device = "cuda:1");
        ON(fy_to(g, "cuda"), "cuda:0");
        ON(fy_cuda(g), "cuda:0");
        fy_cuda_set_device(1);
        assert_int_equal(fy_cuda_current_device(), 1);
        assert_ptr_equal(fy_to(g, "cuda"), g);
        assert_ptr_equal(fy_cuda(g), g);
        ON(fy_ones((2), .device = "cuda"), "cuda:1");
        ON(fy_cuda(g, 0), "cuda:0");
    }
}

TEST(a_copy_to_the_host_waits_and_is_not_pinned)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((4), .device = "cuda");
        since();
        fy_tensor *on_host = fy_to(g, "cpu");
        assert_non_null(event_of("sync", 0));
        assert_false(fy_is_pinned(on_host));
    }
}

TEST(a_non_blocking_copy_to_the_host_is_pinned)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((4), .device = "cuda");
        since();
        fy_tensor *on_host = fy_to(g, "cpu", .non_blocking = true);
        assert_null(event_of("sync", 0));
        assert_true(fy_is_pinned(on_host));
        fy_cuda_synchronize();
        assert_true(fy_item(fy_sum(on_host)) == 4);
    }
}

/* ---- C2: devices ---- */

TEST(device_strings_that_are_devices)
{
    (void)state;
    FY_SCOPE
    {
        ON(fy_ones((1), .device = "cpu"), "cpu");
        ON(fy_ones((1), .device = "cpu:0"), "cpu"); /* all names mean the one CPU */
        ON(fy_ones((1), .device = "cuda"), "cuda:0");
        ON(fy_ones((1), .device = "cuda:0"), "cuda:0");
        ON(fy_ones((1), .device = "cuda:1"), "cuda:1");
    }
}

TEST(device_strings_that_are_none)
{
    static const char *const strings[][2] = {
        {"", "Device string must not be empty"},
        {"nope", "device type at start of device string: nope"},
        {"gpu", "device type at start of device string: gpu"},
        {"CUDA", "device type at start of device string: CUDA"},
        {"other:0", "device type at start of device string: other"},
        {"cuda:", "Invalid device string: 'cuda:'"},
        {"cuda:-1", "Invalid device string: 'cuda:-1'"},
        {"cuda:01", "Invalid device string: 'cuda:01'"},
        {"cuda:1a", "Invalid device string: 'cuda:1a'"},
        {"cuda 0", "Invalid device string: 'cuda 0'"},
        {"cuda:2 ", "Invalid device string: 'cuda:2 '"},
        {"cuda:99999999999", "Could not parse device index '99999999999' in device string 'cuda:99999999999'"},
    };
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1));
        for (size_t i = 0; i < sizeof strings / sizeof *strings; i++) FAILS(fy_to(x, strings[i][0]), strings[i][1]);
    }
}

TEST(a_missing_device_is_an_error_when_it_is_used)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((1));
        FAILS(fy_ones((1), .device = "cuda:7"), "invalid device ordinal");
        FAILS(fy_ones((1), .device = "cuda:300"), "cuda:300");
        FAILS(fy_ones((1), .device = "cpu:1"), "cpu:1");
        FAILS(fy_cuda(x, 2), "invalid device ordinal");
    }
}

TEST(views_reductions_and_likes_stay_on_the_device)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_ones((2, 3), .device = "cuda:1");
        ON(fy_t(g), "cuda:1");
        ON(fy_select(g, 0, 1), "cuda:1");
        ON(fy_sum(g), "cuda:1");
        ON(fy_argmax(g, (0)), "cuda:1");
        ON(fy_zeros_like(g), "cuda:1");
        ON(fy_empty_like(g), "cuda:1");
    }
}

/* ---- C3: operands on two devices ---- */

#define BOTH "Expected all tensors to be on the same device, but found at least two devices, "

TEST(two_cards_are_named_in_the_order_of_the_operands)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2), .device = "cuda:0"), *b = fy_ones((2), .device = "cuda:1");
        FAILS(fy_add(a, b), BOTH "cuda:0 and cuda:1!");
        FAILS(fy_add(b, a), BOTH "cuda:1 and cuda:0!");
        FAILS(fy_add_(b, a), BOTH "cuda:1 and cuda:0!");
    }
}

TEST(a_zero_dim_cpu_tensor_meets_cards_without_a_copy)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_arange((3), .device = "cuda"), *half = fy_full((), 0.5, .dtype = FY_FLOAT64);
        fy_tensor *one = fy_ones((1)), *two = fy_ones((2)), *half_there = fy_cuda(half);
        since();
        fy_tensor *y = fy_mul(half, g);
        assert_null(event_of("copy", 0));
        ON(y, "cuda:0");
        assert_true(fy_dtype_of(y) == FY_FLOAT64 && fy_item(fy_sum(y)) == 1.5);
        FAILS(fy_mul(one, g), BOTH "cuda:0 and cpu!");
        FAILS(fy_mul(two, half_there), BOTH "cuda:0 and cpu!");
    }
}

TEST(in_place_on_two_devices_leaves_the_operand)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2)), *g = fy_ones((2), .device = "cuda");
        FAILS(fy_add_(a, g), BOTH "cuda:0 and cpu!");
        FAILS(fy_add_(g, a), BOTH "cuda:0 and cpu!");
        assert_true(fy_item(fy_sum(a)) == 2 && fy_item(fy_sum(g)) == 2);
    }
}

TEST(products_name_devices_in_the_order_of_the_arguments)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2, 2)), *g = fy_ones((2, 2), .device = "cuda"), *row = fy_ones((2)),
                  *grow = fy_cuda(row);
        FAILS(fy_mm(a, g), "found at least two devices, cpu and cuda:0!");
        FAILS(fy_mm(g, a), "found at least two devices, cuda:0 and cpu!");
        FAILS(fy_addmm(grow, g, a), "found at least two devices, cuda:0 and cpu!");
        FAILS(fy_linear(a, g, grow), "found at least two devices, cuda:0 and cpu!"); /* the bias is checked first */
        FAILS(fy_linear(g, a, row), "found at least two devices, cpu and cuda:0!");
    }
}

int main(void)
{
#define T(name) cmocka_unit_test_setup(name, first_card)
    const struct CMUnitTest tests[] = {
        T(to_that_changes_nothing_is_the_tensor_itself),
        T(copy_asks_for_a_storage_of_its_own),
        T(to_of_another_dtype_leaves_the_argument),
        T(to_keeps_the_strides_of_dense_tensors_alone),
        T(a_slice_moves_its_own_bytes_alone),
        T(to_another_tensor_takes_its_dtype_and_device),
        T(cuda_without_a_number_is_the_current_card),
        T(a_copy_to_the_host_waits_and_is_not_pinned),
        T(a_non_blocking_copy_to_the_host_is_pinned),
        T(device_strings_that_are_devices),
        T(device_strings_that_are_none),
        T(a_missing_device_is_an_error_when_it_is_used),
        T(views_reductions_and_likes_stay_on_the_device),
        T(two_cards_are_named_in_the_order_of_the_operands),
        T(a_zero_dim_cpu_tensor_meets_cards_without_a_copy),
        T(in_place_on_two_devices_leaves_the_operand),
        T(products_name_devices_in_the_order_of_the_arguments),
    };
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "h200:gpus=2", 1);
    recorded_start();
    int failed = cmocka_run_group_tests_name("placement", tests, NULL, NULL);
    recorded_end();
    return failed;
}
