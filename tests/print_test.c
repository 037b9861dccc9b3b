/* The output of fy_print for each dtype equals PyTorch's; single elements of each dtype. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "printed.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

TEST(each_dtype_is_printed_as_by_pytorch)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *big = fy_tensor((INT64_MAX)), *mask = fy_view(fy_tensor((1, 0, 0, 0), .dtype = FY_BOOL), (2, 2));
        assert_string_equal(printed(fy_tensor((1.5, -2.0, NAN), .dtype = FY_FLOAT16)),
                            "tensor([ 1.5000, -2.0000,     nan], dtype=float16)\n");
        assert_string_equal(printed(fy_tensor((0.1, 1000.0), .dtype = FY_BFLOAT16)),
                            "tensor([1.0010e-01, 1.0000e+03], dtype=bfloat16)\n");
        assert_string_equal(printed(fy_tensor((65504.0, 6e-8), .dtype = FY_FLOAT16)),
                            "tensor([6.5504e+04, 5.9605e-08], dtype=float16)\n");
        assert_string_equal(printed(fy_tensor((1 / 3.0, 2e5), .dtype = FY_FLOAT64)),
                            "tensor([3.3333e-01, 2.0000e+05], dtype=float64)\n");
        assert_string_equal(printed(fy_view(fy_tensor((1, -20, 300, 4), .dtype = FY_INT32), (2, 2))),
                            "tensor([[  1, -20],\n        [300,   4]], dtype=int32)\n");
        assert_string_equal(printed(fy_tensor((0, 255), .dtype = FY_UINT8)), "tensor([  0, 255], dtype=uint8)\n");
        assert_string_equal(printed(mask), "tensor([[ True, False],\n        [False, False]])\n");
        assert_string_equal(printed(fy_select(fy_select(mask, 0, 0), 0, 0)), "tensor(True)\n");
        assert_string_equal(printed(fy_full((), 2.5, .dtype = FY_FLOAT64)), "tensor(2.5000, dtype=float64)\n");
        assert_string_equal(printed(big), "tensor([9223372036854775807])\n");
        assert_string_equal(printed(fy_tensor((INFINITY, 0.0, -1e30))),
                            "tensor([        inf,  0.0000e+00, -1.0000e+30])\n");
        assert_string_equal(printed(fy_tensor((1e300), .dtype = FY_FLOAT64)), "tensor([1.0000e+300], dtype=float64)\n");
    }
}

TEST(what_the_values_do_not_show_is_printed_behind_them)
{
    (void)state;
    FY_SCOPE
    {
        assert_string_equal(printed(fy_zeros((0), .dtype = FY_BOOL)), "tensor([], dtype=bool)\n");
        assert_string_equal(printed(fy_zeros((2, 0), .dtype = FY_FLOAT16)), "tensor([], size=(2, 0), dtype=float16)\n");
        assert_string_equal(printed(fy_ones((2), .dtype = FY_UINT8, .device = "cuda")),
                            "tensor([1, 1], device='cuda:0', dtype=uint8)\n");
        /* 79 characters are too many: PyTorch reserves two for the suffix */
        assert_string_equal(printed(fy_full((9), 0.1234567, .dtype = FY_FLOAT64)),
                            "tensor([0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235, 0.1235],\n"
                            "       dtype=float64)\n");
        assert_string_equal(printed(fy_full((12), 1, .dtype = FY_INT32)),
                            "tensor([1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1], dtype=int32)\n");
    }
}

TEST(the_call_that_gives_a_tensor_its_gradient_is_printed)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_tensor((1, 2), .dtype = FY_FLOAT64, .requires_grad = true), *y = fy_mul(w, 2);
        assert_string_equal(printed(w), "tensor([1., 2.], dtype=float64, requires_grad=True)\n");
        assert_string_equal(printed(y), "tensor([2., 4.], dtype=float64, grad_fn=<MulBackward0>)\n");
        assert_string_equal(printed(fy_detach(y)), "tensor([2., 4.], dtype=float64)\n");
        assert_string_equal(printed(fy_to(y, "cuda")),
                            "tensor([2., 4.], device='cuda:0', dtype=float64, grad_fn=<ToCopyBackward0>)\n");
        fy_requires_grad_(w, false);
        assert_string_equal(printed(w), "tensor([1., 2.], dtype=float64)\n");
    }
}

TEST(long_tensors_are_cut_in_every_dimension)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *even = fy_eq(fy_remainder(fy_view(fy_arange((1100)), (4, 275)), 2), 0);
        assert_string_equal(printed(even), "tensor([[ True, False,  True,  ...,  True, False,  True],\n"
                                           "        [False,  True, False,  ..., False,  True, False],\n"
                                           "        [ True, False,  True,  ...,  True, False,  True],\n"
                                           "        [False,  True, False,  ..., False,  True, False]])\n");
    }
}

TEST(one_element_of_each_dtype_is_a_double)
{
    static const double values[] = {[FY_FLOAT32] = 2.5, [FY_INT64] = -3, [FY_FLOAT16] = 2.5, [FY_BFLOAT16] = 2.5,
                                    [FY_FLOAT64] = 0.1, [FY_INT32] = -3, [FY_UINT8] = 200,   [FY_BOOL] = 1};
    (void)state;
    since();
    for (int d = FY_FLOAT32; d <= (int)FY_BOOL; d++) {
        FY_SCOPE
        {
            fy_tensor *x = fy_full((2, 2), values[d], .dtype = (fy_dtype)d), *one = fy_select(fy_select(x, 0, 1), 0, 1);
            assert_true(fy_item(one) == values[d]);
            assert_true(fy_item(fy_cuda(one)) == values[d]);
            int64_t size = (char *)fy_data(one) - (char *)fy_data(x);
            assert_int_equal(size % 3, 0); /* three elements further */
            assert_int_equal(size / 3, number_of(event_of("alloc", 0), "asked") / 4);
        }
        since();
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    since();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_dtype_is_printed_as_by_pytorch),
        cmocka_unit_test(what_the_values_do_not_show_is_printed_behind_them),
        cmocka_unit_test(the_call_that_gives_a_tensor_its_gradient_is_printed),
        cmocka_unit_test(long_tensors_are_cut_in_every_dimension),
        cmocka_unit_test(one_element_of_each_dtype_is_a_double),
    };
    int failed = cmocka_run_group_tests_name("print", tests, NULL, NULL);
    recorded_end();
    return failed;
}
