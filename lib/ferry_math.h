/* ferry_math.h: the operations. Included by ferry.h.
 *
 * An operation runs on its operands' device and returns a new tensor there; the in-place form (fy_add_) writes into its
 * first operand and returns that. Operands must be on one device; numbers and 0-dim CPU tensors can be combined with
 * tensors on a GPU. Shapes broadcast and dtypes are promoted as in PyTorch. Errors: see ferry.h. */
#ifndef FERRY_MATH_H
#define FERRY_MATH_H

/* ---- two operands: tensors of shapes that broadcast; one of them may be a number -------------- */

#define fy_add(...) FY_ALPHA(fy_add_at, "fy_add", #__VA_ARGS__, __VA_ARGS__) /* a + b; fy_add(a, b, alpha): a + alpha * b */
#define fy_sub(...) FY_ALPHA(fy_sub_at, "fy_sub", #__VA_ARGS__, __VA_ARGS__) /* a - b; fy_sub(a, b, alpha): a - alpha * b */
#define fy_mul(a, b)          FY_TWO(mul, #a ", " #b, a, b)    /* a * b */
#define fy_div(a, b)          FY_TWO(div, #a ", " #b, a, b)    /* a / b; a float result also for integers */
#define fy_floor_divide(a, b) FY_TWO(floor_divide, #a ", " #b, a, b) /* rounded down; an integer 0 as b is an error,
                                                                              and so is fy_backward through it */
#define fy_remainder(a, b)    FY_TWO(remainder, #a ", " #b, a, b) /* a - b * floor_divide(a, b); has b's sign */
#define fy_pow(a, b)          FY_TWO(pow, #a ", " #b, a, b)    /* a to the power of b */
#define fy_maximum(a, b)      FY_TWO(maximum, #a ", " #b, a, b) /* the larger; NaN if either is */
#define fy_minimum(a, b)      FY_TWO(minimum, #a ", " #b, a, b)
#define fy_clamp_min(x, min)  FY_TWO(clamp_min, #x ", " #min, x, min) /* at least min */
#define fy_clamp_max(x, max)  FY_TWO(clamp_max, #x ", " #max, x, max) /* at most max */
#define fy_eq(a, b)           FY_TWO(eq, #a ", " #b, a, b)     /* comparisons give bool */
#define fy_ne(a, b)           FY_TWO(ne, #a ", " #b, a, b)
#define fy_lt(a, b)           FY_TWO(lt, #a ", " #b, a, b)
#define fy_le(a, b)           FY_TWO(le, #a ", " #b, a, b)
#define fy_gt(a, b)           FY_TWO(gt, #a ", " #b, a, b)
#define fy_ge(a, b)           FY_TWO(ge, #a ", " #b, a, b)
#define fy_logical_and(a, b)  FY_TWO(logical_and, #a ", " #b, a, b) /* bool; nonzero is true */
#define fy_logical_or(a, b)   FY_TWO(logical_or, #a ", " #b, a, b)

#define fy_isclose(...)  fy_isclose_at(FY_CLOSE("fy_isclose", #__VA_ARGS__, __VA_ARGS__)) /* |a - b| <= .atol + .rtol *
                                                                              |b|; .equal_nan; equal dtypes */
#define fy_allclose(...) fy_allclose_at(FY_CLOSE("fy_allclose", #__VA_ARGS__, __VA_ARGS__)) /* a C bool: all close?
                                                                              Synchronizes with a GPU */
#define fy_equal(a, b)   fy_equal_at(FY_AT("fy_equal", #a ", " #b), a, b) /* a C bool: same shape and all equal?
                                                                              Synchronizes with a GPU */

/* Three operands: each a tensor or a number, except the mask. */
#define fy_clamp(x, min, max) FY_THREE(clamp, #x ", " #min ", " #max, x, min, max) /* min(max(x, min), max); the bounds
                                                                              are two numbers or two tensors */
#define fy_where(mask, a, b)  FY_THREE(where, #mask ", " #a ", " #b, mask, a, b)   /* mask ? a : b; mask is bool */
#define fy_lerp(a, b, weight) FY_THREE(lerp, #a ", " #b ", " #weight, a, b, weight) /* a + weight * (b - a); a, b of one
                                                                              float dtype, weight a number or a tensor
                                                                              of it */
#define fy_addcmul(...) FY_VALUED(addcmul, "fy_addcmul", #__VA_ARGS__, __VA_ARGS__) /* fy_addcmul(a, b, c[, value]): a +
                                                                              value * b * c */
#define fy_addcdiv(...) FY_VALUED(addcdiv, "fy_addcdiv", #__VA_ARGS__, __VA_ARGS__) /* a + value * b / c */
#define fy_masked_fill(x, mask, value) /* value (a number or 0-dim tensor) where mask is true, else x */ \
    fy_masked_fill_at(FY_AT("fy_masked_fill", #x ", " #mask ", " #value), x, mask, FY_ARG(value))

/* In place: the result must broadcast to a's shape, and its dtype must not be of a higher kind than a's (bool < integer
 * < float). Returns a itself: it needs no fy_free and no FY_SCOPE. */
#define fy_add_(...) FY_ALPHA(fy_add__at, "fy_add_", #__VA_ARGS__, __VA_ARGS__)
#define fy_sub_(...) FY_ALPHA(fy_sub__at, "fy_sub_", #__VA_ARGS__, __VA_ARGS__)
#define fy_mul_(a, b)         FY_TWO(mul_, #a ", " #b, a, b)
#define fy_div_(a, b)         FY_TWO(div_, #a ", " #b, a, b)
#define fy_addcmul_(...) FY_VALUED(addcmul_, "fy_addcmul_", #__VA_ARGS__, __VA_ARGS__)
#define fy_addcdiv_(...) FY_VALUED(addcdiv_, "fy_addcdiv_", #__VA_ARGS__, __VA_ARGS__)
#define fy_masked_fill_(x, mask, value) \
    fy_masked_fill__at(FY_AT("fy_masked_fill_", #x ", " #mask ", " #value), x, mask, FY_ARG(value))
#define fy_fill_(x, value) fy_fill__at(FY_AT("fy_fill_", #x ", " #value), x, FY_ARG(value)) /* every element */
#define fy_zero_(x)        fy_fill__at(FY_AT("fy_zero_", #x), x, fy_arg_int(0))

/* Random values in place, from the device's generator; x is of a float dtype. Each returns x itself. */
#define fy_uniform_(x, low, high) fy_uniform__at(FY_AT("fy_uniform_", #x ", " #low ", " #high), x, low, high) /* in [low,
                                                                              high) */
#define fy_normal_(x, mean, std) fy_normal__at(FY_AT("fy_normal_", #x ", " #mean ", " #std), x, mean, std)
#define fy_bernoulli_(x, p)      fy_bernoulli__at(FY_AT("fy_bernoulli_", #x ", " #p), x, p) /* 1 with probability p, else 0 */
#define fy_dropout(x, p)  fy_dropout_at(FY_AT("fy_dropout", #x ", " #p), x, p) /* 0 with probability p, else x / (1 - p);
                                                                              x itself for p 0 */

/* ---- one operand, element by element --------------------------------------------------------- */

#define fy_neg(x)         FY_ONE(neg, #x, x)
#define fy_abs(x)         FY_ONE(abs, #x, x)
#define fy_sign(x)        FY_ONE(sign, #x, x)       /* -1, 0 or 1 */
#define fy_relu(x)        FY_ONE(relu, #x, x)       /* max(x, 0) */
#define fy_floor(x)       FY_ONE(floor, #x, x)
#define fy_ceil(x)        FY_ONE(ceil, #x, x)
#define fy_round(x)       FY_ONE(round, #x, x)      /* to nearest, ties to even */
#define fy_exp(x)         FY_ONE(exp, #x, x)        /* this and the next six: a float result also for integers */
#define fy_log(x)         FY_ONE(log, #x, x)        /* natural */
#define fy_sqrt(x)        FY_ONE(sqrt, #x, x)
#define fy_sin(x)         FY_ONE(sin, #x, x)
#define fy_cos(x)         FY_ONE(cos, #x, x)
#define fy_tanh(x)        FY_ONE(tanh, #x, x)
#define fy_sigmoid(x)     FY_ONE(sigmoid, #x, x)    /* 1 / (1 + exp(-x)) */
#define fy_logical_not(x) FY_ONE(logical_not, #x, x) /* bool */
#define fy_isnan(x)       FY_ONE(isnan, #x, x)      /* bool */
#define fy_tril(...) FY_WITH_NUMBER(fy_tril_at, 0, "fy_tril", #__VA_ARGS__, __VA_ARGS__) /* fy_tril(x[, k]): each
                                                                              matrix's part on and below diagonal k (0:
                                                                              the main one, 1: the next to the right); 0
                                                                              elsewhere */
#define fy_triu(...) FY_WITH_NUMBER(fy_triu_at, 0, "fy_triu", #__VA_ARGS__, __VA_ARGS__) /* on and above it */
#define fy_relu_(x)       FY_ONE(relu_, #x, x)      /* in place */
#define fy_neg_(x)        FY_ONE(neg_, #x, x)
#define fy_exp_(x)        FY_ONE(exp_, #x, x)
#define fy_sqrt_(x)       FY_ONE(sqrt_, #x, x)

/* ---- reductions: fy_sum(x) of all elements, fy_sum(x, (0, 1)) along these dimensions; .keepdim = true ---- */

#define fy_sum(...)    fy_sum_at(FY_REDUCE("fy_sum", #__VA_ARGS__, __VA_ARGS__))   /* int64 for integers; .dtype */
#define fy_prod(...)   fy_prod_at(FY_REDUCE("fy_prod", #__VA_ARGS__, __VA_ARGS__)) /* likewise */
#define fy_mean(...)   fy_mean_at(FY_REDUCE("fy_mean", #__VA_ARGS__, __VA_ARGS__)) /* float dtypes only; .dtype */
#define fy_var(...)    fy_var_at(FY_REDUCE("fy_var", #__VA_ARGS__, __VA_ARGS__))   /* sum((x - mean)^2) / (n - 1);
                                                                                   .biased: / n */
#define fy_max(...)    fy_max_at(FY_REDUCE("fy_max", #__VA_ARGS__, __VA_ARGS__))   /* all elements, or one dimension;
                                                                              .indices = &i */
#define fy_min(...)    fy_min_at(FY_REDUCE("fy_min", #__VA_ARGS__, __VA_ARGS__))
#define fy_argmax(...) fy_argmax_at(FY_REDUCE("fy_argmax", #__VA_ARGS__, __VA_ARGS__)) /* the index of the maximum;
                                                                              int64 */
#define fy_argmin(...) fy_argmin_at(FY_REDUCE("fy_argmin", #__VA_ARGS__, __VA_ARGS__))
#define fy_any(...)    fy_any_at(FY_REDUCE("fy_any", #__VA_ARGS__, __VA_ARGS__))   /* bool */
#define fy_all(...)    fy_all_at(FY_REDUCE("fy_all", #__VA_ARGS__, __VA_ARGS__))
#define fy_norm(...)   fy_norm_at(FY_REDUCE("fy_norm", #__VA_ARGS__, __VA_ARGS__)) /* sum(|x|^p)^(1/p); .p, default 2;
                                                                              float dtypes only; .dtype */
#define fy_softmax(x, dim)     fy_softmax_at(FY_AT("fy_softmax", #x ", " #dim), x, dim) /* exp(x) / sum(exp(x)) along dim */
#define fy_log_softmax(x, dim) fy_log_softmax_at(FY_AT("fy_log_softmax", #x ", " #dim), x, dim)

#define fy_layer_norm(x, ...) FY_LAYER_NORM("fy_layer_norm", #x ", " #__VA_ARGS__, x, __VA_ARGS__)
                               /* fy_layer_norm(x, (n)): (x - mean) / sqrt(variance + eps) over the last dimensions, of
                                * these sizes; times .weight, plus .bias, both of these sizes and of x's dtype.
                                * .eps: default 1e-5 */

/* ---- products: both operands of one float dtype (no promotion); integers on the CPU only ---- */

#define fy_matmul(a, b) fy_matmul_at(FY_AT("fy_matmul", #a ", " #b), a, b) /* (..., n, k) x (..., k, m) -> (..., n, m);
                                                                              a 1-D operand is a row (left) or a column
                                                                              (right) */
#define fy_mm(a, b)     fy_mm_at(FY_AT("fy_mm", #a ", " #b), a, b)    /* (n, k) x (k, m) -> (n, m) */
#define fy_bmm(a, b)    fy_bmm_at(FY_AT("fy_bmm", #a ", " #b), a, b)  /* (b, n, k) x (b, k, m) -> (b, n, m) */
#define fy_mv(a, x)     fy_mv_at(FY_AT("fy_mv", #a ", " #x), a, x)    /* (n, k) x (k) -> (n) */
#define fy_dot(a, b)    fy_dot_at(FY_AT("fy_dot", #a ", " #b), a, b)  /* (n) x (n) -> () */
#define fy_addmm(...)   FY_ADDMM("fy_addmm", #__VA_ARGS__, __VA_ARGS__)   /* fy_addmm(c, a, b[, beta, alpha]):
                                                                           beta * c + alpha * (a @ b) */
#define fy_linear(...)  FY_LINEAR("fy_linear", #__VA_ARGS__, __VA_ARGS__) /* fy_linear(x, weight[, bias]): x @
                                                                              weight.t() + bias; x (..., in), weight
                                                                              (out, in), bias (out) */

/* ---- losses: the mean over the rows; .reduction = FY_SUM or FY_NONE ---- */

#define fy_cross_entropy(...) fy_cross_entropy_at(FY_LOSS("fy_cross_entropy", #__VA_ARGS__, __VA_ARGS__))
                              /* scores (N, C, ...) or (C), classes int64 (N, ...) or (): -log_softmax(scores) at the
                               * class. Class -100 is ignored; .label_smoothing. A float target of the scores' shape
                               * holds probabilities */
#define fy_mse_loss(...)      fy_mse_loss_at(FY_LOSS("fy_mse_loss", #__VA_ARGS__, __VA_ARGS__)) /* (a - b)^2; shapes
                                                                              broadcast */

/* ---- type promotion --------------------------------------------------------------------------------- */

#define fy_result_type(a, b) fy_result_type_at(FY_AT("fy_result_type", #a ", " #b), FY_ARG(a), FY_ARG(b))
                              /* the dtype of a + b; tensors or numbers */
fy_dtype fy_promote_types(fy_dtype a, fy_dtype b); /* for two tensors with dimensions */
bool fy_can_cast(fy_dtype from, fy_dtype to);      /* may a `from` result be stored in a `to` tensor? (in-place
                                                                              operations) */

/* ---- how the macros are made --------------------------------------------------------------------- */

/* The argument text is passed from the outermost macro: an inner one would see its arguments expanded. */
#define FY_TWO(op, text, a, b) fy_##op##_at(FY_AT("fy_" #op, text), FY_ARG(a), FY_ARG(b))
#define FY_THREE(op, text, a, b, c) fy_##op##_at(FY_AT("fy_" #op, text), FY_ARG(a), FY_ARG(b), FY_ARG(c))
#define FY_ONE(op, text, x) fy_##op##_at(FY_AT("fy_" #op, text), x)
#define FY_ALPHA(f, call, text, ...) \
    f((FY_AT_MOST(3, call, "(a, b, alpha)", __VA_ARGS__), \
       FY_NAMELESS(call, "(a, b, alpha)", FY_THIRD_OR(1, __VA_ARGS__)), FY_AT(call, text)), FY_ARG(FY_FIRST(__VA_ARGS__)), \
      FY_ARG(FY_SECOND_OR(FY_TOO_FEW(call, "(a, b)"), __VA_ARGS__)), \
      FY_ARG(FY_THIRD_OR(1, __VA_ARGS__)))
#define FY_VALUED(op, call, text, ...) \
    fy_##op##_at((FY_AT_MOST(4, call, "(a, b, c, value)", __VA_ARGS__), \
                  FY_NAMELESS(call, "(a, b, c, value)", FY_FOURTH_OR(1, __VA_ARGS__, 1, 1)), FY_AT(call, text)), FY_FIRST(__VA_ARGS__), \
                 FY_SECOND_OR(FY_NO_TENSOR(call, "(a, b, c)"), __VA_ARGS__), \
                 FY_THIRD_OR(FY_NO_TENSOR(call, "(a, b, c)"), __VA_ARGS__), FY_ARG(FY_FOURTH_OR(1, __VA_ARGS__, 1, 1)))
#define FY_ADDMM(call, text, ...) \
    fy_addmm_at((FY_AT_MOST(5, call, "(c, a, b, beta, alpha)", __VA_ARGS__), \
                 FY_NAMELESS(call, "(c, a, b, beta, alpha)", FY_FOURTH_OR(1, __VA_ARGS__, 1, 1)), FY_AT(call, text)), \
                FY_FIRST(__VA_ARGS__), FY_SECOND_OR(FY_NO_TENSOR(call, "(c, a, b)"), __VA_ARGS__), \
                FY_THIRD_OR(FY_NO_TENSOR(call, "(c, a, b)"), __VA_ARGS__), FY_ARG(FY_FOURTH_OR(1, __VA_ARGS__, 1, 1)), \
                FY_ARG(FY_FIFTH_OR(1, __VA_ARGS__, 1, 1, 1)))
#define FY_LINEAR(call, text, ...) \
    fy_linear_at((FY_AT_MOST(3, call, "(x, weight, bias)", __VA_ARGS__), \
                  FY_NAMELESS(call, "(x, weight, bias)", FY_THIRD_OR(0, __VA_ARGS__)), FY_AT(call, text)), FY_FIRST(__VA_ARGS__), \
                 FY_SECOND_OR(FY_NO_TENSOR(call, "(x, weight)"), __VA_ARGS__), FY_THIRD_OR(0, __VA_ARGS__))
#define FY_LAYER_NORM(call, text, x, ...) \
    fy_layer_norm_at(FY_AT(call, text), x, \
                     FY_SHAPE_IN("the sizes need parentheses of their own: fy_layer_norm(x, (32))", FY_FIRST(__VA_ARGS__)), \
                     FY_OPTIONS(fy_layer_norm_with, "fy_layer_norm(x, (32), .eps = 1e-6)", \
                                FY_EPS_TOLD_IN(FY_REST(__VA_ARGS__, .fy_end_ = 0))))
#define FY_CLOSE(call, text, ...) \
    FY_AT(call, text), FY_FIRST(__VA_ARGS__), FY_SECOND_OR(FY_NO_TENSOR(call, "(a, b)"), __VA_ARGS__), \
        FY_CLOSE_OPTS(call, __VA_ARGS__)
#define FY_LOSS(call, text, ...) \
    FY_AT(call, text), FY_FIRST(__VA_ARGS__), FY_SECOND_OR(FY_NO_TENSOR(call, "(x, target)"), __VA_ARGS__), \
        FY_LOSS_OPTS(call, __VA_ARGS__)

/* Operations with the same signature. The functions behind the macros are declared and defined (lib/ops/ops.c) from
 * these lists; tests and the fuzzer iterate over them. IN_PLACE: fy_mul_ and so on. */
#define FY_THREE_OPERAND_OPS(X) X(clamp) X(where) X(lerp)
#define FY_VALUE_OPS(X) X(addcmul) X(addcdiv) /* each has an in-place form */
#define FY_TWO_OPERAND_OPS(X) \
    X(mul) X(div) X(floor_divide) X(remainder) X(pow) X(maximum) X(minimum) X(clamp_min) X(clamp_max) X(eq) X(ne) \
    X(lt) X(le) X(gt) X(ge) X(logical_and) X(logical_or)
#define FY_TWO_OPERAND_OPS_IN_PLACE(X) X(mul) X(div)
#define FY_ALPHA_OPS(X) X(add) X(sub)
#define FY_ALPHA_OPS_IN_PLACE(X) X(add) X(sub)
#define FY_ONE_OPERAND_OPS(X) \
    X(neg) X(abs) X(sign) X(relu) X(floor) X(ceil) X(round) X(exp) X(log) X(sqrt) X(sin) X(cos) X(tanh) X(sigmoid) \
    X(logical_not) X(isnan)
#define FY_ONE_OPERAND_OPS_IN_PLACE(X) X(relu) X(neg) X(exp) X(sqrt)
#define FY_TRIANGLE_OPS(X) X(tril) X(triu)
#define FY_REDUCTIONS(X) X(sum) X(prod) X(mean) X(var) X(max) X(min) X(argmax) X(argmin) X(any) X(all) X(norm)
#define FY_IN_PLACE(op) X(op##_) /* uses the X that is defined at the point of use */
#define X(op) fy_tensor *fy_##op##_at(fy_site *at, fy_arg a, fy_arg b, fy_arg c);
FY_THREE_OPERAND_OPS(X)
FY_ALPHA_OPS(X)
FY_ALPHA_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) \
    fy_tensor *fy_##op##_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_tensor *c, fy_arg value); \
    fy_tensor *fy_##op##__at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_tensor *c, fy_arg value);
FY_VALUE_OPS(X)
#undef X
#define X(op) fy_tensor *fy_##op##_at(fy_site *at, fy_arg a, fy_arg b);
FY_TWO_OPERAND_OPS(X)
FY_TWO_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) fy_tensor *fy_##op##_at(fy_site *at, fy_tensor *x);
FY_ONE_OPERAND_OPS(X)
FY_ONE_OPERAND_OPS_IN_PLACE(FY_IN_PLACE)
#undef X
#define X(op) fy_tensor *fy_##op##_at(fy_site *at, fy_tensor *x, int64_t k);
FY_TRIANGLE_OPS(X)
#undef X
#define X(op) fy_tensor *fy_##op##_at(fy_site *at, fy_tensor *x, fy_shape dims, fy_reduce_opts o);
FY_REDUCTIONS(X)
#undef X
fy_tensor *fy_isclose_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_close_opts o);
bool fy_allclose_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_close_opts o);
bool fy_equal_at(fy_site *at, fy_tensor *a, fy_tensor *b);
fy_tensor *fy_fill__at(fy_site *at, fy_tensor *x, fy_arg value);
fy_tensor *fy_masked_fill_at(fy_site *at, fy_tensor *x, fy_tensor *mask, fy_arg value);
fy_tensor *fy_masked_fill__at(fy_site *at, fy_tensor *x, fy_tensor *mask, fy_arg value);
fy_tensor *fy_uniform__at(fy_site *at, fy_tensor *x, double low, double high);
fy_tensor *fy_normal__at(fy_site *at, fy_tensor *x, double mean, double std);
fy_tensor *fy_bernoulli__at(fy_site *at, fy_tensor *x, double p);
fy_tensor *fy_dropout_at(fy_site *at, fy_tensor *x, double p);
fy_tensor *fy_layer_norm_at(fy_site *at, fy_tensor *x, fy_shape shape, fy_layer_norm_with o);
fy_tensor *fy_softmax_at(fy_site *at, fy_tensor *x, int64_t dim);
fy_tensor *fy_log_softmax_at(fy_site *at, fy_tensor *x, int64_t dim);
fy_tensor *fy_matmul_at(fy_site *at, fy_tensor *a, fy_tensor *b);
fy_tensor *fy_mm_at(fy_site *at, fy_tensor *a, fy_tensor *b);
fy_tensor *fy_bmm_at(fy_site *at, fy_tensor *a, fy_tensor *b);
fy_tensor *fy_mv_at(fy_site *at, fy_tensor *a, fy_tensor *x);
fy_tensor *fy_dot_at(fy_site *at, fy_tensor *a, fy_tensor *b);
fy_tensor *fy_addmm_at(fy_site *at, fy_tensor *c, fy_tensor *a, fy_tensor *b, fy_arg beta, fy_arg alpha);
fy_tensor *fy_linear_at(fy_site *at, fy_tensor *x, fy_tensor *weight, fy_tensor *bias);
fy_tensor *fy_cross_entropy_at(fy_site *at, fy_tensor *x, fy_tensor *target, fy_loss_opts o);
fy_tensor *fy_mse_loss_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_loss_opts o);
fy_dtype fy_result_type_at(fy_site *at, fy_arg a, fy_arg b);

#endif
