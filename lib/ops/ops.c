/* ops.c: the operations of ferry_math.h that are one call of the dispatcher. */
#include "autocast.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "make.h"
#include "op.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

static fy_tensor *call(fy_call *c)
{
    if (c->out) return fy_dispatch(c); /* in place: no new reference */
    c->name = fy_name_for(c->at, NULL);
    return fy_scope_track(fy_dispatch(c));
}

/* ---- element by element -------------------------------------------------------------------------- */

static bool has_tensor(fy_site *at, int n, const fy_arg *x)
{
    for (int i = 0; i < n; i++)
        if (x[i].is_tensor) return true;
    return fy_fail(at, "value", "one operand must be a tensor; for numbers alone use C's own operators",
                   "%s operands are numbers", n == 2 ? "both" : "all");
}

/* An integer to a negative power is not an integer. A tensor of exponents is accepted and gives 0, 1 or -1, as in
 * PyTorch. */
static bool check_power(fy_site *at, fy_arg a, fy_arg b)
{
    if (!a.is_tensor || !fy_check(at, 0, a.tensor) || b.is_tensor || !b.is_int || b.is_huge || b.integer >= 0 ||
        fy_dtype_is_real(a.tensor->dtype))
        return true;
    return fy_fail(at, "value", "convert the base to a float type, or write the power as a float: -2.0",
                   "Integers to negative integer powers are not allowed.");
}

static fy_tensor *binary(fy_site *at, int op, fy_arg a, fy_arg b)
{
    fy_call c = {.at = at, .op = op, .in = {a, b}};
    if (op == FY_OP_div && !a.is_tensor) c.as = FY_CALL_reciprocal;
    return has_tensor(at, 2, c.in) && (op != FY_OP_pow || check_power(at, a, b)) ? call(&c) : NULL;
}

static const char *python_type(const fy_arg *x)
{
    return x->is_tensor ? "Tensor" : x->is_bool ? "bool" : x->is_int ? "int" : "float";
}

static bool fail_combination(const fy_call *c, const char *forms)
{
    const fy_arg *x = c->in;
    return fy_fail(c->at, "value", "fy_full((1), 2.5) makes a tensor of a number",
                   "%s() received an invalid combination of arguments - got (%s, %s, %s), but expected one of: %s",
                   fy_ops[c->op].name, python_type(&x[0]), python_type(&x[1]), python_type(&x[2]), forms);
}

/* The bounds are two tensors or two numbers. Next to a number a 0-dim tensor is read back to the host. */
static bool settle_bounds(fy_call *c)
{
    const char *forms = "(Tensor, Tensor, Tensor), (Tensor, Number, Number)";
    if (!c->in[0].is_tensor) return fail_combination(c, forms);
    if (c->in[1].is_tensor == c->in[2].is_tensor) return true;
    int i = c->in[1].is_tensor ? 1 : 2;
    if (!fy_check(c->at, 0, c->in[0].tensor) || !fy_check(c->at, i, c->in[i].tensor)) return false;
    if (c->in[i].tensor->ndim > 0) return fail_combination(c, forms);
    return fy_take_number(c->at, c->in[i].tensor, &c->in[i]);
}

static fy_tensor *ternary(fy_site *at, int op, fy_arg a, fy_arg b, fy_arg c)
{
    fy_call k = {.at = at, .op = op, .in = {a, b, c}};
    if (!has_tensor(at, 3, k.in) || (op == FY_OP_clamp && !settle_bounds(&k))) return NULL;
    if (op == FY_OP_lerp && !(a.is_tensor && b.is_tensor))
        return fail_combination(&k, "(Tensor, Tensor, Tensor), (Tensor, Tensor, Number)"), NULL;
    return call(&k);
}

/* The first operand is the target. */
static fy_tensor *binary_in_place(fy_site *at, int op, fy_arg a, fy_arg b)
{
    if (!a.is_tensor)
        return fy_fail(at, "value", "swap the operands, or use the operation without _",
                       "the first operand of an operation in place must be a tensor, not a number");
    if (!fy_check(at, 0, a.tensor)) return NULL;
    return call(&(fy_call){.at = at, .op = op, .in = {a, b}, .out = a.tensor});
}

#define X(name) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_arg a, fy_arg b, fy_arg c) \
    { \
        FY_CALL(at); \
        return ternary(at, FY_OP_##name, a, b, c); \
    }
FY_THREE_OPERAND_OPS(X)
#undef X
#define X(name) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_arg a, fy_arg b) \
    { \
        FY_CALL(at); \
        return binary(at, FY_OP_##name, a, b); \
    }
FY_TWO_OPERAND_OPS(X)
#undef X
#define X(name) \
    fy_tensor *fy_##name##__at(fy_site *at, fy_arg a, fy_arg b) \
    { \
        FY_CALL(at); \
        return binary_in_place(at, FY_OP_##name, a, b); \
    }
FY_TWO_OPERAND_OPS_IN_PLACE(X)
#undef X

_Static_assert((int)FY_ADD_alpha == (int)FY_SUB_alpha, "one function sets both");

/* alpha scales the second operand; an integer alpha stays an integer. False after an error. */
static bool set_alpha(fy_call *c, fy_arg alpha)
{
    for (int i = 0; i < 2; i++)
        if (c->in[i].is_tensor && !fy_check(c->at, i, c->in[i].tensor)) return false;
    if (alpha.is_tensor)
        return fy_fail(c->at, "value", "read the number with fy_item", "alpha must be a number, not a tensor");
    if (!fy_number_ok(c->at, &alpha)) return false;
    bool checked_by_plan = fy_subtracts_mask(c); /* the plan reports that first */
    if (alpha.is_bool && fy_result_of(2, c->in) != FY_BOOL && !checked_by_plan)
        return fy_fail(c->at, "value", "pass alpha as a number, not as a bool",
                       "Boolean alpha only supported for Boolean results.");
    if (!alpha.is_int && !fy_dtype_is_real(fy_result_of(2, c->in)) && !checked_by_plan)
        return fy_fail(c->at, "value", "use an integer alpha, or float operands",
                       "For integral input tensors, argument alpha must not be a floating point number.");
    c->real[FY_ADD_alpha] = alpha.real;
    c->integer[FY_ADD_alpha] = alpha.is_int ? alpha.integer : 0;
    return true;
}

static fy_tensor *add_scaled(fy_site *at, int op, fy_arg a, fy_arg b, fy_arg alpha, bool in_place)
{
    fy_call c = {.at = at, .op = op, .in = {a, b}, .out = in_place ? a.tensor : NULL};
    if (in_place && !a.is_tensor) return binary_in_place(at, op, a, b); /* reports the error */
    return has_tensor(at, 2, c.in) && set_alpha(&c, alpha) ? call(&c) : NULL;
}

#define X(name) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_arg a, fy_arg b, fy_arg alpha) \
    { \
        FY_CALL(at); \
        return add_scaled(at, FY_OP_##name, a, b, alpha, false); \
    }
FY_ALPHA_OPS(X)
#undef X
#define X(name) \
    fy_tensor *fy_##name##__at(fy_site *at, fy_arg a, fy_arg b, fy_arg alpha) \
    { \
        FY_CALL(at); \
        return add_scaled(at, FY_OP_##name, a, b, alpha, true); \
    }
FY_ALPHA_OPS_IN_PLACE(X)
#undef X

_Static_assert((int)FY_ADDCMUL_value == (int)FY_ADDCDIV_value, "one function sets both");

/* addcmul and addcdiv. For 16-bit floats the value is a float32. */
static fy_tensor *with_value(fy_site *at, int op, fy_tensor *a, fy_tensor *b, fy_tensor *c, fy_arg value, bool in_place)
{
    fy_tensor *factors[] = {NULL, b, c};
    fy_call k = {.at = at, .op = op, .in = {fy_arg_tensor(a), fy_arg_tensor(b), fy_arg_tensor(c)}};
    if (in_place) k.out = a;
    if (!fy_check(at, 0, a) || !fy_check(at, 1, b) || !fy_check(at, 2, c)) return NULL;
    if (op == FY_OP_addcdiv && !fy_dtype_is_real(b->dtype) && !fy_dtype_is_real(c->dtype))
        return fy_fail_about(at, "dtype", "convert one of them first: fy_to(x, FY_FLOAT32)", 3, factors,
                             "Integer division with addcdiv is no longer supported (%s by %s)",
                             fy_dtype_torch(b->dtype), fy_dtype_torch(c->dtype));
    if (value.is_tensor)
        return fy_fail(at, "value", "read the number with fy_item", "%s(): argument 'value' must be Number, not Tensor",
                       fy_ops[op].name);
    fy_dtype d = fy_result_of(3, k.in), holder = fy_dtype_size(d) < 4 && fy_dtype_is_real(d) ? FY_FLOAT32 : d;
    if (!fy_number_ok(at, &value) || !fy_fits(at, holder, value, fy_dtype_scalar(holder))) return NULL;
    fy_make_scalar(&k, FY_ADDCMUL_value, value);
    return call(&k);
}

#define VALUED(name, op, in_place) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_tensor *a, fy_tensor *b, fy_tensor *c, fy_arg value) \
    { \
        FY_CALL(at); \
        return with_value(at, FY_OP_##op, a, b, c, value, in_place); \
    }
#define X(name) VALUED(name, name, false) VALUED(name##_, name, true)
FY_VALUE_OPS(X)
#undef X

#define X(name) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_tensor *x) \
    { \
        FY_CALL(at); \
        return call(&(fy_call){.at = at, .op = FY_OP_##name, .in = {fy_arg_tensor(x)}}); \
    }
FY_ONE_OPERAND_OPS(X)
X(clone)
#undef X

static fy_tensor *unary_in_place(fy_site *at, int op, fy_tensor *x)
{
    if (!fy_check(at, 0, x)) return NULL;
    return call(&(fy_call){.at = at, .op = op, .in = {fy_arg_tensor(x)}, .out = x});
}

#define X(name) \
    fy_tensor *fy_##name##__at(fy_site *at, fy_tensor *x) \
    { \
        FY_CALL(at); \
        return unary_in_place(at, FY_OP_##name, x); \
    }
FY_ONE_OPERAND_OPS_IN_PLACE(X)
#undef X

_Static_assert((int)FY_TRIL_diagonal == (int)FY_TRIU_diagonal, "one function sets both");

static fy_tensor *triangle(fy_site *at, int op, fy_tensor *x, int64_t diagonal)
{
    fy_call c = {.at = at, .op = op, .in = {fy_arg_tensor(x)}, .row_major = true};
    if (!fy_check(at, 0, x)) return NULL;
    if (x->ndim < 2)
        return fy_fail_about(at, "shape", "fy_unsqueeze(x, 0) makes a matrix of one row", 1, &x,
                             "%s: input tensor must have at least 2 dimensions", fy_ops[op].name);
    c.integer[FY_TRIL_diagonal] = diagonal;
    return call(&c);
}

#define X(name) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_tensor *x, int64_t k) { return triangle(at, FY_OP_##name, x, k); }
FY_TRIANGLE_OPS(X)
#undef X

fy_tensor *fy_contiguous_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x)) return NULL;
    if (fy_is_contiguous_at(at, x)) return fy_scope_track(fy_tensor_retain(x));
    return call(&(fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .row_major = true});
}

/* ---- reductions ------------------------------------------------------------------------------------ */

static fy_tensor *reduced(fy_site *at, int op, fy_tensor *x, fy_shape dims, const fy_reduce_opts *o)
{
    fy_call c = {.at = at,
                 .op = op,
                 .in = {fy_arg_tensor(x)},
                 .dims = dims,
                 .keepdim = o->keepdim,
                 .dtype = o->dtype,
                 .real = {[FY_VAR_correction] = o->biased ? 0 : 1}};
    if (op == FY_OP_norm) c.real[FY_NORM_p] = o->fy_end_ & FY_P_TOLD ? o->p : 2;
    if (dims.ndim > FY_MAX_DIMS)
        return fy_fail(at, "shape", "name each dimension once", "a tensor has at most %d dimensions", FY_MAX_DIMS);
    if (o->dtype != FY_DTYPE_UNSET && !fy_dtype_ok(at, o->dtype)) return NULL;
    bool is_second = o->indices && (op == FY_OP_argmax || op == FY_OP_argmin);
    c.name = is_second ? fy_name_of_indices(at) : fy_name_for(at, NULL);
    return fy_scope_track(fy_dispatch(&c));
}

static bool at_most_one(fy_site *at, fy_tensor *x, fy_shape dims, const char *op)
{
    if (dims.ndim <= 1) return fy_check(at, 0, x);
    return fy_fail_about(at, "shape", "reduce one dimension after the other, with .keepdim = true", 1, &x,
                         "%s() reduces all dimensions or one, not %d", op, dims.ndim);
}

/* argmax does not accept bool, but the index of a mask's maximum is well defined: computed on uint8. */
static fy_tensor *argument(fy_site *at, int op, fy_tensor *x, fy_shape dims, const fy_reduce_opts *o)
{
    if (x->dtype != FY_BOOL) return reduced(at, op, x, dims, o);
    fy_tensor *bytes = fy_dispatch(&(fy_call){.at = at, .op = FY_OP_cast, .in = {fy_arg_tensor(x)}, .dtype = FY_UINT8});
    fy_tensor *out = bytes ? reduced(at, op, bytes, dims, o) : NULL;
    fy_tensor_release(at, bytes, FY_WORD_free);
    return out;
}

/* Along a named dimension of one element the index is 0, and of no elements at all there is none: PyTorch then looks
 * for no kernel, so bool is accepted. */
static bool needs_no_comparison(const fy_tensor *x, fy_shape dims)
{
    int64_t dim = dims.ndim ? dims.dims[0] : 0;
    if (dims.ndim == 0 || dim < -x->ndim || dim >= x->ndim) return false;
    int64_t size = x->shape[dim < 0 ? dim + x->ndim : dim];
    return size == 1 || (size > 0 && fy_tensor_numel(x) == 0);
}

/* The values, and their indices if requested. */
static fy_tensor *extreme(fy_site *at, int op, int where, fy_tensor *x, fy_shape dims, const fy_reduce_opts *o)
{
    if (o->indices) *o->indices = NULL;
    if (!at_most_one(at, x, dims, fy_ops[op].name)) return NULL;
    if (o->indices && dims.ndim == 0)
        return fy_fail_about(at, "value", fy_hint("name the dimension: %s(x, (1), .indices = &i)", at->call), 1, &x,
                             ".indices needs a dimension");
    fy_tensor *values = reduced(at, op, x, dims, o);
    if (!o->indices || !values) return values;
    *o->indices = argument(at, where, x, dims, o);
    if (*o->indices) fy_returned(at, 2, (fy_tensor *[]){values, *o->indices});
    if (*o->indices) return values;
    fy_free_at(at, values); /* both or none */
    return NULL;
}

static fy_tensor *reduction(fy_site *at, int op, fy_tensor *x, fy_shape dims, const fy_reduce_opts *o)
{
    switch (op) {
    case FY_OP_max: return extreme(at, op, FY_OP_argmax, x, dims, o);
    case FY_OP_min: return extreme(at, op, FY_OP_argmin, x, dims, o);
    case FY_OP_argmax:
    case FY_OP_argmin:
        if (!at_most_one(at, x, dims, fy_ops[op].name)) return NULL;
        return (needs_no_comparison(x, dims) ? argument : reduced)(at, op, x, dims, o);
    default: return reduced(at, op, x, dims, o);
    }
}

#define X(name) \
    fy_tensor *fy_##name##_at(fy_site *at, fy_tensor *x, fy_shape dims, fy_reduce_opts o) \
    { \
        FY_CALL(at); \
        return reduction(at, FY_OP_##name, x, dims, &o); \
    }
FY_REDUCTIONS(X)
#undef X

static fy_tensor *along(fy_site *at, int op, fy_tensor *x, int64_t dim)
{
    if (!fy_check(at, 0, x) || !fy_wrap_dim(at, x, &dim)) return NULL;
    return call(&(fy_call){.at = at, .op = op, .in = {fy_arg_tensor(x)}, .dims = {1, {dim}}});
}

fy_tensor *fy_softmax_at(fy_site *at, fy_tensor *x, int64_t dim)
{
    FY_CALL(at);
    return along(at, FY_OP_softmax, x, dim);
}
fy_tensor *fy_log_softmax_at(fy_site *at, fy_tensor *x, int64_t dim)
{
    FY_CALL(at);
    return along(at, FY_OP_log_softmax, x, dim);
}

/* ---- products -------------------------------------------------------------------------------------- */

static fy_tensor *product(fy_site *at, int as, fy_tensor *a, fy_tensor *b)
{
    return call(&(fy_call){.at = at, .op = FY_OP_matmul, .as = as, .in = {fy_arg_tensor(a), fy_arg_tensor(b)}});
}

fy_tensor *fy_matmul_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    FY_CALL(at);
    return product(at, 0, a, b);
}

static bool has_ndim(fy_site *at, int i, fy_tensor *x, int ndim, const char *message)
{
    fy_tensor *given[] = {NULL, NULL};
    if (!fy_check(at, i, x)) return false;
    if (x->ndim == ndim) return true;
    given[i] = x;
    return fy_fail_about(at, "shape", "fy_matmul takes operands of any dimensions", 2, given, "%s", message);
}

fy_tensor *fy_mm_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    FY_CALL(at);
    if (!has_ndim(at, 0, a, 2, "self must be a matrix") || !has_ndim(at, 1, b, 2, "mat2 must be a matrix")) return NULL;
    return product(at, 0, a, b);
}

fy_tensor *fy_bmm_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    FY_CALL(at);
    if (!has_ndim(at, 0, a, 3, "batch1 must be a 3D tensor") || !has_ndim(at, 1, b, 3, "batch2 must be a 3D tensor"))
        return NULL;
    if (a->shape[0] == b->shape[0] && a->shape[2] == b->shape[1])
        return fy_node_call(product(at, 0, a, b), "BmmBackward0");
    return fy_fail_about(
        at, "shape", "both need the same number of matrices, and equal inner sizes", 2, (fy_tensor *[]){a, b},
        "Expected size for first two dimensions of batch2 tensor to be: [%lld, %lld] but got: "
        "[%lld, %lld].",
        (long long)a->shape[0], (long long)a->shape[2], (long long)b->shape[0], (long long)b->shape[1]);
}

fy_tensor *fy_mv_at(fy_site *at, fy_tensor *a, fy_tensor *x)
{
    FY_CALL(at);
    if (!fy_check(at, 0, a) || !fy_check(at, 1, x)) return NULL;
    if (a->ndim == 2 && x->ndim == 1) return product(at, FY_CALL_mv, a, x);
    return fy_fail_about(at, "shape", "fy_matmul takes operands of any dimensions", 2, (fy_tensor *[]){a, x},
                         "vector + matrix @ vector expected, got 1, %d, %d", a->ndim, x->ndim);
}

fy_tensor *fy_dot_at(fy_site *at, fy_tensor *a, fy_tensor *b)
{
    FY_CALL(at);
    if (!fy_check(at, 0, a) || !fy_check(at, 1, b)) return NULL;
    if (a->ndim == 1 && b->ndim == 1) return product(at, FY_CALL_dot, a, b);
    return fy_fail_about(at, "shape", "fy_matmul takes operands of any dimensions", 2, (fy_tensor *[]){a, b},
                         "1D tensors expected, but got %dD and %dD tensors", a->ndim, b->ndim);
}

fy_tensor *fy_addmm_at(fy_site *at, fy_tensor *c, fy_tensor *a, fy_tensor *b, fy_arg beta, fy_arg alpha)
{
    FY_CALL(at);
    fy_call k = {.at = at, .op = FY_OP_addmm, .in = {fy_arg_tensor(c), fy_arg_tensor(a), fy_arg_tensor(b)}};
    if (!fy_check(at, 0, c) || !fy_check(at, 1, a) || !fy_check(at, 2, b)) return NULL;
    if (beta.is_tensor || alpha.is_tensor)
        return fy_fail(at, "value", "read the number with fy_item", "beta and alpha must be numbers, not tensors");
    if (!fy_number_ok(at, &beta) || !fy_number_ok(at, &alpha)) return NULL;
    k.real[FY_ADDMM_beta] = beta.real;
    k.integer[FY_ADDMM_beta] = beta.is_int ? beta.integer : 0;
    k.real[FY_ADDMM_alpha] = alpha.real;
    k.integer[FY_ADDMM_alpha] = alpha.is_int ? alpha.integer : 0;
    return call(&k);
}
