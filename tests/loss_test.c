/* loss_test.c: the losses on the CPU and on the card, in all shapes, and their errors. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"
#include "values.h"

static const fy_dtype floats[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
static const double parts[] = {1e-6, 1e-7, 2e-3, 1.6e-2};

static void cross_entropy_of_classes(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 4; t++) {
            fy_tensor *z = fy_view(OF(d, floats[t], 0.5, -1.0, 2.0, 1.0, 1.0, -3.0), (2, 3));
            fy_tensor *class = fy_to(fy_tensor((2, 0)), d), *one = fy_to(fy_tensor((2, -100)), d);
            NEARLY(parts[t], fy_cross_entropy(z, class), 0.47178731);
            NEARLY(parts[t], fy_cross_entropy(z, class, .reduction = FY_SUM), 0.94357463);
            NEARLY(parts[t], fy_cross_entropy(z, class, .reduction = FY_NONE), 0.2413113, 0.70226332);
            NEARLY(parts[t], fy_cross_entropy(z, one), 0.2413113); /* the mean of one row */
            NEARLY(parts[t], fy_cross_entropy(z, one, .reduction = FY_NONE), 0.2413113, 0);
            NEARLY(parts[t], fy_cross_entropy(z, class, .label_smoothing = 0.1), 0.61345398);
            GIVES(fy_cross_entropy(z, fy_full((2), -100, .dtype = FY_INT64, .device = d)), NAN);
            GIVES(fy_cross_entropy(z, fy_full((2), -100, .dtype = FY_INT64, .device = d), .reduction = FY_SUM), 0);
            NEARLY(parts[t], fy_cross_entropy(fy_select(z, 0, 0), fy_to(fy_full((), 1), d)), 3.24131131);
            assert_int_equal(fy_dtype_of(fy_cross_entropy(z, class)), floats[t]);
        }
    }
}

/* (N, C, d): each position is a row of its own. */
static void cross_entropy_of_points(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *rows = fy_to(fy_randn((2, 4, 3)), d), *points = fy_transpose(rows, 1, 2);
        fy_tensor *class = fy_to(fy_view(fy_tensor((0, 1, 2, 2, 1, 0, 1, 1)), (2, 4)), d);
        fy_tensor *one = fy_cross_entropy(fy_reshape(rows, (8, 3)), fy_view(class, (8)), .reduction = FY_NONE);
        fy_tensor *all = fy_cross_entropy(points, class, .reduction = FY_NONE);
        assert_int_equal(fy_dim(all), 2);
        for (int64_t i = 0; i < 8; i++) NEARLY(1e-5, fy_select(fy_view(all, (8)), 0, i), fy_item(fy_select(one, 0, i)));
    }
}

static void cross_entropy_of_probabilities(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *z = fy_view(OF(d, FY_FLOAT32, 0.5, -1.0, 2.0, 1.0, 1.0, -3.0), (2, 3));
        fy_tensor *sure = fy_view(OF(d, FY_FLOAT32, 0, 0, 1, 1, 0, 0), (2, 3));
        NEARLY(1e-6, fy_cross_entropy(z, sure), 0.47178731);
        NEARLY(1e-6, fy_cross_entropy(z, sure, .reduction = FY_NONE), 0.2413113, 0.70226332);
        NEARLY(1e-6, fy_cross_entropy(z, sure, .label_smoothing = 0.1), 0.61345398);
    }
}

static void squares_of_differences(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *a = OF(d, FY_FLOAT32, 1, 2, 4), *b = OF(d, FY_FLOAT64, 1, 0, 1);
        GIVES(fy_mse_loss(a, b, .reduction = FY_NONE), 0, 4, 9);
        GIVES(fy_mse_loss(a, b, .reduction = FY_SUM), 13);
        assert_int_equal(fy_dtype_of(fy_mse_loss(a, b)), FY_FLOAT64);
        GIVES(fy_mse_loss(a, OF(d, FY_BOOL, 1, 1, 0), .reduction = FY_NONE), 0, 1, 16);
        GIVES(fy_mse_loss(fy_expand(a, (2, 3)), a), 0);
        GIVES(fy_mse_loss(fy_zeros((0), .device = d), fy_zeros((0), .device = d)), NAN);
    }
}

static void what_losses_refuse_before_anything_runs(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *z = fy_zeros((2, 3)), *points = fy_zeros((2, 3, 4)), *picture = fy_zeros((2, 3, 4, 5));
        fy_tensor *class = fy_tensor((0, 3)), *three = fy_tensor((0, 1, 2)), *real = fy_tensor((0.0, 1.0));
        fy_tensor *on_card = fy_to(z, "cuda"), *row = fy_zeros((3)), *row_away = fy_to(row, "cuda"),
                  *one = fy_full((), 1);
        fy_tensor *target = fy_tensor((0, 1)), *single = fy_tensor((0)), *like = fy_zeros((2, 3), .dtype = FY_INT64);
        FAILS_ALONE(fy_cross_entropy(z, class), "Target 3 is out of bounds.");
        FAILS_ALONE(fy_mse_loss(z, z, .reduction = (fy_reduction)9), "9 is not a valid value for reduction");
        FAILS_ALONE(fy_cross_entropy(z, three), "Expected input batch_size (2) to match target batch_size (3).");
        FAILS_ALONE(fy_cross_entropy(z, real), "expected scalar type Long but found Float");
        FAILS_ALONE(fy_cross_entropy(row, single), "size mismatch (got input: [3], target: [1])");
        FAILS_ALONE(fy_cross_entropy(points, class), "Expected target size [2, 4], got [2]");
        FAILS_ALONE(fy_cross_entropy(picture, class),
                    "only batches of spatial targets supported (3D tensors) but got targets of "
                    "dimension: 1");
        FAILS_ALONE(fy_cross_entropy(z, like),
                    "Expected floating point type for target with class probabilities, got Long");
        FAILS_ALONE(fy_cross_entropy(z, target, .label_smoothing = 1.5),
                    "label_smoothing must be between 0.0 and 1.0. Got: 1.5");
        FAILS_ALONE(fy_cross_entropy(on_card, target), "Expected all tensors to be on the same device");
        FAILS_ALONE(fy_cross_entropy(row_away, one), "Expected all tensors to be on the same device");
        FAILS_ALONE(fy_mse_loss(class, class), "\"mse_cpu\" not implemented for 'Long'");
        FAILS_ALONE(fy_mse_loss(z, real), "The size of tensor a (3) must match the size of tensor b (2)");
    }
}

/* The card does not check in advance: the kernel asserts, and a later wait reports it. The card then is unusable. */
static void a_class_that_is_not_there_stops_the_card(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *z = fy_zeros((300, 3), .device = "cuda"), *class = fy_zeros((300), .dtype = FY_INT64);
        fy_fill_(fy_narrow(class, 0, 290, 2), 3);
        fy_tensor *loss = fy_cross_entropy(z, fy_cuda(class), .reduction = FY_NONE);
        if (loss) fy_cuda_synchronize();
        assert_non_null(strstr(fy_error(), "CUDA error: device-side assert triggered: nll_loss.cu:"));
        assert_true(failed_with("block: [1,0,0], thread: [34,0,0] Assertion"));
        fy_cuda_synchronize();
        assert_true(failed_with("CUDA error: device-side assert triggered"));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cross_entropy_of_classes),
        cmocka_unit_test(cross_entropy_of_points),
        cmocka_unit_test(cross_entropy_of_probabilities),
        cmocka_unit_test(squares_of_differences),
        cmocka_unit_test(what_losses_refuse_before_anything_runs),
        cmocka_unit_test(a_class_that_is_not_there_stops_the_card),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
