/* What the grader computes again: elements with bounds, what is unknown, and what nothing can have given. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "op.h"
#include "value_ops.h"

enum { ROOM = 64 };

/* A float32 array of up to two dimensions, columns 0: one; its elements count from `first` on. */
static array numbers(element at[ROOM], int64_t rows, int64_t columns, double first)
{
    array a = {.at = at, .count = rows * (columns ? columns : 1), .ndim = columns ? 2 : 1, .dtype = FY_WORD_float32};
    a.shape[0] = rows, a.shape[1] = columns;
    for (int64_t i = 0; i < a.count; i++) at[i] = (element){first + (double)i, 0};
    return a;
}

static array nothing(element at[ROOM], int64_t rows, int64_t columns)
{
    array a = numbers(at, rows, columns, 0);
    for (int64_t i = 0; i < a.count; i++) at[i] = unknown_element;
    return a;
}

static outcome_of_op compute(int op, const array *in, int inputs, const double *said, int64_t count, array *out,
                             int64_t *where)
{
    claims c = {said, count};
    return value_op(op, in, inputs, &c, out, where);
}

/* Known, near the number, and with a bound of rounding that is small. */
static void assert_is(element e, double number)
{
    assert_true(element_is_known(e));
    assert_true(fabs(e.is - number) < 1e-9);
    assert_true(e.within > 0 && e.within < 1e-4);
}

static void a_product_has_bounds(void **state)
{
    (void)state;
    element a[ROOM], b[ROOM], c[ROOM];
    array in[2] = {numbers(a, 2, 3, 1), numbers(b, 3, 2, 1)}, out = nothing(c, 2, 2);
    int64_t where;
    assert_int_equal(compute(FY_OP_matmul, in, 2, (double[]){22, 28, 49}, 3, &out, &where), OP_FITS);
    assert_is(c[0], 22), assert_is(c[1], 28), assert_is(c[2], 49), assert_is(c[3], 64);
    out = nothing(c, 2, 2);
    assert_int_equal(compute(FY_OP_matmul, in, 2, (double[]){22, 28.1}, 2, &out, &where), OP_CONTRADICTS);
    assert_int_equal(where, 1);
}

/* More rows than are multiplied at a time. */
static void a_long_product_is_computed_whole(void **state)
{
    (void)state;
    enum { ROWS = 40000 };
    static element a[ROWS], c[ROWS];
    element b[ROOM];
    array in[2] = {{.at = a, .count = ROWS, .shape = {ROWS, 1}, .ndim = 2, .dtype = FY_WORD_float32},
                   numbers(b, 1, 1, 3)};
    array out = in[0];
    int64_t where;
    out.at = c;
    for (int i = 0; i < ROWS; i++) a[i] = (element){i, 0}, c[i] = unknown_element;
    assert_int_equal(compute(FY_OP_matmul, in, 2, (double[]){0, 3}, 2, &out, &where), OP_FITS);
    for (int i = 0; i < ROWS; i++) assert_true(fabs(c[i].is - 3.0 * i) < 1e-9);
}

/* An unknown factor makes a sum unknown, even where it is multiplied by 0. */
static void what_an_unknown_element_goes_into_is_unknown(void **state)
{
    (void)state;
    element a[ROOM], b[ROOM], c[ROOM];
    array in[2] = {numbers(a, 2, 2, 0), numbers(b, 2, 3, 0)}, out = nothing(c, 2, 3);
    int64_t where;
    a[2] = unknown_element;
    compute(FY_OP_matmul, in, 2, NULL, 0, &out, &where);
    for (int i = 0; i < 6; i++) assert_int_equal(element_is_known(c[i]), i < 3);

    in[0] = numbers(a, 2, 2, 0);
    b[1] = unknown_element; /* times 0 in the first row */
    out = nothing(c, 2, 3);
    compute(FY_OP_matmul, in, 2, NULL, 0, &out, &where);
    for (int i = 0; i < 6; i++) assert_int_equal(element_is_known(c[i]), i % 3 != 1);

    array sum = nothing(c, 2, 0);
    in[0] = numbers(a, 2, 2, 0);
    a[3] = unknown_element;
    compute(FY_OP_sum, in, 1, (double[]){1}, 1, &sum, &where);
    assert_true(element_is_known(c[0]) && !element_is_known(c[1]));
}

/* in[1] is repeated along the result; each product is wanted. */
static void assert_broadcast(array other, const double want[6])
{
    element a[ROOM], c[ROOM];
    array in[2] = {numbers(a, 2, 3, 1), other}, out = nothing(c, 2, 3);
    int64_t where;
    assert_int_equal(compute(FY_OP_mul, in, 2, NULL, 0, &out, &where), OP_FITS);
    for (int i = 0; i < 6; i++) assert_is(c[i], want[i]);
}

static void sizes_of_1_are_repeated(void **state)
{
    (void)state;
    element b[ROOM];
    assert_broadcast(numbers(b, 2, 3, 1), (double[]){1, 4, 9, 16, 25, 36});
    assert_broadcast(numbers(b, 3, 0, 1), (double[]){1, 4, 9, 4, 10, 18}); /* a row */
    assert_broadcast(numbers(b, 1, 3, 1), (double[]){1, 4, 9, 4, 10, 18});
    assert_broadcast(numbers(b, 2, 1, 1), (double[]){1, 2, 3, 8, 10, 12}); /* a column */
    assert_broadcast(numbers(b, 1, 0, 2), (double[]){2, 4, 6, 8, 10, 12});
}

/* The number of x * s is not in the log: it follows from what is claimed, for the rest too. */
static void a_number_follows_from_what_is_claimed(void **state)
{
    (void)state;
    element a[ROOM], c[ROOM];
    array in = numbers(a, 2, 3, 1), out = nothing(c, 2, 3);
    int64_t where;
    assert_int_equal(compute(FY_OP_mul, &in, 1, (double[]){2.5, 5}, 2, &out, &where), OP_FITS);
    for (int i = 0; i < 6; i++) assert_is(c[i], 2.5 * (i + 1));
    out = nothing(c, 2, 3);
    assert_int_equal(compute(FY_OP_mul, &in, 1, (double[]){2.5, 5, 7}, 3, &out, &where), OP_CONTRADICTS);
    assert_int_equal(where, 2);
}

static void the_largest_and_the_least_keep_their_bounds(void **state)
{
    (void)state;
    element a[ROOM], c[ROOM];
    array in = numbers(a, 2, 3, 1), out = nothing(c, 2, 0);
    int64_t where;
    a[4].within = 0.25;
    assert_int_equal(compute(FY_OP_max, &in, 1, (double[]){3, 6}, 2, &out, &where), OP_FITS);
    assert_true(c[1].is == 6 && c[1].within >= 0.25);
    out = nothing(c, 2, 0);
    assert_int_equal(compute(FY_OP_min, &in, 1, (double[]){1, 5}, 2, &out, &where), OP_CONTRADICTS);
    assert_int_equal(where, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_product_has_bounds),
        cmocka_unit_test(a_long_product_is_computed_whole),
        cmocka_unit_test(what_an_unknown_element_goes_into_is_unknown),
        cmocka_unit_test(sizes_of_1_are_repeated),
        cmocka_unit_test(a_number_follows_from_what_is_claimed),
        cmocka_unit_test(the_largest_and_the_least_keep_their_bounds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
