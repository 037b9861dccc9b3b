/* reduce_test.c: reductions on the CPU and on the card: of empty tensors and NaN, every dtype, any dimensions of any
 * layout, and a fixed order of summation. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "half.h"
#include "tensor.h"
#include "values.h"

static void nothing_is_added_up_to_nothing(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *none = fy_zeros((0), .device = d), *rows = fy_zeros((2, 0), .device = d);
        GIVES(fy_sum(none), 0);
        GIVES(fy_prod(none), 1);
        GIVES(fy_mean(none), NAN);
        GIVES(fy_var(none), NAN);
        GIVES(fy_any(none), 0);
        GIVES(fy_all(none), 1);
        GIVES(fy_sum(rows, (1)), 0, 0);
        GIVES(fy_all(rows, (1)), 1, 1);
        assert_int_equal(fy_numel(fy_max(rows, (0))), 0);
        assert_int_equal(fy_numel(fy_sum(rows, (0))), 0);
    }
}

/* PyTorch then looks for no kernel. */
static void what_compares_nothing_takes_any_dtype(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        GIVES(fy_argmax(OF(d, FY_BOOL, 1), (0)), 0);
        GIVES(fy_argmin(fy_ones((3, 1), .dtype = FY_BOOL, .device = d), (-1)), 0, 0, 0);
        assert_int_equal(fy_numel(fy_argmax(fy_ones((0, 3), .dtype = FY_BOOL, .device = d), (1))), 0);
        fy_tensor *none = fy_softmax(fy_ones((2, 0), .dtype = FY_INT64, .device = d), 0);
        assert_int_equal(fy_dtype_of(none), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_log_softmax(fy_ones((0), .dtype = FY_BOOL, .device = d), 0)), FY_BOOL);
    }
}

static void one_nan_is_the_largest_and_the_smallest(void **state)
{
    (void)state;
    static const fy_dtype floats[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 4; t++) {
            fy_tensor *x = OF(d, floats[t], 1.0, NAN, 5.0, NAN), *i = NULL;
            GIVES(fy_max(x), NAN);
            GIVES(fy_min(x), NAN);
            GIVES(fy_argmax(x), 1);
            GIVES(fy_argmin(x), 1);
            GIVES(fy_max(fy_view(x, (2, 2)), (1), .indices = &i), NAN, NAN);
            GIVES(i, 1, 1);
            GIVES(fy_sum(x), NAN);
            assert_int_equal(fy_dtype_of(fy_max(x)), floats[t]);
        }
        GIVES(fy_argmax(OF(d, FY_FLOAT32, -INFINITY, -INFINITY)), 0);
        GIVES(fy_max(OF(d, FY_FLOAT32, -INFINITY, -INFINITY)), -INFINITY);
    }
}

static void the_first_of_equals_is_the_one(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = fy_zeros((3, 1000), .device = d, .dtype = FY_INT32);
        fy_fill_(fy_select(x, 1, 700), 4);
        fy_fill_(fy_select(x, 1, 300), 4);
        GIVES(fy_argmax(x, (1)), 300, 300, 300);
        GIVES(fy_argmax(x), 300);
        GIVES(fy_argmin(x, (1)), 0, 0, 0);
        GIVES(fy_argmax(fy_t(x)), 900); /* index in row-major order of the view */
    }
}

static void integers_are_summed_in_64_bits_by_default(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *u = OF(d, FY_UINT8, 200, 100, 3), *i = OF(d, FY_INT64, 9223372036854775807LL, 1),
                  *mask = OF(d, FY_BOOL, 1, 1, 0);
        assert_int_equal(fy_dtype_of(fy_sum(u)), FY_INT64);
        GIVES(fy_sum(u), 303);
        GIVES(fy_sum(u, (), .dtype = FY_UINT8), 47);
        GIVES(fy_prod(u), 60000);
        GIVES(fy_prod(u, (), .dtype = FY_UINT8), 96);
        GIVES(fy_sum(i), -9223372036854775808.0);
        GIVES(fy_sum(mask), 2);
        GIVES(fy_sum(mask, (), .dtype = FY_BOOL), 1);
        GIVES(fy_mean(u, (), .dtype = FY_FLOAT32), 101);
        assert_int_equal(fy_dtype_of(fy_any(u)), FY_UINT8); /* PyTorch's one exception */
        assert_int_equal(fy_dtype_of(fy_all(mask)), FY_BOOL);
        GIVES(fy_max(mask), 1);
        GIVES(fy_min(OF(d, FY_INT64, -9223372036854775807LL - 1, 5)), -9223372036854775808.0);
    }
}

static void sixteen_bits_are_added_up_in_more(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *ones = fy_ones((4096), .dtype = FY_FLOAT16, .device = d);
        GIVES(fy_sum(ones), 4096); /* adding 1 to 2048 in float16 would stay at 2048 */
        GIVES(fy_sum(fy_ones((1000), .dtype = FY_BFLOAT16, .device = d)), 1000);
        GIVES(fy_mean(fy_full((2000), 100, .dtype = FY_FLOAT16, .device = d)), 100); /* the sum is beyond float16 */
        GIVES(fy_sum(fy_full((2000), 100, .dtype = FY_FLOAT16, .device = d)), INFINITY);
    }
}

/* The same number many times: all rounding errors have the same sign. */
static void ten_million_tenths_err_by_less_than_a_millionth(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        const int64_t n = 10000000;
        const double tenth = (double)0.1f;
        fy_tensor *x = fy_full((n), 0.1, .device = d), *rows = fy_view(x, (2, n / 2));
        NEARLY(1e-6, fy_sum(x), (double)n * tenth);
        NEARLY(1e-6, fy_mean(x), tenth);
        NEARLY(1e-6, fy_sum(rows, (1)), (double)n / 2 * tenth, (double)n / 2 * tenth);
        NEARLY(1e-6, fy_sum(fy_slice(x, 0, 0, n, 3)), (double)((n + 2) / 3) * tenth);
        fy_tensor *half = fy_full((600000), 0.1, .dtype = FY_FLOAT16, .device = d);
        NEARLY(1e-3, fy_sum(half), 60000);
        NEARLY(1e-3, fy_mean(half), 0.1);
        NEARLY(1e-2, fy_sum(fy_to(x, FY_BFLOAT16)), 1000000);
    }
}

/* Several blocks per result, each with a partial result, and a second pass over these. */
static void whole_reductions_of_many_elements(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        const int64_t n = 300007;
        fy_tensor *x = fy_arange((n), .device = d), *y = fy_to(x, FY_FLOAT64), *ones = fy_ones_like(x);
        fy_tensor *two = fy_view(fy_narrow(x, 0, 0, 300000), (2, 150000)), *i = NULL;
        GIVES(fy_sum(x), (double)(n * (n - 1) / 2));
        GIVES(fy_sum(two, (1)), 150000.0 * 149999 / 2, 150000.0 * 149999 / 2 + 150000.0 * 150000);
        GIVES(fy_max(two, (1), .indices = &i), 149999, 299999);
        GIVES(i, 149999, 149999);
        GIVES(fy_argmax(x), (double)(n - 1));
        GIVES(fy_argmin(x), 0);
        GIVES(fy_argmax(ones), 0); /* the first of equal values */
        GIVES(fy_prod(ones), 1);
        GIVES(fy_all(x), 0);
        GIVES(fy_any(fy_eq(x, 299999)), 1);
        NEARLY(1e-12, fy_mean(y), (double)(n - 1) / 2);
        NEARLY(1e-12, fy_var(y), (double)n * (double)(n + 1) / 12);
        NEARLY(1e-5, fy_var(fy_add(fy_to(fy_remainder(x, 2), FY_FLOAT32), 1000)), 0.25);
        fy_fill_(fy_narrow(y, 0, 250000, 1), NAN);
        GIVES(fy_max(y), NAN);
        GIVES(fy_argmin(y), 250000);
    }
}

static void the_variance_divides_by_one_less(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = OF(d, FY_FLOAT32, 1, 2, 3, 4, 1000001, 1000002, 1000003, 1000006), *m = fy_view(x, (2, 4));
        GIVES(fy_var(m, (1), .biased = true), 1.25, 3.5);
        GIVES(fy_var(fy_narrow(x, 0, 0, 1)), NAN);
        GIVES(fy_var(fy_narrow(x, 0, 0, 1), (), .biased = true), 0);
        fy_tensor *large = fy_full((300), 1e6, .device = d);
        GIVES(fy_var(large), 0);
        GIVES(fy_var(OF(d, FY_FLOAT32, 1, 2, INFINITY)), NAN);
    }
}

/* Element (i, j, k) of (4, 5, 6) is 30 i + 6 j + k. */
static void any_dimensions_of_any_layout(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = fy_to(fy_view(fy_arange((120)), (4, 5, 6)), d);
        GIVES(fy_sum(x, (0, 2)), 1140, 1284, 1428, 1572, 1716);
        GIVES(fy_sum(fy_permute(x, (2, 0, 1)), (1, 0)), 1140, 1284, 1428, 1572, 1716);
        GIVES(fy_sum(fy_permute(x, (1, 2, 0)), (-1, -2)), 1140, 1284, 1428, 1572, 1716);
        GIVES(fy_max(fy_slice(x, 0, 0, 4, 2), (0)), 60, 61, 62, 63, 64, 65, 66, 67, 68, 69, 70, 71, 72, 73, 74, 75, 76,
              77, 78, 79, 80, 81, 82, 83, 84, 85, 86, 87, 88, 89);
        GIVES(fy_sum(fy_expand(fy_narrow(x, 2, 1, 1), (4, 5, 3)), (0, 1)), 1160, 1160, 1160);
        fy_tensor *kept = fy_mean(fy_to(x, FY_FLOAT32), (1), .keepdim = true);
        assert_int_equal(fy_dim(kept), 3);
        assert_int_equal(fy_size(kept, 1), 1);
        assert_int_equal(fy_stride(kept, 0), 6);
        GIVES(fy_argmax(fy_permute(x, (2, 0, 1)), (0)), 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5);
    }
}

/* Long enough for chunks, and for several threads. */
static void large_sums_are_as_exact_as_small_ones(void **state)
{
    enum { N = 1 << 20 };
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_full((N), 0.1), *i = fy_arange((N));
        assert_true(fabs(fy_item(fy_sum(x)) / (N * (double)0.1f) - 1) < 1e-6);
        GIVES(fy_sum(i), (double)N * (N - 1) / 2);
        GIVES(fy_max(i), N - 1);
        GIVES(fy_argmax(i), N - 1);
        GIVES(fy_argmin(fy_neg(i)), N - 1);
        GIVES(fy_sum(fy_view(i, (N / 2, 2)), (0)), (double)(N / 2 - 1) * N / 2, (double)N / 2 * N / 2);
        GIVES(fy_any(fy_eq(i, N - 1)), 1);
        GIVES(fy_all(fy_lt(i, N - 1)), 0);
    }
}

/* The sum of a million floats, exactly, with this many threads. */
static int sum_with(const char *threads)
{
    int bits = 0, ends[2];
    assert_int_equal(pipe(ends), 0);
    if (fork() == 0) {
        setenv("FERRY_THREADS", threads, 1);
        fy_manual_seed(7);
        float sum = (float)fy_item(fy_sum(fy_rand((1 << 20))));
        if (write(ends[1], &sum, sizeof sum) != sizeof sum) _exit(1);
        _exit(0);
    }
    assert_int_equal(read(ends[0], &bits, sizeof bits), sizeof bits);
    wait(NULL);
    close(ends[0]);
    close(ends[1]);
    return bits;
}

/* First, before this process has a thread pool. */
static void the_order_of_a_sum_hangs_on_no_machine(void **state)
{
    (void)state;
    int alone = sum_with("1");
    assert_int_equal(sum_with("2"), alone);
    assert_int_equal(sum_with("5"), alone);
}

/* An explicit p differs from the default, also 0. */
static void every_p_has_its_norm(void **state)
{
    (void)state;
    static const fy_dtype floats[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
    ON_BOTH(d)
    for (size_t t = 0; t < 4; t++) {
        fy_tensor *x = OF(d, floats[t], 3.0, -4.0, 0.0, -0.0);
        assert_int_equal(fy_dtype_of(fy_norm(x)), floats[t]);
        GIVES(fy_norm(x), 5);
        GIVES(fy_norm(x, (), .keepdim = true), 5);
        GIVES(fy_norm(x, (), .p = 0), 2);
        GIVES(fy_norm(x, (0), .p = 1), 7);
        GIVES(fy_norm(x, (0), .p = INFINITY), 4);
        GIVES(fy_norm(x, (0), .p = -INFINITY), 0);
        GIVES(fy_norm(x, (0), .p = -1), 0);
        GIVES(fy_norm(fy_view(x, (2, 2)), (1), .p = 1), 7, 0);
        GIVES(fy_norm(fy_t(fy_view(x, (2, 2))), (1), .p = 4), 3, 4);
        GIVES(fy_norm(OF(d, floats[t], NAN, 1.0), (), .p = INFINITY), NAN);
        GIVES(fy_norm(OF(d, floats[t], 1.0, NAN), (), .p = -INFINITY), NAN);
        GIVES(fy_norm(OF(d, floats[t], NAN, 0.0), (), .p = 0), 1);
        GIVES(fy_norm(fy_zeros((0), .dtype = floats[t], .device = d)), 0);
    }
    FY_SCOPE
    {
        GIVES(fy_norm(fy_ones((1 << 20), .device = "cuda")), 1024); /* with several blocks */
        GIVES(fy_norm(fy_ones((1 << 20))), 1024);
        GIVES(fy_norm(fy_ones((300, 3), .device = "cuda"), (0), .p = INFINITY), 1, 1, 1);
        GIVES(fy_norm(fy_full((2), 40000, .dtype = FY_FLOAT16), (), .p = 1), INFINITY); /* in float16 */
        GIVES(fy_norm(fy_full((2), 300, .dtype = FY_FLOAT16), (), .dtype = FY_FLOAT64, .p = 1), 600);
    }
}

static void norms_that_make_no_sense_are_refused(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
#define REFUSES(call, words) \
    do { \
        assert_null(call); \
        if (!fy_error() || !strstr(fy_error(), words)) fail_msg("%s", fy_error() ? fy_error() : "no error"); \
        fy_clear_error(); \
    } while (0)
    ON_BOTH(d)
    {
        fy_tensor *none = fy_zeros((3, 0), .device = d), *whole = fy_ones((2), .dtype = FY_INT64, .device = d);
        fy_tensor *wide = fy_ones((2), .dtype = FY_FLOAT64, .device = d);
        REFUSES(fy_norm(none, (), .p = INFINITY), "cannot compute the inf norm on an empty tensor");
        REFUSES(fy_norm(none, (1), .p = -1),
                "cannot compute the -1 norm on the dimension 1 because this dimension is empty");
        assert_int_equal(fy_numel(fy_norm(none, (0), .p = INFINITY)), 0);
        REFUSES(fy_norm(whole), "linalg.vector_norm: Expected a floating point or complex tensor as input. Got Long");
        REFUSES(fy_norm(whole, (), .dtype = FY_FLOAT32),
                "Expected a floating point or complex tensor as input. Got Long");
        REFUSES(fy_norm(wide, (), .dtype = FY_INT64), "dtype should be floating point or complex, but got Long");
        REFUSES(fy_norm(wide, (), .dtype = FY_FLOAT32),
                "should be convertible without narrowing to the specified dtype (Float)");
        REFUSES(fy_norm(wide, (0, 0)), "dim 0 appears multiple times");
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_order_of_a_sum_hangs_on_no_machine),
        cmocka_unit_test(nothing_is_added_up_to_nothing),
        cmocka_unit_test(what_compares_nothing_takes_any_dtype),
        cmocka_unit_test(one_nan_is_the_largest_and_the_smallest),
        cmocka_unit_test(the_first_of_equals_is_the_one),
        cmocka_unit_test(integers_are_summed_in_64_bits_by_default),
        cmocka_unit_test(sixteen_bits_are_added_up_in_more),
        cmocka_unit_test(ten_million_tenths_err_by_less_than_a_millionth),
        cmocka_unit_test(whole_reductions_of_many_elements),
        cmocka_unit_test(the_variance_divides_by_one_less),
        cmocka_unit_test(any_dimensions_of_any_layout),
        cmocka_unit_test(large_sums_are_as_exact_as_small_ones),
        cmocka_unit_test(every_p_has_its_norm),
        cmocka_unit_test(norms_that_make_no_sense_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
