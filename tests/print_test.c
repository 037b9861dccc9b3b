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

#define IS(name, x) assert_string_equal(fy_grad_fn(x), name)

TEST(calls_have_the_names_of_current_pytorch)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *v = fy_rand((3), .requires_grad = true), *m = fy_rand((3, 3), .requires_grad = true);
        fy_tensor *b = fy_rand((2, 3, 3), .requires_grad = true), *i = fy_tensor((0, 1, 2)), *x = fy_ones((3, 3));
        assert_null(fy_grad_fn(v));
        assert_null(fy_grad_fn(x));
        assert_null(fy_grad_fn(NULL));
        IS("StackBackward0", fy_stack((v, v), 0));
        IS("CatBackward0", fy_cat((v, v), 0));
        IS("ViewBackward0", fy_reshape(m, (9)));
        IS("UnsafeViewBackward0", fy_reshape(fy_t(m), (9)));
        IS("SqueezeBackward0", fy_squeeze(m));
        IS("SqueezeBackward1", fy_squeeze(m, 0));
        IS("UnsqueezeBackward0", fy_unsqueeze(m, 0));
        IS("TransposeBackward0", fy_transpose(b, 0, 1));
        IS("TBackward0", fy_t(m));
        IS("PermuteBackward0", fy_permute(m, (1, 0)));
        IS("SortBackward0", fy_sort(v));
        IS("TopkBackward0", fy_topk(v, 2));
        IS("IndexBackward0", fy_index(v, fy_gt(v, 0)));
        IS("MaskedSelectBackward0", fy_masked_select(v, fy_gt(v, 0)));
        IS("RsubBackward1", fy_sub(2, v));
        IS("SubBackward0", fy_sub(v, 2));
        IS("MulBackward0", fy_div(2, v));
        IS("DivBackward0", fy_div(v, 2));
        IS("NotImplemented", fy_floor_divide(v, 2));
        IS("RemainderBackward1", fy_remainder(v, fy_ones((3))));
        IS("RemainderBackward0", fy_remainder(v, 2));
        IS("LerpBackward0", fy_lerp(v, v, 0.5));
        IS("LerpBackward1", fy_lerp(v, v, v));
        IS("NativeLayerNormBackward0", fy_layer_norm(m, (3), .weight = v, .bias = v));
        IS("NativeLayerNormBackward0", fy_layer_norm(b, (3, 3)));
        IS("MseLossBackward0", fy_mse_loss(m, x));
        IS("MseLossBackward0", fy_mse_loss(m, x, .reduction = FY_NONE));
        IS("NllLossBackward0", fy_cross_entropy(m, i));
        IS("NllLossBackward0", fy_cross_entropy(m, i, .reduction = FY_SUM));
        IS("AddBackward0", fy_cross_entropy(m, i, .label_smoothing = 0.1));
        IS("DivBackward1", fy_cross_entropy(m, x));
        IS("NllLoss2DBackward0", fy_cross_entropy(b, fy_zeros((2, 3), .dtype = FY_INT64)));
    }
}

TEST(products_have_the_names_of_current_pytorch)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *v = fy_rand((3), .requires_grad = true), *m = fy_rand((3, 3), .requires_grad = true);
        fy_tensor *b = fy_rand((2, 3, 3), .requires_grad = true), *x = fy_ones((3, 3));
        IS("DotBackward0", fy_matmul(v, v));
        IS("MvBackward0", fy_matmul(m, v));
        IS("SqueezeBackward4", fy_matmul(v, m));
        IS("MmBackward0", fy_matmul(m, m));
        IS("UnsafeViewBackward0", fy_matmul(b, v));
        IS("UnsafeViewBackward0", fy_matmul(b, m));
        IS("UnsafeViewBackward0", fy_matmul(b, b));
        IS("UnsafeViewBackward0", fy_matmul(x, b));
        IS("CloneBackward0", fy_matmul(m, b));
        IS("BmmBackward0", fy_bmm(b, b));
        IS("AddmmBackward0", fy_linear(m, m, v));
        IS("ViewBackward0", fy_linear(b, m, v));
        IS("AddBackward0", fy_linear(fy_transpose(b, 0, 1), m, v));
        IS("AddBackward0", fy_linear(v, m, v));
    }
}

TEST(a_base_written_through_a_view_is_of_copyslices)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = fy_ones((2, 2), .requires_grad = true), *v = fy_mul(w, 1), *z = fy_mul(w, 1);
        fy_mul_(fy_select(v, 0, 0), 2);
        assert_string_equal(printed(v), "tensor([[2., 2.],\n        [1., 1.]], grad_fn=<CopySlices>)\n");
        IS("CopySlices", v);
        IS("FillBackward2", fy_fill_(z, 2));
        IS("ZeroBackward0", fy_zero_(z));
        const char *name = fy_grad_fn(z);
        fy_free(z);
        assert_string_equal(name, "ZeroBackward0"); /* it outlives the tensor */
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
        cmocka_unit_test(calls_have_the_names_of_current_pytorch),
        cmocka_unit_test(products_have_the_names_of_current_pytorch),
        cmocka_unit_test(a_base_written_through_a_view_is_of_copyslices),
        cmocka_unit_test(long_tensors_are_cut_in_every_dimension),
        cmocka_unit_test(one_element_of_each_dtype_is_a_double),
    };
    int failed = cmocka_run_group_tests_name("print", tests, NULL, NULL);
    recorded_end();
    return failed;
}
