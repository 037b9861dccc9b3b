/* elementwise_test.c: results of elementwise operations on the CPU and on the card: special values of each dtype,
 * layouts that need buffers, and sizes that are split among threads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "dtype.h"
#include "half.h"
#include "op.h"
#include "tensor.h"
#include "thread_pool.h"

static const char *const places[] = {"cpu", "cuda"};
static const fy_dtype all_types[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16,
                                     FY_INT64,   FY_INT32,   FY_UINT8,   FY_BOOL};

/* The tensor's values as doubles, row-major; NaN equals NaN, -0 differs from 0. */
static void check_values(fy_tensor *x, size_t n, const double *expected, int line)
{
    fy_tensor *on_host = fy_contiguous(fy_cpu(x));
    if (!x || fy_numel(on_host) != (int64_t)n) fail_msg("line %d: not %zu elements", line, n);
    for (size_t i = 0; i < n; i++) {
        double got = fy_real_at(on_host->dtype, fy_data(on_host), (int64_t)i), want = expected[i];
        if ((got != got && want != want) || (got == want && !signbit(got) == !signbit(want))) continue;
        fail_msg("line %d, %s: element %zu is %.17g, not %.17g", line, x->storage->dev->name, i, got, want);
    }
}
#define GIVES(x, ...) \
    check_values(x, sizeof((double[]){__VA_ARGS__}) / sizeof(double), (double[]){__VA_ARGS__}, __LINE__)
#define ON_BOTH(device) \
    for (size_t place_ = 0; place_ < 2; place_++) FY_SCOPE \
    for (const char *device = places[place_], *once_ = device; once_; once_ = NULL)
#define OF(d, dtype_, ...) fy_to(fy_to(fy_tensor((__VA_ARGS__)), dtype_), d)
#define DOUBLES(d, ...) fy_to(fy_tensor((__VA_ARGS__), .dtype = FY_FLOAT64), d)

static void integers_wrap_around(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *i = OF(d, FY_INT32, 2147483647, -2147483647 - 1, -1);
        GIVES(fy_add(i, 1), -2147483648.0, -2147483647.0, 0);
        GIVES(fy_sub(i, 2147483647), 0, 1, -2147483648.0);
        GIVES(fy_mul(i, i), 1, 0, 1);
        GIVES(fy_neg(i), -2147483647.0, -2147483648.0, 1);
        GIVES(fy_abs(i), 2147483647.0, -2147483648.0, 1);
        fy_tensor *u = OF(d, FY_UINT8, 0, 1, 250);
        GIVES(fy_sub(u, 1), 255, 0, 249);
        GIVES(fy_neg(u), 0, 255, 6);
        GIVES(fy_add(u, u, 3), 0, 4, 232);
        GIVES(fy_pow(u, 3), 0, 1, 40);
    }
}

static void quotients_are_rounded_down_and_remainders_have_the_divisors_sign(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 2; t++) {
            fy_tensor *a = OF(d, t ? FY_INT64 : FY_FLOAT32, 7, -7, 7, -7), *b = OF(d, a->dtype, 2, 2, -2, -2);
            GIVES(fy_floor_divide(a, b), 3, -4, -4, 3);
            GIVES(fy_remainder(a, b), 1, 1, -1, -1);
        }
        fy_tensor *x = OF(d, FY_FLOAT32, 1.0, 0.0, NAN, INFINITY, 5.0, -5.0),
                  *y = OF(d, FY_FLOAT32, 0.0, 0.0, 1.0, 1.0, INFINITY, INFINITY);
        GIVES(fy_floor_divide(x, y), INFINITY, NAN, NAN, NAN, 0, -1);
        GIVES(fy_remainder(x, y), NAN, NAN, NAN, NAN, 5, INFINITY);
        fy_tensor *large = OF(d, FY_FLOAT32, 1e30, -1e30);
        GIVES(fy_remainder(large, 7.0), fmod(1e30f, 7), 7 - fmod(1e30f, 7));
        fy_tensor *least = OF(d, FY_INT32, -2147483647 - 1);
        GIVES(fy_floor_divide(least, -1), -2147483648.0);
        GIVES(fy_remainder(least, -1), 0);
    }
}

static void a_floats_remainder_is_exact(void **state)
{
    enum { N = 4096 };
    float a[N], b[N];
    (void)state;
    srand(3);
    for (int i = 0; i < N; i++) {
        a[i] = ldexpf((float)(rand() % 20001 - 10000), rand() % 40 - 20);
        b[i] = ldexpf((float)(rand() % 2001 + 1), rand() % 30 - 15) * (rand() % 2 ? 1 : -1);
    }
    FY_SCOPE
    {
        fy_tensor *x = fy_from_blob(a, (N)), *y = fy_from_blob(b, (N));
        const float *rest = fy_data(fy_remainder(x, y)), *quotient = fy_data(fy_floor_divide(x, y));
        for (int i = 0; i < N; i++) {
            float r = fmodf(a[i], b[i]);
            if (r != 0 && (r < 0) != (b[i] < 0)) r += b[i];
            assert_true(rest[i] == r);
            double floor_of = floor((double)a[i] / (double)b[i]);
            assert_true(fabs(quotient[i] - floor_of) <= fabs(floor_of) * 1e-6);
        }
    }
}

static void integer_division_by_zero_fails_on_the_cpu_alone(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
    FY_SCOPE
    {
        fy_tensor *a = fy_tensor((1, 2, 3)), *b = fy_tensor((1, 0, 2));
        assert_null(fy_floor_divide(a, b));
        assert_non_null(strstr(fy_error(), "ZeroDivisionError"));
        assert_null(fy_remainder(a, 0));
        assert_null(fy_remainder(fy_to(a, FY_UINT8), 256)); /* 0 as uint8 */
        fy_clear_error();
        GIVES(fy_floor_divide(fy_cuda(a), fy_cuda(b)), 1, -1, 1);
        GIVES(fy_remainder(fy_cuda(a), 0), -1, -1, -1);
        GIVES(fy_remainder(a, 0.0), NAN, NAN, NAN);
        assert_int_equal(fy_numel(fy_floor_divide(fy_zeros((0), .dtype = FY_INT64), 0)), 0);
    }
    fy_on_error(FY_EXIT);
}

static void powers_of_integers_stay_integers(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        GIVES(fy_pow(OF(d, FY_INT64, 1, -1, 2, 0, -2), OF(d, FY_INT64, -3, -3, -3, -1, -1)), 1, -1, 0, 0, 0);
        GIVES(fy_pow(2, OF(d, FY_INT64, 3, -1, 62, 64)), 8, 0, 4611686018427387904.0, 0);
        GIVES(fy_pow(OF(d, FY_INT64, 3, 7), 2.0), 9, 49);
        GIVES(fy_pow(OF(d, FY_FLOAT32, 3.0, -2.0, 0.0), 2), 9, 4, 0);
    }
}

static void nan_and_the_two_zeros_keep_what_they_are(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *x = OF(d, FY_FLOAT32, NAN, -0.0, 0.0, -3.0, 2.0);
        GIVES(fy_relu(x), NAN, -0.0, 0, 0, 2);
        GIVES(fy_sign(x), 0, 0, 0, -1, 1);
        GIVES(fy_neg(x), NAN, 0, -0.0, 3, -2);
        GIVES(fy_abs(x), NAN, 0, 0, 3, 2);
        GIVES(fy_maximum(x, 1.0), NAN, 1, 1, 1, 2);
        GIVES(fy_minimum(OF(d, FY_FLOAT32, 1.0, 5.0), OF(d, FY_FLOAT32, NAN, 2.0)), NAN, 2);
        GIVES(fy_ne(x, x), 1, 0, 0, 0, 0);
        GIVES(fy_logical_not(x), 0, 1, 1, 0, 0);
        GIVES(fy_to(x, FY_BOOL), 1, 0, 0, 1, 1);
        GIVES(fy_round(OF(d, FY_FLOAT32, 0.5, 1.5, 2.5, -0.5, -1.5)), 0, 2, 2, -0.0, -2);
        GIVES(fy_sub(OF(d, FY_FLOAT32, -0.0), 1.0, 0), 0);
    }
}

static void masks_are_added_by_or_and_multiplied_by_and(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *a = OF(d, FY_BOOL, 0, 0, 1, 1), *b = OF(d, FY_BOOL, 0, 1, 0, 1);
        GIVES(fy_add(a, b), 0, 1, 1, 1);
        GIVES(fy_mul(a, b), 0, 0, 0, 1);
        GIVES(fy_maximum(a, b), 0, 1, 1, 1);
        GIVES(fy_lt(a, b), 0, 1, 0, 0);
    }
}

static void sixteen_bits_are_rounded_once(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        GIVES(fy_add(OF(d, FY_FLOAT16, 2048, 65504), OF(d, FY_FLOAT16, 1, 16)), 2048, INFINITY);
        GIVES(fy_add(OF(d, FY_BFLOAT16, 256), 1), 256);
        /* through float the first one would be a tie and round to 1 */
        fy_tensor *x = DOUBLES(d, 1 + 0x1p-11 + 0x1p-40, 1 + 0x1p-11, 65519.0, 65520.0, 0x1p-25, 0x1.8p-25);
        GIVES(fy_to(x, FY_FLOAT16), 1 + 0x1p-10, 1, 65504, INFINITY, 0, 0x1p-24);
        GIVES(fy_to(DOUBLES(d, 1 + 0x1p-8 + 0x1p-40, NAN, -1e300), FY_BFLOAT16), 1 + 0x1p-7, NAN, -INFINITY);
        GIVES(fy_to(OF(d, FY_INT64, 16777217), FY_BFLOAT16), 16777216);
    }
}

/* 65536 and 524288 are infinite in float16. PyTorch 1.13 rounded the number first on the CPU, never on a card. */
static void a_number_beside_16_bits_is_not_rounded(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        const fy_dtype h = FY_FLOAT16, b = FY_BFLOAT16;
        GIVES(fy_mul(OF(d, h, 0.01, 0), 65536), 655.5, 0);
        GIVES(fy_mul_(OF(d, h, 0.01), 65536), 655.5);
        GIVES(fy_mul(65536, fy_t(fy_view(OF(d, h, 0.01, 1, 0.01, 1), (2, 2)))), 655.5, 655.5, INFINITY, INFINITY);
        GIVES(fy_div(OF(d, h, 3388), 524288.0), fy_half_float(fy_half_of(3388 / 524288.0)));
        GIVES(fy_div(524288, OF(d, h, 1024)), 512);
        GIVES(fy_mul(OF(d, h, 3), 0.1), fy_half_float(fy_half_of(0.3)));
        GIVES(fy_mul(OF(d, b, 3), 0.3), 0.8984375);
        const double rest = fy_half_float(fy_half_of_float(0.3f - fy_half_float(fy_half_of(0.3))));
        GIVES(fy_sub(0.3, OF(d, h, 0.3)), rest);
        GIVES(fy_add(OF(d, h, -0.3), 0.3), rest);
        GIVES(fy_eq(OF(d, h, 0.1), 0.1), 1); /* a comparison does round it, as in PyTorch */
        GIVES(fy_mul(OF(d, h, 0.01), OF(d, h, 65504)),
              fy_half_float(fy_half_of(fy_half_float(fy_half_of(0.01)) * 65504)));
    }
}

static void a_bound_that_the_dtype_cannot_hold_is_refused(void **state)
{
    (void)state;
    fy_on_error(FY_RETURN);
    ON_BOTH(d)
    {
#define REFUSED(call, type) \
    assert_null(call); \
    assert_non_null(strstr(fy_error(), "value cannot be converted to type " type " without overflow")); \
    fy_clear_error()
        fy_tensor *h = OF(d, FY_FLOAT16, 1, -1);
        REFUSED(fy_clamp_min(h, 4e26), "at::Half");
        REFUSED(fy_clamp_max(h, -65505), "at::Half");
        REFUSED(fy_clamp(h, -1, 4e26), "at::Half");
        REFUSED(fy_clamp_min(OF(d, FY_INT32, 1), 3000000000), "int");
        REFUSED(fy_clamp_min(OF(d, FY_UINT8, 1), 300), "uint8_t");
        REFUSED(fy_pow(h, 1e30), "at::Half");
        GIVES(fy_clamp_min(h, -INFINITY), 1, -1);
        GIVES(fy_clamp_min(OF(d, FY_UINT8, 1), 300.5), 300.5);
    }
    fy_on_error(FY_EXIT);
}

/* The operand is read before any element is written, whatever the order of the elements. */
static void a_target_that_overlaps_its_operand_is_read_first(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *q = fy_view(OF(d, FY_FLOAT32, 1, 2, 5, 7), (2, 2));
        GIVES(fy_sub_(q, fy_narrow(q, 1, 0, 1)), 0, 1, 0, 2);
        fy_tensor *r = fy_view(fy_arange((12), .dtype = FY_FLOAT32, .device = d), (3, 4));
        GIVES(fy_add_(r, fy_narrow(r, 1, 1, 1)), 1, 2, 3, 4, 9, 10, 11, 12, 17, 18, 19, 20);
        fy_tensor *s = fy_view(fy_arange((6), .dtype = FY_INT64, .device = d), (2, 3));
        GIVES(fy_copy_(s, fy_narrow(s, 1, 2, 1)), 2, 2, 2, 5, 5, 5);
        fy_tensor *one = fy_select(q, 1, 0), *other = fy_select(q, 1, 1);
        GIVES(fy_add_(one, other), 1, 2); /* beside each other: nothing is shared */
        GIVES(fy_mul_(q, q), 1, 1, 4, 4);
    }
}

static void casts_to_integers_drop_fractions_and_wrap(void **state)
{
    (void)state;
    const double least = -9223372036854775808.0, most = 9223372036854775807.0, low = INT32_MIN, high = INT32_MAX;
    const fy_dtype floats[] = {FY_FLOAT32, FY_FLOAT64};
    ON_BOTH(d)
    {
        bool card = d == places[1]; /* converts by rules of its own where x does not fit */
        for (int i = 0; i < 2; i++) {
            fy_tensor *x = OF(d, floats[i], INFINITY, -INFINITY, NAN, 3e9, -3e9, 1e19, -2147483648.0);
            GIVES(fy_to(x, FY_INT32), card ? high : low, low, card && i == 0 ? 0 : low, card ? high : low, low,
                  card ? high : low, low);
            GIVES(fy_to(x, FY_INT64), card ? most : least, least, least, 3000000000.0, -3000000000.0,
                  card ? most : least, -2147483648.0);
            GIVES(fy_to(x, FY_UINT8), card ? 255 : 0, 0, 0, 3000000000 % 256, 0, card ? 255 : 0, 0);
        }
        GIVES(fy_to(OF(d, FY_FLOAT16, INFINITY, NAN), FY_INT32), card ? high : low, card ? 0 : low);
        fy_tensor *x = OF(d, FY_FLOAT32, 1.9, -1.9, 300.5, -1.0);
        GIVES(fy_to(x, FY_INT32), 1, -1, 300, -1);
        GIVES(fy_to(x, FY_UINT8), 1, 255, 44, 255);
        GIVES(fy_to(OF(d, FY_INT64, 4294967297, 256), FY_INT32), 1, 256);
    }
}

static void spaces_meet_both_ends(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        GIVES(fy_linspace((3, -3, 4), .device = d), 3, 1, -1, -3);
        GIVES(fy_linspace((5, 9, 1), .device = d), 5);
        GIVES(fy_linspace((0, 10, 5), .device = d, .dtype = FY_INT64), 0, 2, 5, 7, 10);
        GIVES(fy_linspace((0, 1, 5), .device = d, .dtype = FY_BFLOAT16), 0, .25, .5, .75, 1);
        GIVES(fy_linspace((0, 1, 7), .device = d), 0, 1 / 6.0f, 1 / 3.0f, .5, 0x1.555554p-1f, 0x1.aaaaaap-1f, 1);
        GIVES(fy_eye((2, 3), .device = d), 1, 0, 0, 0, 1, 0);
    }
}

/* ---- layouts and sizes ---- */

static bool same(fy_tensor *a, fy_tensor *b)
{
    fy_tensor *x = fy_contiguous(fy_cpu(a)), *y = fy_contiguous(fy_cpu(b));
    size_t bytes = (size_t)fy_numel(x) * fy_dtype_size(x->dtype);
    return x->dtype == y->dtype && fy_numel(x) == fy_numel(y) && memcmp(fy_data(x), fy_data(y), bytes) == 0;
}

/* Operands of every layout give the results of contiguous ones, for every dtype. */
static void any_layout_gives_the_same(void **state)
{
    (void)state;
    for (size_t t = 0; t < sizeof all_types / sizeof *all_types; t++) ON_BOTH(d)
        {
            fy_tensor *x = fy_to(fy_to(fy_remainder(fy_view(fy_arange((70 * 90)), (70, 90)), 23), all_types[t]), d);
            fy_tensor *part = fy_slice(x, 1, 3, 83, 1), *whole = fy_contiguous(part);
            fy_tensor *turned = fy_slice(fy_t(fy_contiguous(fy_t(x))), 1, 3, 83, 1);
            fy_tensor *wide = fy_slice(x, 1, 1, 90, 2), *column = fy_slice(x, 1, 5, 6, 1);
            fy_tensor *sum = fy_add(whole, whole), *columns = fy_contiguous(fy_expand(column, (70, 80)));
            assert_true(same(fy_add(part, part), sum));
            assert_true(same(fy_add(turned, whole), sum));
            assert_true(same(fy_t(fy_add(fy_t(part), fy_t(turned))), sum));
            assert_true(same(fy_maximum(part, column), fy_maximum(whole, columns)));
            assert_true(same(fy_mul(wide, wide), fy_mul(fy_contiguous(wide), fy_contiguous(wide))));
            assert_true(same(fy_lt(column, part), fy_lt(columns, whole)));
            assert_true(same(fy_to(turned, FY_FLOAT64), fy_to(whole, FY_FLOAT64)));
            fy_add_(turned, part); /* written into a view */
            assert_true(same(turned, sum));
        }
}

/* Large enough for several threads; compared with results of small parts. */
static void large_tensors_are_as_many_small_ones(void **state)
{
    enum { ROWS = 401, COLUMNS = 1009 };
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_rand((ROWS, COLUMNS)), *h = fy_to(x, FY_FLOAT16), *row = fy_rand((COLUMNS));
        fy_tensor *all[] = {fy_add(x, row), fy_exp(x), fy_mul(h, 3.0), fy_to(x, FY_INT64)};
        assert_true(fy_numel(x) > 4 * 65536 && fy_thread_pool_size() > 1);
        for (int64_t i = 0; i < ROWS; i += 50) FY_SCOPE
            {
                fy_tensor *a = fy_select(x, 0, i), *b = fy_select(h, 0, i);
                fy_tensor *parts[] = {fy_add(a, row), fy_exp(a), fy_mul(b, 3.0), fy_to(a, FY_INT64)};
                for (int k = 0; k < 4; k++) assert_true(same(parts[k], fy_select(all[k], 0, i)));
            }
        const int64_t *count = fy_data(fy_arange((300000)));
        for (int64_t i = 0; i < 300000; i++) assert_true(count[i] == i);
    }
}

static void a_forked_child_has_a_team_of_its_own(void **state)
{
    int status = -1;
    (void)state;
    fy_exp(fy_zeros((300000))); /* the thread pool has started */
    pid_t child = fork();
    if (child == 0) _exit(fy_item(fy_sum(fy_exp(fy_zeros((300000))))) == 300000 ? 7 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
}

/* ---- functions ---- */

static void check_function(fy_tensor *(*f)(fy_tensor *), double (*of)(double), double from, double to)
{
    enum { N = 10007 };
    FY_SCOPE
    {
        fy_tensor *x = fy_linspace((from, to, N)), *y = f(x);
        const float *a = fy_data(x), *b = fy_data(y);
        for (int i = 0; i < N; i++) {
            double want = of((double)a[i]), unit = fabs(want) * 0x1p-23 + 0x1p-149;
            if (!(fabs(b[i] - want) <= 2 * unit)) fail_msg("of %.9g: %.9g, not %.9g", (double)a[i], (double)b[i], want);
        }
    }
}

#define FUNCTION(name) \
    static fy_tensor *host_##name(fy_tensor *x) { return fy_##name(x); }
FUNCTION(exp)
FUNCTION(log)
FUNCTION(sin)
FUNCTION(cos)
FUNCTION(tanh)
FUNCTION(sigmoid)
static double sigmoid(double x) { return 1 / (1 + exp(-x)); }

static void functions_are_right_to_two_units_of_the_last_place(void **state)
{
    (void)state;
    check_function(host_exp, exp, -104, 88.7);
    check_function(host_log, log, 1e-6, 20);
    check_function(host_log, log, 1e-44, 1e-37);
    check_function(host_sin, sin, -1000, 1000);
    check_function(host_cos, cos, 1e5 - 100, 1e5 + 100); /* the limit of the fast path */
    check_function(host_sin, sin, 1e20, 1e22);
    check_function(host_tanh, tanh, -10, 10);
    check_function(host_sigmoid, sigmoid, -80, 80);
    FY_SCOPE
    {
        fy_tensor *x = fy_tensor((NAN, INFINITY, -INFINITY, 0.0, -1.0));
        GIVES(fy_exp(x), NAN, INFINITY, 0, 1, (double)expf(-1));
        GIVES(fy_log(x), NAN, INFINITY, NAN, -INFINITY, NAN);
        GIVES(fy_tanh(fy_slice(x, 0, 0, 4, 1)), NAN, 1, -1, 0);
        GIVES(fy_tanh(fy_tensor((-0.0, 0.0))), -0.0, 0);
        GIVES(fy_sin(fy_slice(x, 0, 0, 4, 1)), NAN, NAN, NAN, 0);
    }
}

/* Every float16, to float and back, and the midpoints between neighbours. */
static void conversion_of_16_bits_is_exact(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 0x7c00; bits++) {
        float x = fy_half_float((fy_half){(uint16_t)bits}), next = fy_half_float((fy_half){(uint16_t)(bits + 1)});
        double middle = bits == 0x7bff ? 65520 : ((double)x + (double)next) / 2;
        assert_int_equal(fy_half_of_float(x).bits, bits);
        assert_int_equal(fy_half_of(middle).bits, bits + (bits & 1));
        assert_int_equal(fy_half_of_float((float)middle).bits, bits + (bits & 1));
        assert_int_equal(fy_half_of_float(fy_float_odd(middle * (1 + 0x1p-50))).bits, bits + 1);
        assert_int_equal(fy_half_of_float(fy_float_odd(-middle * (1 - 0x1p-50))).bits, 0x8000 | bits);
        float up = fy_bfloat_float((fy_bfloat){(uint16_t)(bits + 1)});
        assert_int_equal(fy_bfloat_of((double)up).bits, bits + 1);
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_THREADS", "3", 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_wrap_around),
        cmocka_unit_test(quotients_are_rounded_down_and_remainders_have_the_divisors_sign),
        cmocka_unit_test(a_floats_remainder_is_exact),
        cmocka_unit_test(integer_division_by_zero_fails_on_the_cpu_alone),
        cmocka_unit_test(powers_of_integers_stay_integers),
        cmocka_unit_test(nan_and_the_two_zeros_keep_what_they_are),
        cmocka_unit_test(masks_are_added_by_or_and_multiplied_by_and),
        cmocka_unit_test(sixteen_bits_are_rounded_once),
        cmocka_unit_test(a_number_beside_16_bits_is_not_rounded),
        cmocka_unit_test(a_bound_that_the_dtype_cannot_hold_is_refused),
        cmocka_unit_test(a_target_that_overlaps_its_operand_is_read_first),
        cmocka_unit_test(casts_to_integers_drop_fractions_and_wrap),
        cmocka_unit_test(spaces_meet_both_ends),
        cmocka_unit_test(any_layout_gives_the_same),
        cmocka_unit_test(large_tensors_are_as_many_small_ones),
        cmocka_unit_test(a_forked_child_has_a_team_of_its_own),
        cmocka_unit_test(functions_are_right_to_two_units_of_the_last_place),
        cmocka_unit_test(conversion_of_16_bits_is_exact),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
