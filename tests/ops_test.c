/* Operations: dtypes, broadcasting, layouts, events. op_table_test.c tests every op. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cpu.h"
#include "kernel_table.h"
#include "op.h"
#include "recorded.h"

#define TEST(name) static void name(void **state)

TEST(every_op_has_a_host_version_and_a_kernel)
{
    (void)state;
    for (int op = 0; op < FY_OP_COUNT; op++) {
        assert_non_null(fy_host_op_find(op));
        assert_non_null(fy_sim_kernel(op));
    }
    assert_null(fy_host_op_find(-1));
    assert_null(fy_sim_kernel(FY_OP_COUNT));
}

/* ---- events ---- */

TEST(an_op_on_the_card_is_exactly_four_records)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((2, 3), .device = "cuda"), *b = fy_ones((3), .device = "cuda");
        since();
        fy_tensor *c = fy_add(a, b);
        assert_string_equal(kinds(), "alloc tensor op complete");
        const cJSON *op = event_of("op", 0), *end = event_of("complete", 0);
        assert_int_equal(number_of(op, "id"), number_of(end, "id"));
        assert_int_equal(number_of(op, "flops"), 6);
        assert_int_equal(number_of(op, "bytes"), 24 + 24 + 12); /* a broadcast operand is read once */
        assert_int_equal(number_of(op, "stream"), 0);
        assert_int_equal(number_of(op, "out.0.version"), 1);
        assert_int_equal(number_of(op, "out.0.storage"), number_of(event_of("alloc", 0), "storage"));
        assert_int_equal(cJSON_GetArraySize(field(op, "in")), 2);
        assert_string_equal(text_of(end, "engine"), "compute");
        assert_true(number_of(end, "start") >= 0 && number_of(end, "end") > number_of(end, "start"));
        assert_true(number_of(op, "held") > 0);
        assert_true(HOLDS(c, 2, 2, 2, 2, 2, 2));
    }
}

TEST(the_host_is_busy_while_it_computes)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *a = fy_ones((100, 100));
        int64_t before = fy_now();
        since();
        fy_matmul(a, a);
        assert_int_equal(number_of(event_of("op", 0), "held"), fy_now() - before);
        assert_int_equal(number_of(event_of("op", 0), "flops"), 2000000);
        assert_int_equal(number_of(event_of("complete", 0), "end"), fy_now());
        assert_string_equal(text_of(event_of("complete", 0), "engine"), "host");
        assert_string_equal(text_of(event_of("op", 0), "blas"), "cblas_sgemm");
    }
}

/* as a real card's are computed by cuBLAS */
TEST(a_cards_matrix_products_are_given_to_blas)
{
    (void)state;
    static const fy_dtype floats[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};
    for (int i = 0; i < 4; i++) FY_SCOPE
        {
            const char *routine = floats[i] == FY_FLOAT64 ? "cblas_dgemm" : "cblas_sgemm";
            fy_tensor *a = fy_ones((20, 20), .dtype = floats[i], .device = "cuda");
            since();
            fy_tensor *b = fy_matmul(a, a), *c = fy_addmm(a, a, fy_t(b), 0);
            for (int op = 0; op < 2; op++) {
                assert_string_equal(text_of(event_of("op", op), "device"), "cuda:0");
                assert_string_equal(text_of(event_of("op", op), "blas"), routine);
                assert_string_equal(text_of(event_of("op", op), "kernel"), "");
            }
            assert_true(fy_item(fy_narrow(fy_view(c, (400)), 0, 399, 1)) == 400);
        }
}

/* ---- types ---- */

TEST(integers_and_floats_promote_as_in_pytorch)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *n = fy_tensor((1, 2)), *x = fy_tensor((0.5, 0.25));
        assert_int_equal(fy_dtype_of(fy_add(n, 2)), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_add(n, 2.5)), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_add(x, 2)), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_add(n, x)), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_mul(x, n)), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_mul(n, fy_full((), 2))), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_mul(n, fy_full((), 2.0))), FY_FLOAT32);
        assert_int_equal(fy_dtype_of(fy_sum(n)), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_relu(n)), FY_INT64);
        assert_true(HOLDS(fy_add(n, x), 1.5, 2.25));
        assert_true(HOLDS(fy_mul(n, 2.5), 2.5, 5));
        assert_true(HOLDS(fy_add(fy_to(n, "cuda"), 0.5), 1.5, 2.5));
        assert_true(HOLDS(fy_add(fy_t(fy_view(fy_arange((4)), (2, 2))), 0.5), 0.5, 2.5, 1.5, 3.5));
    }
}

TEST(every_number_of_c_keeps_its_value_and_its_kind)
{
    struct {
        unsigned three : 2;
        int less : 4;
        bool on : 1;
    } bits = {3, -4, true};
    long double half = 0.5L;
    (void)state;
    FY_SCOPE
    {
        fy_tensor *n = fy_tensor((2, 4));
        assert_true(HOLDS(fy_mul(n, half), 1, 2));
        assert_true(HOLDS(fy_mul(0.25L, n), 0.5, 1));
        assert_int_equal(fy_dtype_of(fy_mul(n, half)), FY_FLOAT32);
        assert_true(HOLDS(fy_full((1), half), 0.5));
        assert_true(HOLDS(fy_tensor((1, half)), 1, 0.5));
        assert_true(HOLDS(fy_add(fy_ones((1)), n, half), 2, 3));
        assert_true(HOLDS(fy_mul(n, bits.three), 6, 12));
        assert_true(HOLDS(fy_mul(n, bits.less), -8, -16));
        assert_int_equal(fy_dtype_of(fy_mul(n, bits.three)), FY_INT64);
        assert_int_equal(fy_dtype_of(fy_full((1), bits.on)), FY_BOOL);
        assert_true(HOLDS(fy_add(n, (short)-1), 1, 3));
        assert_true(HOLDS(fy_add(n, (unsigned char)255), 257, 259));
        assert_true(HOLDS(fy_add(n, -1L), 1, 3));
        assert_true(fy_item_int(fy_full((), (unsigned long long)INT64_MAX)) == INT64_MAX);
#if defined(__FLT16_MAX__) && !defined(__clang__)
        assert_true(HOLDS(fy_mul(n, __extension__(_Float16) 0.5f), 1, 2));
#endif
    }
}

TEST(a_number_above_int64_is_refused_everywhere)
{
    unsigned long long most = UINT64_MAX, over = (unsigned long long)INT64_MAX + 1;
    fy_tensor *x = fy_ones((2)), *n = fy_arange((2)), *m = fy_ones((2, 2));
    (void)state;
#define OVERFLOWS(call) \
    do { \
        since(); \
        assert_null(call); \
        assert_true(failed_with("value cannot be converted to type int64_t without overflow")); \
        assert_string_equal(kinds(), "error"); \
    } while (0)
    FY_SCOPE
    {
        OVERFLOWS(fy_mul(n, most));
        OVERFLOWS(fy_mul(over, x));
        OVERFLOWS(fy_pow(n, most));
        OVERFLOWS(fy_add_(x, over));
        OVERFLOWS(fy_add(n, n, most));
        OVERFLOWS(fy_addmm(m, m, m, 1, over));
        OVERFLOWS(fy_fill_(x, over));
        OVERFLOWS(fy_full((2), over));
        OVERFLOWS(fy_tensor((1, over)));
        OVERFLOWS(fy_arange((0, over)));
        assert_int_equal(fy_result_type(n, over), FY_DTYPE_UNSET);
        assert_true(failed_with("fix: the largest integer is 2^63 - 1; as a float it is 9.2233720368547758e+18"));
    }
    fy_free(x), fy_free(n), fy_free(m);
}

TEST(no_bool_is_subtracted_and_none_scales_numbers)
{
    bool yes = true;
    const char *mask = "Subtraction, the `-` operator, with a bool tensor is not supported.";
    (void)state;
    FY_SCOPE
    {
        fy_tensor *n = fy_arange((2)), *x = fy_ones((2)), *b = fy_gt(n, 0);
        assert_null(fy_sub(n, yes));
        assert_true(failed_with(mask));
        assert_null(fy_sub(yes, x));
        assert_true(failed_with(mask));
        assert_null(fy_sub_(x, yes));
        assert_true(failed_with(mask));
        assert_null(fy_sub(b, yes));
        assert_true(failed_with("Subtraction, the `-` operator, with two bool tensors is not supported."));
        assert_true(HOLDS(fy_add(n, yes), 1, 2));
        assert_null(fy_add(n, n, yes));
        assert_true(failed_with("Boolean alpha only supported for Boolean results."));
        assert_true(HOLDS(fy_add(b, b, yes), 0, 1));
        assert_true(HOLDS(x, 1, 1));
    }
}

TEST(a_cast_for_promotion_is_recorded_and_leaves_nothing)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *n = fy_to(fy_tensor((1, 2)), "cuda"), *x = fy_ones((2), .device = "cuda");
        since();
        fy_add(n, x);
        assert_string_equal(kinds(), "alloc tensor op complete alloc tensor op complete drop free");
        assert_string_equal(text_of(event_of("op", 0), "name"), "cast");
        assert_string_equal(text_of(event_of("op", 0), "device"), "cuda:0");
    }
}

/* ---- numbers ---- */

TEST(a_0_dim_cpu_tensor_becomes_a_kernel_argument)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *g = fy_arange((0, 3, 1), .device = "cuda", .dtype = FY_FLOAT32), *two = fy_full((), 2);
        since();
        fy_tensor *sum = fy_add(g, two);
        assert_string_equal(kinds(), "alloc tensor op complete");
        assert_int_equal(cJSON_GetArraySize(field(event_of("op", 0), "in")), 2);
        assert_string_equal(fy_device(sum), "cuda:0");
        assert_true(HOLDS(sum, 2, 3, 4));
        assert_true(HOLDS(fy_mul(two, g), 0, 2, 4)); /* on either side */
        fy_tensor *both = fy_add(fy_full((), 1.5), fy_full((), 2.0, .device = "cuda"));
        assert_string_equal(fy_device(both), "cuda:0");
        assert_true(HOLDS(both, 3.5));
        assert_true(HOLDS(fy_mul(fy_arange((3), .device = "cuda"), fy_full((), 0.5)), 0, 0.5, 1));
        assert_true(HOLDS(fy_add(fy_arange((3), .device = "cuda"), 4), 4, 5, 6));
        assert_true(HOLDS(fy_mul(g, 2.5), 0, 2.5, 5));
    }
}

/* ---- shapes ---- */

TEST(sizes_are_broadcast_from_the_right)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((6)), (2, 3)), *row = fy_tensor((10, 20, 30)),
                  *column = fy_view(fy_tensor((100, 200)), (2, 1));
        assert_true(HOLDS(fy_add(m, row), 10, 21, 32, 13, 24, 35));
        assert_true(HOLDS(fy_add(m, column), 100, 101, 102, 203, 204, 205));
        assert_true(HOLDS(fy_add(row, column), 110, 120, 130, 210, 220, 230));
        assert_true(HAS_SHAPE(fy_mul(fy_ones((5, 1, 3)), fy_ones((4, 1))), 5, 4, 3));
        assert_true(HAS_SHAPE(fy_add(fy_ones((0, 3)), fy_ones((1, 3))), 0, 3));
        assert_true(HAS_SHAPE(fy_add(fy_ones(()), fy_ones((2, 2))), 2, 2));
    }
}

TEST(results_follow_the_strides_of_their_operands)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((6)), (2, 3)), *t = fy_t(m);
        assert_true(HAS_STRIDES(fy_relu(t), 1, 3));
        assert_true(HAS_STRIDES(fy_add(t, t), 1, 3));
        assert_true(HAS_STRIDES(fy_add(t, 1), 1, 3));
        assert_true(
            HAS_STRIDES(fy_add(m, fy_t(fy_view(fy_arange((6)), (3, 2)))), 3, 1)); /* the first operand decides */
        assert_true(HAS_STRIDES(fy_add(fy_narrow(m, 1, 0, 2), 1), 2, 1));
        assert_true(HOLDS(fy_add(t, t), 0, 6, 2, 8, 4, 10));
        assert_true(HAS_STRIDES(fy_add(t, fy_tensor((1, 2))), 1, 3));
    }
}

/* The strides are PyTorch 1.13's. */
TEST(a_promoted_operand_keeps_its_order_of_dimensions)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((16), .dtype = FY_INT32), (4, 4)), *x = fy_narrow(fy_t(m), 0, 2, 2);
        fy_tensor *wide = fy_ones((2, 4)), *y = fy_permute(fy_view(fy_arange((24)), (2, 3, 4)), (2, 0, 1));
        assert_true(HAS_STRIDES(x, 1, 4));
        assert_true(HAS_STRIDES(fy_add(x, 2.5), 1, 2));
        assert_true(HAS_STRIDES(fy_mul(x, wide), 1, 2));
        assert_true(HAS_STRIDES(fy_sqrt(x), 1, 2));
        assert_true(HAS_STRIDES(fy_gt(x, 2.5), 1, 2));
        assert_true(HAS_STRIDES(fy_add(fy_to(x, "cuda"), 2.5), 1, 2));
        assert_true(HOLDS(fy_sub(x, 0.5), 1.5, 5.5, 9.5, 13.5, 2.5, 6.5, 10.5, 14.5));
        y = fy_narrow(y, 2, 0, 2);
        assert_true(HAS_STRIDES(y, 1, 12, 4));
        assert_true(HAS_STRIDES(fy_add(y, 2.5), 1, 8, 4));
        assert_true(HAS_STRIDES(fy_add(fy_ones((4, 2, 2)), y), 4, 2, 1)); /* the first operand decides */
        fy_tensor *spread = fy_expand(fy_ones((3, 1), .dtype = FY_INT32), (3, 4));
        assert_true(HAS_STRIDES(fy_add(spread, 2.5), 4, 1));
    }
}

TEST(sums_reach_every_element_of_any_layout)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_view(fy_arange((24)), (2, 3, 4));
        assert_true(HOLDS(fy_sum(x), 276));
        assert_true(HOLDS(fy_sum(fy_transpose(x, 0, 2)), 276));
        assert_true(HOLDS(fy_sum(fy_narrow(x, 2, 1, 2)), 138));
        assert_true(HOLDS(fy_sum(fy_narrow(fy_to(x, "cuda"), 2, 1, 2)), 138));
        assert_true(HOLDS(fy_sum(fy_zeros((0))), 0));
        assert_int_equal(fy_dim(fy_sum(x)), 0);
    }
}

TEST(relu_keeps_nan)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_relu(fy_tensor((-1.5, NAN, 2.0)));
        assert_true(element(x, 0) == 0 && isnan(element(x, 1)) && element(x, 2) == 2);
    }
}

/* ---- matrix products ---- */

TEST(matmul_takes_vectors_as_rows_and_columns)
{
    static const char *const devices[] = {"cpu", "cuda"};
    (void)state;
    for (int d = 0; d < 2; d++) FY_SCOPE
        {
            fy_tensor *m = fy_view(fy_arange((6), .dtype = FY_FLOAT32, .device = devices[d]), (2, 3));
            fy_tensor *v = fy_arange((3), .dtype = FY_FLOAT32, .device = devices[d]);
            fy_tensor *u = fy_ones((2), .device = devices[d]);
            assert_true(HOLDS(fy_matmul(m, v), 5, 14));
            assert_true(HAS_SHAPE(fy_matmul(m, v), 2));
            assert_true(HOLDS(fy_matmul(u, m), 3, 5, 7));
            assert_true(HAS_SHAPE(fy_matmul(u, m), 3));
            assert_true(HOLDS(fy_matmul(v, v), 5));
            assert_int_equal(fy_dim(fy_matmul(v, v)), 0);
            assert_true(HOLDS(fy_matmul(m, fy_t(m)), 5, 14, 14, 50));
            assert_true(HOLDS(fy_matmul(fy_t(m), m), 9, 12, 15, 12, 17, 22, 15, 22, 29));
            assert_true(HOLDS(fy_matmul(fy_zeros((2, 0), .device = devices[d]), fy_zeros((0, 3), .device = devices[d])),
                              0, 0, 0, 0, 0, 0));
            assert_true(HAS_SHAPE(fy_matmul(fy_zeros((0, 2), .device = devices[d]), m), 0, 3));
        }
}

/* Every pair of view layouts, compared with plain sums. */
TEST(matmul_reads_any_layout)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *big = fy_view(fy_arange((120), .dtype = FY_FLOAT32), (10, 12));
        fy_tensor *left[] = {fy_narrow(big, 0, 2, 3),
                             fy_narrow(fy_narrow(big, 0, 0, 3), 1, 2, 5),
                             fy_narrow(fy_t(fy_narrow(big, 1, 1, 3)), 1, 3, 5),
                             fy_select(fy_view(big, (3, 5, 8)), 2, 1),
                             fy_narrow(big, 1, 3, 1),
                             fy_narrow(fy_t(big), 0, 4, 1),
                             fy_narrow(big, 0, 1, 1)};
        for (size_t i = 0; i < sizeof left / sizeof *left; i++) {
            fy_tensor *a = left[i], *b = fy_t(a), *c = fy_matmul(a, b),
                      *g = fy_matmul(fy_to(a, "cuda"), fy_to(b, "cuda"));
            int64_t n = fy_size(a, 0), k = fy_size(a, 1);
            for (int64_t r = 0; r < n; r++)
                for (int64_t s = 0; s < n; s++) {
                    double want = 0;
                    for (int64_t l = 0; l < k; l++) want += element(a, r * k + l) * element(a, s * k + l);
                    assert_true(fabs(element(c, r * n + s) - want) <= 1e-5 * fabs(want));
                    assert_true(fabs(element(g, r * n + s) - want) <= 1e-5 * fabs(want));
                }
        }
    }
}

TEST(integers_multiply_on_the_cpu)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *m = fy_view(fy_arange((4)), (2, 2));
        assert_int_equal(fy_dtype_of(fy_matmul(m, m)), FY_INT64);
        assert_true(HOLDS(fy_matmul(m, fy_t(m)), 1, 3, 3, 13));
    }
}

int main(void)
{
    setenv("FERRY_GPU", "sim", 1);
    recorded_start();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_op_has_a_host_version_and_a_kernel),
        cmocka_unit_test(an_op_on_the_card_is_exactly_four_records),
        cmocka_unit_test(the_host_is_busy_while_it_computes),
        cmocka_unit_test(a_cards_matrix_products_are_given_to_blas),
        cmocka_unit_test(integers_and_floats_promote_as_in_pytorch),
        cmocka_unit_test(every_number_of_c_keeps_its_value_and_its_kind),
        cmocka_unit_test(a_number_above_int64_is_refused_everywhere),
        cmocka_unit_test(no_bool_is_subtracted_and_none_scales_numbers),
        cmocka_unit_test(a_cast_for_promotion_is_recorded_and_leaves_nothing),
        cmocka_unit_test(a_0_dim_cpu_tensor_becomes_a_kernel_argument),
        cmocka_unit_test(sizes_are_broadcast_from_the_right),
        cmocka_unit_test(results_follow_the_strides_of_their_operands),
        cmocka_unit_test(a_promoted_operand_keeps_its_order_of_dimensions),
        cmocka_unit_test(sums_reach_every_element_of_any_layout),
        cmocka_unit_test(relu_keeps_nan),
        cmocka_unit_test(matmul_takes_vectors_as_rows_and_columns),
        cmocka_unit_test(matmul_reads_any_layout),
        cmocka_unit_test(integers_multiply_on_the_cpu),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    recorded_end();
    return failed;
}
