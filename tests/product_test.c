/* product_test.c: matrix products and softmax on the CPU and on the card: vectors, batches, any strides, sizes of 0,
 * every dtype, and rows that would overflow. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "op.h"
#include "run_work.h"
#include "tensor.h"
#include "values.h"

static const fy_dtype floats[] = {FY_FLOAT32, FY_FLOAT64, FY_FLOAT16, FY_BFLOAT16};

/* The product in double: exact for integer-valued matrices. */
static void is_product(fy_tensor *a, fy_tensor *b, fy_tensor *out, int line)
{
    fy_tensor *x = fy_contiguous(fy_to(fy_cpu(a), FY_FLOAT64)), *y = fy_contiguous(fy_to(fy_cpu(b), FY_FLOAT64));
    int64_t n = fy_size(x, 0), k = fy_size(x, 1), m = fy_size(y, 1);
    double *want = calloc((size_t)(n * m), sizeof *want), *p = fy_data(x), *q = fy_data(y);
    for (int64_t i = 0; i < n * m; i++)
        for (int64_t l = 0; l < k; l++) want[i] += p[i / m * k + l] * q[l * m + i % m];
    assert_values(out, (size_t)(n * m), want, 0, line);
    free(want);
}

static fy_tensor *random_matrix(int64_t rows, int64_t columns, fy_dtype dtype, const char *device)
{
    return fy_to(fy_to(fy_randint((-3, 4), (rows, columns)), dtype), device);
}

static void matrices_of_any_strides(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 4; t++) {
            fy_tensor *a = random_matrix(19, 23, floats[t], d), *b = random_matrix(23, 17, floats[t], d),
                      *c = random_matrix(17, 19, floats[t], d);
            is_product(a, b, fy_matmul(a, b), __LINE__);
            is_product(fy_t(a), fy_t(c), fy_matmul(fy_t(a), fy_t(c)), __LINE__);
            fy_tensor *holes = fy_slice(fy_slice(a, 0, 0, 19, 2), 1, 1, 23, 3), *part = fy_narrow(b, 0, 3, 8);
            is_product(holes, part, fy_matmul(holes, part), __LINE__);
            fy_tensor *same = fy_expand(fy_narrow(b, 1, 2, 1), (23, 5));
            is_product(a, same, fy_matmul(a, same), __LINE__);
            fy_tensor *column = fy_narrow(b, 1, 4, 1), *row = fy_narrow(a, 0, 4, 1);
            is_product(a, column, fy_matmul(a, column), __LINE__);
            is_product(row, b, fy_matmul(row, b), __LINE__);
            is_product(row, column, fy_matmul(row, column), __LINE__);
            assert_int_equal(fy_dtype_of(fy_matmul(a, b)), floats[t]);
        }
    }
}

static void integers_are_multiplied_on_the_cpu_and_wrap(void **state)
{
    (void)state;
    static const fy_dtype integers[] = {FY_INT64, FY_INT32, FY_UINT8};
    FY_SCOPE for (size_t t = 0; t < 3; t++)
    {
        fy_tensor *a = fy_to(fy_tensor((100, 3)), integers[t]), *b = fy_to(fy_tensor((5, 7)), integers[t]);
        GIVES(fy_matmul(a, b), t == 2 ? 9 : 521);
        GIVES(fy_addmm(a, fy_view(a, (2, 1)), fy_view(b, (1, 2)), 2, 3), t == 2 ? 164 : 1700, t == 2 ? 58 : 2106,
              t == 2 ? 245 : 245, 69);
    }
    FY_SCOPE GIVES(fy_matmul(fy_tensor((9223372036854775807LL, 1)), fy_tensor((2, 1))), -1);
}

static void vectors_and_stacks(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        fy_tensor *v = fy_to(fy_tensor((1.0, 2.0)), d), *m = fy_to(fy_view(fy_arange((6.0)), (2, 3)), d);
        GIVES(fy_matmul(v, m), 6, 9, 12);
        GIVES(fy_matmul(fy_t(m), v), 6, 9, 12);
        GIVES(fy_dot(v, v), 5);
        GIVES(fy_mv(fy_t(m), v), 6, 9, 12);
        fy_tensor *stack = fy_to(fy_view(fy_arange((12.0)), (2, 3, 2)), d);
        GIVES(fy_matmul(stack, v), 2, 8, 14, 20, 26, 32);
        GIVES(fy_matmul(stack, m), 3, 4, 5, 9, 14, 19, 15, 24, 33, 21, 34, 47, 27, 44, 61, 33, 54, 75);
        GIVES(fy_matmul(m, stack), 10, 13, 28, 40, 28, 31, 100, 112);
        fy_tensor *both = fy_matmul(fy_view(stack, (2, 1, 3, 2)), fy_expand(fy_unsqueeze(m, 0), (4, 2, 3)));
        assert_int_equal(fy_dim(both), 4);
        assert_int_equal(fy_size(both, 1), 4);
        GIVES(fy_select(fy_select(both, 1, 3), 0, 1), 21, 34, 47, 27, 44, 61, 33, 54, 75);
        GIVES(fy_bmm(stack, fy_transpose(stack, 1, 2)), 1, 3, 5, 3, 13, 23, 5, 23, 41, 85, 111, 137, 111, 145, 179, 137,
              179, 221);
    }
}

static void no_inner_size_gives_zeros(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 4; t++) {
            fy_tensor *a = fy_zeros((2, 0), .device = d, .dtype = floats[t]),
                      *b = fy_zeros((0, 2), .device = d, .dtype = floats[t]), *c = OF(d, floats[t], 1, NAN);
            GIVES(fy_matmul(a, b), 0, 0, 0, 0);
            GIVES(fy_addmm(c, a, b, 2), 2, NAN, 2, NAN);
            GIVES(fy_addmm(c, a, b, 0), 0, 0, 0, 0);
            GIVES(fy_dot(fy_view(a, (0)), fy_view(b, (0))), 0);
        }
    }
}

/* As PyTorch: the dtype is that of the operand whose kernel it would have called. */
static void an_empty_product_takes_two_dtypes(void **state)
{
    (void)state;
#define DTYPE_OF(a, b) fy_dtype_of(fy_matmul(fy_ones(a, .dtype = FY_FLOAT64), fy_ones(b)))
    FY_SCOPE
    {
        assert_int_equal(DTYPE_OF((0, 2), (1, 2, 2)), FY_FLOAT32);
        assert_int_equal(DTYPE_OF((0, 2), (2, 2)), FY_FLOAT64);
        assert_int_equal(DTYPE_OF((0, 3, 2), (2, 2)), FY_FLOAT64);
        assert_int_equal(DTYPE_OF((0, 3, 2), (1, 2, 2)), FY_FLOAT32);
        assert_int_equal(DTYPE_OF((0, 2, 2), (2)), FY_FLOAT32);
        assert_int_equal(DTYPE_OF((2), (0, 2, 2)), FY_FLOAT64);
        assert_int_equal(DTYPE_OF((2), (2, 0)), FY_FLOAT64);
    }
}

static void with_beta_0_what_is_added_does_not_count(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 4; t++)
            for (int n = 2; n <= 20; n += 18) {
                fy_tensor *c = fy_full((n, n), NAN, .device = d, .dtype = floats[t]),
                          *a = random_matrix(n, n, floats[t], d);
                is_product(a, a, fy_addmm(c, a, a, 0), __LINE__);
                fy_tensor *column = fy_narrow(a, 1, 0, 1);
                is_product(a, column, fy_addmm(fy_narrow(c, 1, 0, 1), a, column, 0), __LINE__);
            }
        fy_tensor *a = fy_to(fy_view(fy_arange((4.0)), (2, 2)), d), *c = fy_to(fy_tensor((10.0, 20.0)), d);
        GIVES(fy_addmm(c, a, a, 0.5, 2.0), 9, 16, 17, 32);
        GIVES(fy_linear(a, a, c), 11, 23, 13, 33);
        GIVES(fy_linear(fy_view(a, (1, 2, 2)), a, c), 11, 23, 13, 33);
        GIVES(fy_linear(fy_select(a, 0, 1), a), 3, 13);
    }
}

/* For few elements and for BLAS, on the host and on the card. */
static void with_alpha_0_the_product_does_not_count(void **state)
{
    (void)state;
    static const fy_dtype types[] = {FY_FLOAT16, FY_BFLOAT16, FY_FLOAT32, FY_FLOAT64};
    for (int t = 0; t < 4; t++)
        for (int on_card = 0; on_card < 2; on_card++)
            for (int64_t n = 1; n <= 20; n += 19) FY_SCOPE
                {
                    fy_opts o = {.dtype = types[t], .device = on_card ? "cuda" : "cpu"};
                    fy_tensor *one = fy_ones((n, n), .dtype = o.dtype, .device = o.device);
                    fy_tensor *bad = fy_full((n, n), INFINITY, .dtype = o.dtype, .device = o.device);
                    fy_tensor *y = fy_addmm(one, bad, one, 2, 0), *z = fy_addmm(one, one, fy_mul(bad, 0), 0, 0);
                    assert_true(fy_equal(y, fy_mul(one, 2)));
                    assert_true(fy_equal(z, fy_zeros_like(one)));
                    assert_true(fy_item(fy_sum(fy_isnan(fy_addmm(one, fy_mul(bad, 0), one, 2, 1)))) == (double)(n * n));
                }
}

static void rows_of_softmax_add_up_to_one(void **state)
{
    (void)state;
    ON_BOTH(d)
    {
        for (size_t t = 0; t < 4; t++) {
            double part = t == 0 ? 1e-6 : t == 1 ? 1e-15 : t == 2 ? 1e-3 : 8e-3;
            fy_tensor *x = OF(d, floats[t], 100, 101, 99, -100, -INFINITY, -100);
            fy_tensor *m = fy_view(x, (2, 3));
            NEARLY(part, fy_softmax(m, 1), 0.24472847105479764, 0.66524095577482178, 0.09003057317038046, 0.5, 0, 0.5);
            NEARLY(part, fy_softmax(fy_t(m), 0), 0.24472847105479764, 0.5, 0.66524095577482178, 0, 0.09003057317038046,
                   0.5);
            NEARLY(part, fy_log_softmax(m, -1), -1.4076059644443804, -0.4076059644443804, -2.4076059644443804,
                   -0.69314718055994529, -INFINITY, -0.69314718055994529);
        }
        GIVES(fy_softmax(OF(d, FY_FLOAT32, -INFINITY, -INFINITY), 0), NAN, NAN);
        GIVES(fy_softmax(OF(d, FY_FLOAT32, INFINITY, 0.0), 0), NAN, NAN);
        GIVES(fy_softmax(fy_to(fy_full((), 3.0), d), 0), 1);
        fy_tensor *long_rows = fy_softmax(fy_zeros((3, 1024), .device = d), 1);
        GIVES(fy_sum(long_rows, (1)), 1, 1, 1);
        GIVES(fy_select(fy_softmax(fy_zeros((512, 70), .device = d), 0), 0, 9),
#define TEN 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512, 1.0 / 512
              TEN, TEN, TEN, TEN, TEN, TEN, TEN);
    }
}

static void ferry_blas_says_what_does_the_cards_products(void **state)
{
    (void)state;
    FY_SCOPE
    {
        fy_tensor *x = fy_ones((4, 4), .device = "cuda");
        fy_operand o = {x->storage->data, FY_FLOAT32, {2, 0, 16, {4, 4}, {4, 1}}};
        fy_run_work w = {.op = FY_OP_matmul, .nin = 2, .dtype = FY_FLOAT32, .in = {o, o}, .out = o};
        assert_true(x->storage->dev->backend->run(x->storage->dev, &w));
        if (getenv("FERRY_BLAS")) assert_string_equal(w.kernel, "matmul_f32");
        else assert_string_equal(w.blas, "cblas_sgemm");
        assert_true(!w.kernel != !w.blas);
    }
}

static int run_all(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_of_any_strides),
        cmocka_unit_test(integers_are_multiplied_on_the_cpu_and_wrap),
        cmocka_unit_test(vectors_and_stacks),
        cmocka_unit_test(no_inner_size_gives_zeros),
        cmocka_unit_test(an_empty_product_takes_two_dtypes),
        cmocka_unit_test(with_beta_0_what_is_added_does_not_count),
        cmocka_unit_test(with_alpha_0_the_product_does_not_count),
        cmocka_unit_test(rows_of_softmax_add_up_to_one),
        cmocka_unit_test(ferry_blas_says_what_does_the_cards_products),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The card's products by BLAS and, in another process, by the kernels. */
int main(void)
{
    int status = 1;
    setenv("FERRY_GPU", "sim", 1);
    setenv("FERRY_THREADS", "3", 1);
    pid_t child = fork();
    if (child == 0) {
        setenv("FERRY_BLAS", "kernel", 1);
        exit(run_all() != 0);
    }
    waitpid(child, &status, 0);
    return run_all() != 0 || status != 0;
}
