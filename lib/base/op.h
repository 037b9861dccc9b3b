/* op.h: the op table. A row holds an op's name, dtype and shape rules, cost, gradient and scalar names. Adding an op
 * touches this table, its kernel (kernels/), its host version (lib/cpu/cpu_*.c), and its name and macro in
 * ferry_math.h. */
#ifndef FERRY_OP_H
#define FERRY_OP_H

#include "run_work.h"

/* The dtypes that an op supports. */
typedef enum fy_types { FY_ALL_TYPES, FY_NOT_BOOL, FY_REALS, FY_INDICES } fy_types; /* FY_INDICES: int64 */

/* The dtype of the computation from the operands' dtypes; the result's, too, unless noted. */
typedef enum fy_dtype_rule {
    FY_GIVEN_DTYPE,   /* the call says */
    FY_OWN_DTYPE,     /* the operand's own */
    FY_PROMOTED,      /* promotion of the operands' (promote.c) */
    FY_PROMOTED_REAL, /* likewise; integers and bool become float32 */
    FY_COMPARED,      /* promoted; the result is bool */
    FY_TOTAL,         /* the call's dtype, else the operand's; integers and bool become int64 */
    FY_REAL_ONLY,     /* the call's dtype, else the operand's; integers are an error */
    FY_POSITION,      /* the operand's own; the result is int64 */
    FY_TRUTH,         /* the operand's own; the result is bool */
    FY_EQUAL_DTYPES,  /* the operands', which must be equal: no promotion */
    FY_CLASSIFIED,    /* the first operand's; the second is int64 */
    FY_CHOSEN,        /* promotion of all but the first, which is bool */
    FY_ONE_DTYPE,     /* the tensors', which must be equal; numbers are converted (lerp) */
    FY_MASKED,        /* the first operand's; the second is bool */
    FY_BY_INDEX,      /* that of the first and third operand; the second is an index, int64 */
    FY_BY_COUNT,      /* the first operand's; the second is int64 */
} fy_dtype_rule;

typedef enum fy_shape_rule {
    FY_GIVEN_SHAPE,    /* the call says */
    FY_BROADCAST,      /* the operands' common one */
    FY_REDUCED,        /* the operand's without the call's dimensions */
    FY_ALONG,          /* the operand's; works along one dimension */
    FY_NEW_LAST,       /* the operand's and one more dimension, whose size the call gives */
    FY_MATRIX_PRODUCT, /* (..., n, k) x (..., k, m) -> (..., n, m) */
    FY_ROWS,           /* one element per row of the first operand */
    FY_SPREAD_ROWS,    /* the call's; the operands lack its class dimension */
    FY_REPEATED,       /* the operand's sizes times the call's */
    FY_INDEXED,        /* the first operand's with one dimension replaced by the index's */
    FY_GATHERED,       /* the index's */
    FY_SCATTERED,      /* the first operand's, which is written in place */
    FY_COUNTED,        /* given by the call, which counted the elements before */
} fy_shape_rule;

/* X(name, operands, dtypes, dtype rule, shape rule, flops, gradient, scalars, notes)
 *
 * flops: per element of the result (of the operand where the shape is reduced); matmul counts 2k. gradient: that of
 * each operand, as an expression that lib/autograd/gradients.c compiles: g is the gradient of the result, r the result,
 * a, b, c the operands, n the node. What it mentions is saved. Summing to a broadcast operand's shape is implied, and
 * conversion to its dtype and device. OP: an op; BY: a function of gradients.h. (): not differentiable; NONE: not by
 * this operand; REFUSED: it has a gradient, which PyTorch does not compute either. scalars: indices into w->real[], e.g.
 * w->real[FY_ADD_alpha], and w->integer[] for integers. They follow the operands' numbers.
 *
 * Layouts. Inputs of a broadcasting op are expanded to the result's shape (stride 0 where a size was 1). A reduced
 * operand has the kept dimensions first, in the result's order, then the w->reduced ones; the result's layout has only
 * the kept ones. FY_ALONG: operand and result have their one dimension last, and w->reduced is 1. Products: two batches
 * of matrices with equal batch dimensions (addmm: in[0] is expanded to the result; in[1] and in[2] are the matrices).
 * FY_ROWS: in[0] has the classes last; in[1] and the result lack that dimension. FY_NEW_LAST: in[0] has the result's
 * shape, with stride 0 in the new dimension.
 *
 * FY_INDEXED: in[0] has the indexed dimension last; the result has the other dimensions first, then the index's.
 * FY_GATHERED and FY_SCATTERED: operands and result have the dimension last; the other dimensions of in[0] (and of the
 * scattered source) are cut to the index's sizes. prefix_count treats all dimensions as one row, in row-major order:
 * w->reduced is all of them. nonzero and masked_select: the operands as they are; the last one is prefix_count's
 * result, the number of selected elements up to and including each one: where it grows, that element is selected.
 *
 * Numbers: an input whose data is NULL is a number, real[i] or integer[i] for in[i] by its dtype: a C number (x + 2.5)
 * or a 0-dim CPU tensor, passed as a kernel argument.
 *
 * Random ops share their scalars. On a GPU, FY_RANDOM_blocks is the number of blocks of FY_RANDOM_THREADS threads that
 * it runs at once; as in PyTorch at most that many threads share the elements, and each uses Philox counters from
 * FY_RANDOM_counter on (random.cu). The host uses its own generator (host_random.c). */
enum { FY_RANDOM_seed, FY_RANDOM_counter, FY_RANDOM_blocks, FY_RANDOM_low, FY_RANDOM_high };
enum { FY_RANDOM_mean = FY_RANDOM_low, FY_RANDOM_std, FY_RANDOM_p = FY_RANDOM_low, FY_RANDOM_value }; /* in real[] */
enum { FY_RANDOM_THREADS = 256, FY_LONG_RANGE = 1 << 28 }; /* from this range on randint draws 64 bits per element */

#define FY_SCALARS(...) __VA_ARGS__
#define FY_OPS(X) \
    X(fill,         0, FY_ALL_TYPES, FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE,  0, (BY(zeros, g)), FY_SCALARS(FY_FILL_value), "") \
    X(arange,       0, FY_NOT_BOOL,  FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE,  1, (), FY_SCALARS(FY_ARANGE_start, FY_ARANGE_step), "") \
    X(linspace,     0, FY_NOT_BOOL,  FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE,  2, (), FY_SCALARS(FY_LINSPACE_start, FY_LINSPACE_end), "") \
    X(eye,          0, FY_ALL_TYPES, FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE,  0, (), FY_SCALARS(), "") \
    X(rand,         0, FY_REALS,     FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 10, (), FY_SCALARS(), "FY_RANDOM_...") \
    X(randn,        0, FY_REALS,     FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 20, (), FY_SCALARS(), "FY_RANDOM_...") \
    X(uniform,      0, FY_REALS,     FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 12, (BY(zeros, g)), FY_SCALARS(), "FY_RANDOM_...; real[]: between low and high") \
    X(normal,       0, FY_REALS,     FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 22, (BY(zeros, g)), FY_SCALARS(), "FY_RANDOM_...; real[]: mean and std") \
    X(bernoulli,    0, FY_REALS,     FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 10, (BY(zeros, g)), FY_SCALARS(), "FY_RANDOM_...; real[]: value with probability p, else 0") \
    X(randint,      0, FY_ALL_TYPES, FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 10, (), FY_SCALARS(), "FY_RANDOM_...") \
    X(randperm,     0, FY_NOT_BOOL,  FY_GIVEN_DTYPE,   FY_GIVEN_SHAPE, 40, (), FY_SCALARS(), "FY_RANDOM_...") \
    X(cast,         1, FY_ALL_TYPES, FY_GIVEN_DTYPE,   FY_BROADCAST,    0, (g), FY_SCALARS(), "") \
    X(clone,        1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_BROADCAST,    0, (g), FY_SCALARS(), "strided to strided") \
    X(add,          2, FY_ALL_TYPES, FY_PROMOTED,      FY_BROADCAST,    1, (g, OP(mul, g, scalar(n, FY_ADD_alpha))), FY_SCALARS(FY_ADD_alpha), "a + alpha * b") \
    X(sub,          2, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    1, (g, OP(mul, g, minus_scalar(n, FY_SUB_alpha))), FY_SCALARS(FY_SUB_alpha), "a - alpha * b") \
    X(mul,          2, FY_ALL_TYPES, FY_PROMOTED,      FY_BROADCAST,    1, (OP(mul, g, b), OP(mul, g, a)), FY_SCALARS(), "") \
    X(div,          2, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,    1, (OP(div, g, b), OP(neg, OP(mul, g, OP(div, OP(div, a, b), b)))), FY_SCALARS(), "") \
    X(floor_divide, 2, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    1, (REFUSED, REFUSED), FY_SCALARS(), "toward minus infinity") \
    X(remainder,    2, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    1, (g, OP(neg, OP(mul, g, OP(floor_divide, a, b)))), FY_SCALARS(), "of the divisor's sign") \
    X(pow,          2, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,   20, (BY(base_of_power, g, a, b), BY(exponent_of_power, g, a, b, r)), FY_SCALARS(), "") \
    X(maximum,      2, FY_ALL_TYPES, FY_PROMOTED,      FY_BROADCAST,    1, (BY(unless_less, g, a, b), BY(unless_less, g, b, a)), FY_SCALARS(), "NaN if either is") \
    X(minimum,      2, FY_ALL_TYPES, FY_PROMOTED,      FY_BROADCAST,    1, (BY(unless_less, g, b, a), BY(unless_less, g, a, b)), FY_SCALARS(), "NaN if either is") \
    X(clamp_min,    2, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    1, (WHERE(OP(ge, a, b), g), WHERE(OP(lt, a, b), g)), FY_SCALARS(), "NaN if either is") \
    X(clamp_max,    2, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    1, (WHERE(OP(le, a, b), g), WHERE(OP(gt, a, b), g)), FY_SCALARS(), "NaN if either is") \
    X(clamp,        3, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    2, (WHERE(OP(logical_and, OP(ge, a, b), OP(le, a, c)), g), WHERE(OP(logical_and, OP(lt, a, b), OP(lt, b, c)), g), WHERE(OP(logical_or, OP(gt, a, c), OP(gt, b, c)), g)), FY_SCALARS(), "NaN if any is; c where b > c") \
    X(lerp,         3, FY_REALS,     FY_ONE_DTYPE,     FY_BROADCAST,    3, (OP(mul, g, BY(one_minus, c)), OP(mul, g, c), OP(mul, g, OP(sub, b, a))), FY_SCALARS(), "a + c * (b - a)") \
    X(addcmul,      3, FY_NOT_BOOL,  FY_PROMOTED,      FY_BROADCAST,    3, (g, OP(mul, OP(mul, g, c), scalar(n, FY_ADDCMUL_value)), OP(mul, OP(mul, g, b), scalar(n, FY_ADDCMUL_value))), FY_SCALARS(FY_ADDCMUL_value), "a + value * b * c") \
    X(addcdiv,      3, FY_REALS,     FY_PROMOTED,      FY_BROADCAST,    3, (g, OP(mul, OP(div, g, c), scalar(n, FY_ADDCDIV_value)), OP(mul, OP(div, OP(mul, g, b), OP(mul, c, c)), minus_scalar(n, FY_ADDCDIV_value))), FY_SCALARS(FY_ADDCDIV_value), "a + value * b / c") \
    X(masked_fill,  2, FY_ALL_TYPES, FY_MASKED,        FY_BROADCAST,    0, (OP(masked_fill, g, b), NONE), FY_SCALARS(FY_MASKED_FILL_value), "b ? value : a") \
    X(where,        3, FY_ALL_TYPES, FY_CHOSEN,        FY_BROADCAST,    1, (NONE, WHERE(a, g), OP(where, a, ZERO, g)), FY_SCALARS(), "a ? b : c") \
    X(eq,           2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(ne,           2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(lt,           2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(le,           2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(gt,           2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(ge,           2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(logical_and,  2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(logical_or,   2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(isclose,      2, FY_ALL_TYPES, FY_COMPARED,      FY_BROADCAST,    6, (), FY_SCALARS(FY_ISCLOSE_rtol, FY_ISCLOSE_atol, FY_ISCLOSE_equal_nan), "abs(a - b) <= atol + rtol * abs(b)") \
    X(logical_not,  1, FY_ALL_TYPES, FY_TRUTH,         FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(isnan,        1, FY_ALL_TYPES, FY_TRUTH,         FY_BROADCAST,    1, (), FY_SCALARS(), "") \
    X(neg,          1, FY_NOT_BOOL,  FY_OWN_DTYPE,     FY_BROADCAST,    1, (OP(neg, g)), FY_SCALARS(), "") \
    X(abs,          1, FY_NOT_BOOL,  FY_OWN_DTYPE,     FY_BROADCAST,    1, (OP(mul, g, OP(sign, a))), FY_SCALARS(), "") \
    X(sign,         1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_BROADCAST,    1, (BY(zeros, g)), FY_SCALARS(), "-1, 0 or 1; 0 for NaN") \
    X(relu,         1, FY_NOT_BOOL,  FY_OWN_DTYPE,     FY_BROADCAST,    1, (OP(threshold_backward, g, r)), FY_SCALARS(), "") \
    X(floor,        1, FY_NOT_BOOL,  FY_OWN_DTYPE,     FY_BROADCAST,    1, (BY(zeros, g)), FY_SCALARS(), "") \
    X(ceil,         1, FY_NOT_BOOL,  FY_OWN_DTYPE,     FY_BROADCAST,    1, (BY(zeros, g)), FY_SCALARS(), "") \
    X(round,        1, FY_NOT_BOOL,  FY_OWN_DTYPE,     FY_BROADCAST,    1, (BY(zeros, g)), FY_SCALARS(), "halves to even") \
    X(exp,          1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,   10, (OP(mul, g, r)), FY_SCALARS(), "") \
    X(log,          1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,   10, (OP(div, g, a)), FY_SCALARS(), "") \
    X(sqrt,         1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,    4, (OP(div, g, OP(mul, r, NUMBER(2)))), FY_SCALARS(), "") \
    X(sin,          1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,   10, (OP(mul, g, OP(cos, a))), FY_SCALARS(), "") \
    X(cos,          1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,   10, (OP(neg, OP(mul, g, OP(sin, a)))), FY_SCALARS(), "") \
    X(tanh,         1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,   10, (OP(tanh_backward, g, r)), FY_SCALARS(), "") \
    X(sigmoid,      1, FY_REALS,     FY_PROMOTED_REAL, FY_BROADCAST,   10, (OP(sigmoid_backward, g, r)), FY_SCALARS(), "") \
    X(threshold_backward, 2, FY_NOT_BOOL, FY_PROMOTED, FY_BROADCAST, 1, (), FY_SCALARS(), "of relu: b > 0 ? a : 0; b is its result") \
    X(tanh_backward,    2, FY_REALS, FY_PROMOTED,      FY_BROADCAST,    3, (), FY_SCALARS(), "a * (1 - b * b)") \
    X(sigmoid_backward, 2, FY_REALS, FY_PROMOTED,      FY_BROADCAST,    3, (), FY_SCALARS(), "a * b * (1 - b)") \
    X(tril,         1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_BROADCAST,    0, (BY(triangle, n, g)), FY_SCALARS(FY_TRIL_diagonal), "of the last two dimensions; the rest is 0") \
    X(triu,         1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_BROADCAST,    0, (BY(triangle, n, g)), FY_SCALARS(FY_TRIU_diagonal), "") \
    X(one_hot,      1, FY_INDICES,   FY_OWN_DTYPE,     FY_NEW_LAST,     1, (), FY_SCALARS(), "1 at the class; a wrong class stops a card") \
    X(sum,          1, FY_ALL_TYPES, FY_TOTAL,         FY_REDUCED,      1, (BY(spread, n, g)), FY_SCALARS(), "") \
    X(prod,         1, FY_ALL_TYPES, FY_TOTAL,         FY_REDUCED,      1, (BY(product_of_others, n, g, a, r)), FY_SCALARS(), "") \
    X(mean,         1, FY_REALS,     FY_REAL_ONLY,     FY_REDUCED,      1, (OP(div, BY(spread, n, g), BY(reduced_count, n))), FY_SCALARS(), "") \
    X(var,          1, FY_REALS,     FY_REAL_ONLY,     FY_REDUCED,      4, (BY(variance, n, g, a)), FY_SCALARS(FY_VAR_correction), "divides by n - correction") \
    X(max,          1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_REDUCED,      1, (BY(extreme, n, g, a, r)), FY_SCALARS(), "NaN if any is") \
    X(min,          1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_REDUCED,      1, (BY(extreme, n, g, a, r)), FY_SCALARS(), "NaN if any is") \
    X(argmax,       1, FY_NOT_BOOL,  FY_POSITION,      FY_REDUCED,      1, (), FY_SCALARS(), "the first of equals; a NaN is the largest") \
    X(argmin,       1, FY_NOT_BOOL,  FY_POSITION,      FY_REDUCED,      1, (), FY_SCALARS(), "the first of equals; a NaN is the smallest") \
    X(any,          1, FY_ALL_TYPES, FY_TRUTH,         FY_REDUCED,      1, (), FY_SCALARS(), "") \
    X(all,          1, FY_ALL_TYPES, FY_TRUTH,         FY_REDUCED,      1, (), FY_SCALARS(), "") \
    X(norm,         1, FY_REALS,     FY_REAL_ONLY,     FY_REDUCED,      2, (BY(norm, n, g, a, r)), FY_SCALARS(FY_NORM_p), "sum(abs(a) ** p) ** (1 / p)") \
    X(softmax,      1, FY_REALS,     FY_REAL_ONLY,     FY_ALONG,       13, (BY(along, n, FY_OP_softmax_backward, g, r)), FY_SCALARS(), "") \
    X(log_softmax,  1, FY_REALS,     FY_REAL_ONLY,     FY_ALONG,       13, (BY(along, n, FY_OP_log_softmax_backward, g, r)), FY_SCALARS(), "") \
    X(softmax_backward, 2, FY_REALS, FY_REAL_ONLY,     FY_ALONG,        4, (), FY_SCALARS(), "b * (a - sum(a * b)); b is softmax's result") \
    X(log_softmax_backward, 2, FY_REALS, FY_REAL_ONLY, FY_ALONG,    13, (), FY_SCALARS(), "a - exp(b) * sum(a)") \
    X(layer_norm,   1, FY_REALS,     FY_REAL_ONLY,     FY_ALONG,        7, (BY(row_moments, n, g, a)), FY_SCALARS(FY_LAYER_NORM_eps), "(a - mean) / sqrt(variance + eps)") \
    X(layer_norm_backward, 2, FY_REALS, FY_REAL_ONLY,  FY_ALONG,       14, (), FY_SCALARS(FY_LAYER_NORM_BACKWARD_eps), "b is layer_norm's operand") \
    X(matmul,       2, FY_NOT_BOOL,  FY_EQUAL_DTYPES,  FY_MATRIX_PRODUCT, 2, (BY(left_factor, n, g, b), BY(right_factor, n, g, a)), FY_SCALARS(), "") \
    X(addmm,        3, FY_NOT_BOOL,  FY_EQUAL_DTYPES,  FY_MATRIX_PRODUCT, 2, (OP(mul, g, scalar(n, FY_ADDMM_beta)), OP(mul, BY(left_factor, n, g, c), scalar(n, FY_ADDMM_alpha)), OP(mul, BY(right_factor, n, g, b), scalar(n, FY_ADDMM_alpha))), FY_SCALARS(FY_ADDMM_beta, FY_ADDMM_alpha), "beta * a + alpha * (b @ c); beta 0 ignores a") \
    X(nll_loss,     2, FY_REALS,     FY_CLASSIFIED,    FY_ROWS,         2, (BY(class_scores, n, g, b), NONE), FY_SCALARS(FY_NLL_LOSS_smoothing), "of labels; class -100 gives 0") \
    X(nll_loss_backward, 2, FY_REALS, FY_CLASSIFIED,   FY_SPREAD_ROWS,  1, (), FY_SCALARS(FY_NLL_LOSS_BACKWARD_smoothing), "-a at the row's class") \
    X(repeat,       1, FY_ALL_TYPES, FY_OWN_DTYPE,     FY_REPEATED,     0, (BY(sum_of_copies, n, g)), FY_SCALARS(), "") \
    X(index_select, 2, FY_ALL_TYPES, FY_BY_INDEX,      FY_INDEXED,      0, (BY(add_rows, n, g, b), NONE), FY_SCALARS(), "") \
    X(embedding,    2, FY_ALL_TYPES, FY_BY_INDEX,      FY_INDEXED,      0, (BY(add_rows, n, g, b), NONE), FY_SCALARS(), "rows by their numbers") \
    X(gather,       2, FY_ALL_TYPES, FY_BY_INDEX,      FY_GATHERED,     0, (BY(add_elements, n, g, b), NONE), FY_SCALARS(), "") \
    X(scatter_add,  3, FY_ALL_TYPES, FY_BY_INDEX,      FY_SCATTERED,    1, (g, NONE, BY(take_elements, n, g, b)), FY_SCALARS(), "in the index's order, on a card too") \
    X(cumsum,       1, FY_ALL_TYPES, FY_TOTAL,         FY_ALONG,        1, (BY(sum_from_end, n, g)), FY_SCALARS(), "") \
    X(prefix_count, 1, FY_ALL_TYPES, FY_POSITION,      FY_ALONG,        1, (), FY_SCALARS(), "how many are not 0, up to each element") \
    X(argsort,      1, FY_ALL_TYPES, FY_POSITION,      FY_ALONG,       20, (), FY_SCALARS(FY_ARGSORT_descending), "equals in their order; a NaN is the largest") \
    X(nonzero,      1, FY_ALL_TYPES, FY_POSITION,      FY_COUNTED,      0, (), FY_SCALARS(), "indices of what is not 0, row by row") \
    X(masked_select, 2, FY_ALL_TYPES, FY_BY_COUNT,     FY_COUNTED,      0, (BY(put_selected, n, g, b), NONE), FY_SCALARS(), "row by row")

typedef enum fy_op_index {
#define X(name, ...) FY_OP_##name,
    FY_OPS(X)
#undef X
    FY_OP_COUNT
} fy_op_index;

/* FY_ADD_alpha and the like: indices into real[] and integer[]. */
#define X(name, nin, types, dtype, shape, flops, gradient, scalars, words) \
    enum { FY_LAST_OPERAND_##name = nin - 1, scalars };
FY_OPS(X)
#undef X

typedef struct fy_op {
    const char *name;
    int nin;
    fy_types types;
    fy_dtype_rule dtype;
    fy_shape_rule shape;
    int64_t flops;
    const char *gradient; /* the expressions, as text */
} fy_op;

extern const fy_op fy_ops[FY_OP_COUNT];

enum { FY_IGNORE_INDEX = -100 }; /* nll_loss: the class of an ignored row, PyTorch's ignore_index */

/* May an operand be a number, or a 0-dim CPU tensor that is passed as one? */
bool fy_op_takes_numbers(int op);

/* Beside 16-bit floats, is a number kept in float32 until the result is rounded? Else it is rounded to 16 bits first. */
static inline bool fy_op_keeps_number(int op)
{
    return op == FY_OP_add || op == FY_OP_sub || op == FY_OP_mul || op == FY_OP_div;
}

/* Does the op support the dtype? */
bool fy_op_takes(int op, fy_dtype dtype);

/* What the gradient of operand i reads: bit 0 to 2 for operands a, b, c, bit FY_READS_RESULT for r. */
enum { FY_READS_RESULT = 7 };
unsigned fy_op_gradient_reads(int op, int i);
bool fy_op_is_differentiable(int op, int i);
bool fy_op_refuses_gradient(int op); /* recorded, but a backward pass through it is an error */

/* Sets w->flops and w->bytes; the operands are set. (op.c) */
void fy_op_cost(fy_run_work *w);

/* The units of a card that compute an op whose result has that dtype: products of 16-bit floats run in tensor cores.
 * float32 products do not: PyTorch uses TF32 only if it is told to. */
typedef enum fy_arithmetic { FY_SINGLE, FY_DOUBLE, FY_TENSOR } fy_arithmetic;
fy_arithmetic fy_op_arithmetic(int op, fy_dtype result);
int fy_op_named(const char *name, size_t length); /* index into fy_ops; -1: none */

#endif
