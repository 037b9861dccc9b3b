/* Gradient scaling: the scale, its growth and its halving, steps left out, what is copied home, and misuse. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "recorded.h"

#define TEST(name) static void name(void **state)

static fy_tensor *weights(const char *device)
{
    return fy_tensor((1, 2), .dtype = FY_FLOAT32, .device = device, .requires_grad = true);
}

/* One iteration: the gradient of sum(factor * w) is the factor. True if the optimizer stepped. */
static bool iterate(fy_grad_scaler *s, fy_optimizer *o, fy_tensor *w, double factor)
{
    bool stepped = false;
    FY_SCOPE
    {
        fy_zero_grad(o);
        assert_true(fy_backward(fy_scaler_scale(s, fy_sum(fy_mul(w, factor)))));
        stepped = fy_scaler_step(s, o);
        assert_true(fy_scaler_update(s));
    }
    return stepped;
}

TEST(a_step_is_that_of_the_unscaled_gradient)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *w = weights("cuda"), *loss = fy_sum(fy_mul(w, w));
        fy_optimizer *o = fy_optim_sgd((w), .lr = 0.25);
        assert_true(fy_scaler_get_scale(s) == 65536);
        fy_tensor *scaled = fy_scaler_scale(s, loss);
        assert_true(fy_item(scaled) == 5 * 65536.0);
        assert_true(fy_backward(scaled));
        assert_true(HOLDS(fy_grad(w), 2 * 65536.0, 4 * 65536.0));
        assert_true(fy_scaler_step(s, o));
        assert_true(HOLDS(fy_grad(w), 2, 4));
        assert_true(HOLDS(w, 0.5, 1));
        assert_true(fy_scaler_update(s));
        assert_true(fy_scaler_get_scale(s) == 65536);
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
    }
}

TEST(an_infinite_gradient_skips_the_step_and_halves_the_scale)
{
    (void)state;
    double bad[] = {INFINITY, -INFINITY, NAN, 1e35}; /* the last overflows once it is scaled */
    FY_SCOPE for (int i = 0; i < 4; i++)
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *w = weights("cuda");
        fy_optimizer *o = fy_optim_sgd((w), .lr = 0.25);
        assert_false(iterate(s, o, w, bad[i]));
        assert_null(fy_error());
        assert_true(HOLDS(w, 1, 2));
        assert_true(fy_scaler_get_scale(s) == 32768);
        assert_true(iterate(s, o, w, 4));
        assert_true(HOLDS(w, 0, 1));
        assert_true(fy_scaler_get_scale(s) == 32768);
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
    }
}

TEST(good_steps_in_a_row_double_the_scale)
{
    (void)state;
    fy_grad_scaler *s = fy_amp_grad_scaler(.growth_interval = 3, .init_scale = 8), *usual = fy_amp_grad_scaler();
    fy_tensor *w = weights("cpu");
    fy_optimizer *o = fy_optim_sgd((w), .lr = 0);
    double factors[] = {1, 1, NAN, 1, 1, 1, 1}, scales[] = {8, 8, 4, 4, 4, 8, 8};
    for (int i = 0; i < 7; i++) {
        iterate(s, o, w, factors[i]);
        assert_true(fy_scaler_get_scale(s) == scales[i]);
    }
    for (int i = 0; i < 1999; i++) iterate(usual, o, w, 1);
    assert_true(fy_scaler_get_scale(usual) == 65536);
    iterate(usual, o, w, 1);
    assert_true(fy_scaler_get_scale(usual) == 131072);
    fy_optimizer_free(o);
    fy_grad_scaler_free(s);
    fy_grad_scaler_free(usual);
    fy_free(w);
}

/* 2^-12 * 2^-14 is below the smallest float16. */
TEST(small_gradients_survive_in_float16)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *x = fy_full((1, 1), 0x1p-12, .device = "cuda");
        fy_tensor *w = fy_ones((1, 1), .device = "cuda", .requires_grad = true), *loss = NULL;
        fy_optimizer *o = fy_optim_sgd((w), .lr = 0x1p26);
        for (int with = 0; with < 2; with++) {
            FY_AUTOCAST("cuda") loss = fy_mul(fy_to(fy_sum(fy_matmul(x, w)), FY_FLOAT32), 0x1p-14);
            fy_zero_grad(o);
            fy_backward(with ? fy_scaler_scale(s, loss) : loss);
            if (!with) assert_true(HOLDS(fy_grad(w), 0));
        }
        assert_true(fy_scaler_step(s, o));
        assert_true(HOLDS(fy_grad(w), 0x1p-26) && HOLDS(w, 0));
        assert_true(fy_scaler_update(s));
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
    }
}

TEST(one_number_comes_home_however_many_parameters)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *w = weights("cuda"), *v = weights("cuda");
        fy_optimizer *o = fy_optim_sgd((w, v), .lr = 0.25);
        fy_backward(fy_scaler_scale(s, fy_sum(fy_mul(w, v))));
        since();
        assert_true(fy_scaler_unscale_(s, o));
        assert_null(event_of("copy", 0)); /* nothing waits yet */
        assert_null(event_of("sync", 0));
        assert_true(HOLDS(fy_grad(w), 1, 2));
        since();
        assert_true(fy_scaler_step(s, o));
        assert_string_equal(text_of(event_of("copy", 0), "dir"), "d2h");
        assert_string_equal(text_of(event_of("copy", 0), "why"), "item");
        assert_int_equal(number_of(event_of("copy", 0), "bytes"), 4);
        assert_null(event_of("copy", 1));
        assert_true(number_of(event_of("copy", 0), "held") > 0);
        since();
        assert_true(fy_scaler_update(s));
        assert_null(event_of("copy", 0));
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
    }
}

TEST(each_device_is_checked)
{
    (void)state;
    for (int bad = 0; bad < 3; bad++) FY_SCOPE
        {
            fy_grad_scaler *s = fy_amp_grad_scaler();
            fy_tensor *a = weights("cuda:0"), *b = weights("cuda:1"), *c = weights("cpu");
            fy_optimizer *o = fy_optim_sgd((a, b, c), .lr = 1);
            fy_tensor *loss = fy_cpu(fy_sum(fy_mul(a, bad == 0 ? INFINITY : 1)));
            loss = fy_add(loss, fy_cpu(fy_sum(fy_mul(b, bad == 1 ? INFINITY : 1))));
            fy_backward(fy_scaler_scale(s, fy_add(loss, fy_sum(fy_mul(c, 1)))));
            since();
            assert_int_equal(fy_scaler_step(s, o), bad == 2);
            assert_non_null(event_of("copy", 1));
            assert_null(event_of("copy", 2));
            assert_true(fy_scaler_update(s));
            assert_true(fy_scaler_get_scale(s) == (bad == 2 ? 65536 : 32768));
            fy_optimizer_free(o);
            fy_grad_scaler_free(s);
        }
}

TEST(gradients_are_clipped_after_they_are_unscaled)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *w = weights("cuda"), *factors = fy_tensor((3, 4), .dtype = FY_FLOAT32, .device = "cuda");
        fy_optimizer *o = fy_optim_sgd((w), .lr = 1);
        fy_backward(fy_scaler_scale(s, fy_sum(fy_mul(w, factors))));
        assert_true(fy_scaler_unscale_(s, o));
        assert_true(fy_item(fy_clip_grad_norm_((w), 1)) == 5);
        assert_true(fy_scaler_step(s, o));
        assert_true(fabs(element(w, 0) - 0.4) < 1e-5 && fabs(element(w, 1) - 1.2) < 1e-5);
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
    }
}

TEST(a_scaler_that_is_disabled_does_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler(.disabled = true);
        fy_tensor *w = weights("cuda"), *loss = fy_sum(fy_mul(w, INFINITY));
        fy_optimizer *o = fy_optim_sgd((w), .lr = 1);
        assert_ptr_equal(fy_scaler_scale(s, loss), loss);
        fy_backward(loss);
        since();
        assert_true(fy_scaler_step(s, o) && fy_scaler_update(s));
        assert_null(event_of("copy", 0));
        assert_true(fy_scaler_get_scale(s) == 1);
        assert_true(isinf(element(w, 0)));
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
    }
}

TEST(calls_out_of_order_are_errors_in_pytorchs_words)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *w = weights("cuda");
        fy_optimizer *o = fy_optim_sgd((w), .lr = 1);
        assert_false(fy_scaler_step(s, o));
        assert_true(failed_with("Attempted step but _scale is None"));
        assert_false(fy_scaler_update(s));
        assert_true(failed_with("No inf checks were recorded prior to update."));
        fy_tensor *loss = fy_scaler_scale(s, fy_sum(w));
        assert_false(fy_scaler_step(s, o));
        assert_true(failed_with("No inf checks were recorded for this optimizer."));
        assert_false(fy_scaler_update(s)); /* the step that failed changed nothing */
        assert_true(failed_with("No inf checks were recorded prior to update."));
        fy_grad_scaler *other = fy_amp_grad_scaler();
        fy_backward(loss, .retain_graph = true);
        fy_backward(fy_scaler_scale(other, fy_sum(w)));
        assert_true(fy_scaler_unscale_(other, o));
        assert_false(fy_scaler_unscale_(other, o));
        assert_true(failed_with("unscale_() has already been called on this optimizer since the last update()."));
        assert_true(fy_scaler_step(other, o));
        assert_false(fy_scaler_step(other, o));
        assert_true(failed_with("step() has already been called since the last update()."));
        assert_false(fy_scaler_unscale_(other, o));
        assert_true(failed_with("unscale_() is being called after step()."));
        assert_false(fy_scaler_step(other, NULL));
        fy_clear_error();
        fy_optimizer_free(o);
        assert_false(fy_scaler_step(other, o));
        assert_true(failed_with("o was already freed"));
        fy_grad_scaler_free(s);
        assert_false(fy_scaler_update(s));
        assert_true(failed_with("s was already freed"));
        fy_grad_scaler_free(other);
    }
}

TEST(float16_gradients_and_bad_factors_are_refused)
{
    (void)state;
    FY_SCOPE
    {
        fy_grad_scaler *s = fy_amp_grad_scaler();
        fy_tensor *w = fy_ones((2), .dtype = FY_FLOAT16, .device = "cuda", .requires_grad = true);
        fy_optimizer *o = fy_optim_sgd((w), .lr = 1);
        fy_backward(fy_scaler_scale(s, fy_sum(fy_mul(w, 0.125))));
        assert_false(fy_scaler_step(s, o));
        assert_true(failed_with("Attempting to unscale FP16 gradients."));
        fy_optimizer_free(o);
        fy_grad_scaler_free(s);
        assert_null(fy_amp_grad_scaler(.growth_factor = 1));
        assert_true(failed_with("The growth factor must be > 1.0."));
        assert_null(fy_amp_grad_scaler(.backoff_factor = 1));
        assert_true(failed_with("The backoff factor must be < 1.0."));
        assert_null(fy_amp_grad_scaler(.init_scale = -1));
        assert_true(failed_with("the initial scale must be a positive number"));
        assert_null(fy_amp_grad_scaler(.init_scale = 1e39)); /* the scale is a float32 */
        assert_true(failed_with("the initial scale must be a positive number of float32, but got 1e+39"));
        assert_null(fy_amp_grad_scaler(.growth_interval = -1));
        assert_true(failed_with("the growth interval must be positive"));
    }
}

TEST(a_scaler_leaves_no_bytes_behind)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *w = weights("cuda");
        fy_optimizer *o = fy_optim_sgd((w), .lr = 1);
        fy_grad_scaler *s = fy_amp_grad_scaler();
        iterate(s, o, w, 1);
        int64_t after_one = fy_cuda_memory_allocated("cuda:0");
        for (int i = 0; i < 5; i++) iterate(s, o, w, i == 3 ? NAN : 1);
        assert_int_equal(fy_cuda_memory_allocated("cuda:0"), after_one);
        fy_backward(fy_scaler_scale(s, fy_sum(w)));
        int64_t before = fy_cuda_memory_allocated("cuda:0");
        fy_scaler_unscale_(s, o);
        fy_grad_scaler_free(s);
        assert_int_equal(fy_cuda_memory_allocated("cuda:0"), before);
        fy_optimizer_free(o);
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_SIM", "laptop:gpus=2", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_that_of_the_unscaled_gradient),
        cmocka_unit_test(an_infinite_gradient_skips_the_step_and_halves_the_scale),
        cmocka_unit_test(good_steps_in_a_row_double_the_scale),
        cmocka_unit_test(small_gradients_survive_in_float16),
        cmocka_unit_test(one_number_comes_home_however_many_parameters),
        cmocka_unit_test(each_device_is_checked),
        cmocka_unit_test(gradients_are_clipped_after_they_are_unscaled),
        cmocka_unit_test(a_scaler_that_is_disabled_does_nothing),
        cmocka_unit_test(calls_out_of_order_are_errors_in_pytorchs_words),
        cmocka_unit_test(float16_gradients_and_bad_factors_are_refused),
        cmocka_unit_test(a_scaler_leaves_no_bytes_behind),
    };
    int failed = cmocka_run_group_tests_name("grad_scaler", tests, NULL, NULL);
    recorded_end();
    return failed;
}
