/* value_product.c: a sum of many products, and the bound of its error, by BLAS in double precision. */
#include "value_product.h"

#if __has_include(<cblas.h>)
#include <cblas.h>
#else
#include <openblas/cblas.h> /* Fedora's path */
#endif
#include <stdlib.h>

#include "memory.h"

enum { ELEMENTS_AT_A_TIME = 1 << 15 }; /* of either side: they stay in the cache */

/* What BLAS multiplies of a matrix; an unknown element is 0 there. */
typedef enum part { VALUE, SIZE, WITHIN, SIZE_AND_WITHIN, WITHIN_AND_ROUNDING } part;

static double part_of(element x, part p, double epsilon)
{
    switch (p) {
    case VALUE: return x.is;
    case SIZE: return fabs(x.is);
    case WITHIN: return x.within;
    case SIZE_AND_WITHIN: return fabs(x.is) + x.within;
    case WITHIN_AND_ROUNDING: return x.within + epsilon * fabs(x.is);
    }
    return 0;
}

static double *list_of(const element *at, int64_t count, part p, double epsilon)
{
    double *list = memory_realloc(NULL, (size_t)count, sizeof *list, "grading");
    for (int64_t i = 0; i < count; i++) list[i] = element_is_known(at[i]) ? part_of(at[i], p, epsilon) : 0;
    return list;
}

/* The right factor. */
typedef struct factor {
    int64_t depth, columns;
    double epsilon; /* bounds the relative error of a sum of products; of integers, which are exact: 1 */
    double *value, *size_and_within, *within_and_rounding;
    bool *unknown; /* by column: has it an unknown element? */
} factor;

static factor factor_of(const array *b, double epsilon)
{
    const int64_t n = b->shape[1];
    factor f = {.depth = b->shape[0],
                .columns = n,
                .epsilon = epsilon,
                .value = list_of(b->at, b->count, VALUE, 0),
                .size_and_within = list_of(b->at, b->count, SIZE_AND_WITHIN, 0),
                .within_and_rounding = list_of(b->at, b->count, WITHIN_AND_ROUNDING, epsilon),
                .unknown = memory_zeroed((size_t)n, sizeof *f.unknown, "grading")};
    for (int64_t i = 0; i < b->shape[0]; i++)
        for (int64_t j = 0; j < n; j++) f.unknown[j] |= !element_is_known(b->at[i * n + j]);
    return f;
}

static void free_factor(factor *f)
{
    free(f->value), free(f->size_and_within), free(f->within_and_rounding), free(f->unknown);
}

/* out = a b + kept * out */
static void multiply(int64_t rows, const double *a, const double *b, const factor *f, double kept, double *out)
{
    const int depth = (int)f->depth, columns = (int)f->columns;
    cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, (int)rows, columns, depth, 1, a, depth, b, columns, kept,
                out, columns);
}

static bool is_row_known(const element *row, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (!element_is_known(row[i])) return false;
    return true;
}

/* Some rows of the product. It differs from the real one by |a| (within b + epsilon |b|) + within a (|b| + within b) at
 * most; that divided by epsilon is no less than the sum of all sizes, which may have overflowed on the way. */
static void multiply_rows(int64_t rows, const element *a, const factor *b, element *out, const rounding *to)
{
    const int64_t taken = rows * b->depth, given = rows * b->columns;
    const double most = largest_partial_sum(to->dtype);
    double *value = list_of(a, taken, VALUE, 0), *size = list_of(a, taken, SIZE, 0),
           *within = list_of(a, taken, WITHIN, 0);
    double *sums = memory_realloc(NULL, 2 * (size_t)given, sizeof *sums, "grading"), *bounds = sums + given;
    multiply(rows, value, b->value, b, 0, sums);
    multiply(rows, size, b->within_and_rounding, b, 0, bounds);
    multiply(rows, within, b->size_and_within, b, 1, bounds);
    for (int64_t i = 0, at = 0; i < rows; i++) {
        const bool known = is_row_known(a + i * b->depth, b->depth);
        for (int64_t j = 0; j < b->columns; j++, at++) {
            const bool fits = bounds[at] / b->epsilon <= most;
            const element sum = {sums[at], to->epsilon > 0 ? bounds[at] : 0};
            out[at] = known && fits && !b->unknown[j] ? rounded(sum, to) : unknown_element;
        }
    }
    free(value), free(size), free(within), free(sums);
}

bool value_product(const array *a, const array *b, array *out)
{
    if (a->ndim != 2 || b->ndim != 2 || out->ndim != 2 || a->shape[1] != b->shape[0] || out->shape[0] != a->shape[0] ||
        out->shape[1] != b->shape[1] || !a->count || !b->count)
        return false;
    const rounding to = rounding_to(out->dtype);
    factor right = factor_of(b, to.epsilon > 0 ? to.epsilon * (double)(b->shape[0] + 1) : 1);
    const int64_t rows = a->shape[0], step = ELEMENTS_AT_A_TIME / (right.depth + right.columns) + 1;
    for (int64_t i = 0; i < rows; i += step)
        multiply_rows(rows - i < step ? rows - i : step, a->at + i * right.depth, &right, out->at + i * right.columns,
                      &to);
    free_factor(&right);
    return true;
}
