/* ternary_test.c: operations with three operands on the CPU and on the card, and the inputs of a host loop with four.
 * PyTorch's results are in the oracle's cases. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cpu.h"
#include "half.h"
#include "run_work.h"

static const char *const places[] = {"cpu", "cuda"};

/* NaN equals NaN. */
static void check_values(fy_tensor *x, int n, const double *expected, int line)
{
    if (!x) fail_msg("line %d: %s", line, fy_error());
    assert_int_equal(fy_numel(x), n);
    for (int i = 0; i < n; i++) {
        double got = fy_item(fy_select(x, 0, i)), want = expected[i];
        if (!(got == want || (isnan(got) && isnan(want)))) fail_msg("line %d: element %d is %g", line, i, got);
    }
}
#define GIVES(x, ...) \
    check_values(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__}, __LINE__)

/* The float loop needs all four contiguous: one has another layout, one is a number, one has 16 bits. */
static void sum_of_four(int64_t n, void *to, const void *const *in, const fy_run_work *w)
{
    float *out = to;
    assert_int_equal(w->nin, 4);
    for (int64_t i = 0; i < n; i++) {
        out[i] = 0;
        for (int k = 0; k < 4; k++) out[i] += ((const float *)in[k])[i];
    }
}

static void a_loop_gets_four_operands_of_any_layout(void **state)
{
    enum { ROWS = 90, COLUMNS = 70, N = ROWS * COLUMNS };
    static float across[N], plain[N], out[N];
    static fy_half row[COLUMNS];
    (void)state;
    for (int i = 0; i < N; i++) across[i] = (float)i, plain[i] = (float)(2 * i);
    for (int i = 0; i < COLUMNS; i++) row[i] = fy_half_of(i);
    const fy_layout l = {.ndim = 2, .numel = N, .shape = {ROWS, COLUMNS}, .strides = {COLUMNS, 1}};
    fy_run_work w = {.nin = 4, .dtype = FY_FLOAT32, .real = {[1] = 0.5}, .out = {out, FY_FLOAT32, l}};
    w.in[0] = (fy_operand){across, FY_FLOAT32, l}, w.in[1] = (fy_operand){.dtype = FY_FLOAT32};
    w.in[2] = (fy_operand){plain, FY_FLOAT32, l}, w.in[3] = (fy_operand){row, FY_FLOAT16, l};
    w.in[0].layout.strides[0] = 1, w.in[0].layout.strides[1] = ROWS;
    w.in[3].layout.strides[0] = 0;
    fy_map(&w, sum_of_four);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLUMNS; j++)
            assert_true(out[i * COLUMNS + j] == (float)(i + j * ROWS) + 0.5f + (float)(2 * (i * COLUMNS + j) + j));
    w.in[0].layout = l; /* now only the last operand prevents merging the two dimensions */
    fy_map(&w, sum_of_four);
    for (int i = 0; i < N; i++) assert_true(out[i] == (float)i + 0.5f + (float)(2 * i + i % COLUMNS));
}

static void a_choice_wants_a_mask_that_is_a_tensor(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((1.5, -2.0));
        assert_null(fy_where(1, x, x));
        assert_non_null(strstr(fy_error(), "where expected condition to be a boolean tensor, but got a number"));
        fy_clear_error();
        assert_null(fy_where(x, x, 0));
        assert_non_null(
            strstr(fy_error(), "where expected condition to be a boolean tensor, but got a tensor with dtype Float"));
        assert_non_null(strstr(fy_error(), "fix: a comparison gives a mask: fy_ne(x, 0)"));
        fy_clear_error();
        for (int p = 0; p < 2; p++) GIVES(fy_where(fy_to(fy_gt(x, 0), places[p]), 7, fy_to(x, places[p])), 7, -2);
    }
}

static void bounds_that_are_nan_or_cross_are_obeyed(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((NAN, -3.0, 0.5, 9.0)), places[p]);
        GIVES(fy_clamp(x, -1, 2), NAN, -1, 0.5, 2);
        GIVES(fy_clamp(x, 2, -1), NAN, -1, -1, -1);
        GIVES(fy_clamp(x, NAN, 2), NAN, NAN, NAN, NAN);
        GIVES(fy_clamp_min(x, 0), NAN, 0, 0.5, 9);
        GIVES(fy_clamp_max(x, 0.5), NAN, -3, 0.5, 0.5);
    }
}

static void check_error(int line, const char *words)
{
    if (!fy_error() || !strstr(fy_error(), words)) fail_msg("line %d: %s", line, fy_error() ? fy_error() : "no error");
    fy_clear_error();
}
#define REFUSES(call, words) \
    do { \
        assert_null(call); \
        check_error(__LINE__, words); \
    } while (0)

static void bounds_are_two_numbers_or_two_tensors(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((1.0, 2.0, 3.0)), places[p]), *one = fy_to(fy_tensor((2.0)), places[p]);
        REFUSES(fy_clamp(x, one, 3),
                "clamp() received an invalid combination of arguments - got (Tensor, Tensor, int)");
        REFUSES(fy_clamp(x, 0.5, one), "got (Tensor, float, Tensor)");
        REFUSES(fy_clamp(2.5, x, one), "got (float, Tensor, Tensor)");
        GIVES(fy_clamp(x, fy_squeeze(one), 2.5), 2, 2, 2.5);
        GIVES(fy_clamp(fy_to(x, FY_INT64), fy_to(fy_squeeze(one), FY_FLOAT64), 2.5), 2, 2, 2.5);
        assert_int_equal(fy_dtype_of(fy_clamp(fy_to(x, FY_INT64), fy_to(fy_squeeze(one), FY_FLOAT64), 2.5)),
                         FY_FLOAT32);
    }
}

/* 0.1 is 0.09998 in float16: the product would round down. */
static void a_weight_that_is_a_number_keeps_its_digits(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *far = fy_full((1), 20512, .dtype = FY_FLOAT16, .device = places[p]), *zero = fy_zeros_like(far);
        GIVES(fy_lerp(zero, far, 0.1), 2052);
        GIVES(fy_lerp(zero, far, fy_full((1), 0.1, .dtype = FY_FLOAT16, .device = places[p])), 2050);
        GIVES(fy_addcmul(zero, far, fy_ones_like(far), 0.1), 2052);
        REFUSES(fy_lerp(zero, far, fy_to(far, FY_FLOAT32)),
                "expected dtype c10::Half for `weight` but got dtype float");
        REFUSES(fy_lerp(zero, 2, 0.5),
                "lerp() received an invalid combination of arguments - got (Tensor, int, float)");
    }
}

static void a_mask_is_bool_and_lies_where_it_masks(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((1.0, 2.0, NAN)), places[p]), *mask = fy_isnan(x);
        fy_tensor *away = fy_to(mask, places[!p]), *point = fy_full((), true, .dtype = FY_BOOL, .device = places[!p]);
        GIVES(fy_masked_fill(x, mask, -2), 1, 2, -2);
        GIVES(fy_masked_fill_(x, fy_gt(x, 1), 0.5), 1, 0.5, NAN);
        REFUSES(fy_masked_fill(x, fy_to(mask, FY_INT64), 0),
                "masked_fill only supports boolean masks, but got mask with dtype long int");
        REFUSES(fy_masked_fill(x, away, 0), "Expected all tensors to be on the same device");
        REFUSES(fy_masked_fill(x, point, 0), "Expected all tensors to be on the same device");
        REFUSES(fy_masked_fill(x, mask, x),
                "masked_fill_ only supports a 0-dimensional value tensor, but got tensor with 1 dimension(s).");
        REFUSES(fy_masked_fill(fy_to(x, FY_FLOAT16), mask, 1e6),
                "value cannot be converted to type at::Half without overflow");
    }
}

static void a_value_is_a_number_of_the_result_s_type(void **state)
{
    (void)state;
    FY_SCOPE for (int p = 0; p < 2; p++)
    {
        fy_tensor *x = fy_to(fy_tensor((1, 2, 3)), places[p]), *bytes = fy_to(x, FY_UINT8);
        GIVES(fy_addcmul(x, x, x, -2), -1, -6, -15);
        GIVES(fy_addcmul(x, x, x, 0.5), 1, 2, 3);
        GIVES(fy_addcmul(bytes, bytes, bytes, 100), 101, 146, 135);
        GIVES(fy_addcdiv_(fy_to(x, FY_FLOAT64), x, fy_to(x, FY_FLOAT32)), 2, 3, 4);
        REFUSES(fy_addcmul(bytes, bytes, bytes, 300), "value cannot be converted to type uint8_t without overflow");
        REFUSES(fy_addcmul(x, x, x, x), "addcmul(): argument 'value' must be Number, not Tensor");
        REFUSES(fy_addcdiv(fy_to(x, FY_FLOAT32), x, x), "Integer division with addcdiv is no longer supported");
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    fy_on_error(FY_RETURN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_loop_gets_four_operands_of_any_layout),
        cmocka_unit_test(a_choice_wants_a_mask_that_is_a_tensor),
        cmocka_unit_test(bounds_that_are_nan_or_cross_are_obeyed),
        cmocka_unit_test(bounds_are_two_numbers_or_two_tensors),
        cmocka_unit_test(a_weight_that_is_a_number_keeps_its_digits),
        cmocka_unit_test(a_mask_is_bool_and_lies_where_it_masks),
        cmocka_unit_test(a_value_is_a_number_of_the_result_s_type),
    };
    return cmocka_run_group_tests_name("ternary", tests, NULL, NULL);
}
