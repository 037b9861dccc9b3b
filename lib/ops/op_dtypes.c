/* op_dtypes.c: the dtype that a call computes in, those it takes and gives; and the errors for unsupported dtypes, in
 * PyTorch's words. */
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "op.h"
#include "tensor.h"

/* The operand that a message names: the first tensor. */
static int first_tensor(const fy_call *c)
{
    int i = 0;
    while (i < fy_ops[c->op].nin - 1 && !c->in[i].is_tensor) i++;
    return i;
}

static bool fail(const fy_call *c, const char *hint, const char *message)
{
    fy_tensor *x = c->in[first_tensor(c)].tensor;
    return fy_fail_about(c->at, "dtype", hint, x ? 1 : 0, &x, "%s", message);
}

static const char *to_float(const fy_call *c)
{
    char name[200];
    return fy_hint("convert it first: fy_to(%s, FY_FLOAT32)", fy_operand_name(c, first_tensor(c), name, sizeof name));
}

/* The op does not support the dtype. */
static bool fail_unsupported(const fy_call *c, const fy_plan *p)
{
    const char *invert = "fy_logical_not inverts a mask; fy_to(x, FY_INT64) converts it to numbers";
    if (p->dtype == FY_BOOL && c->op == FY_OP_sub)
        return fail(c, invert,
                    "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or "
                    "`logical_xor()` operator instead.");
    if (p->dtype == FY_BOOL && c->op == FY_OP_neg)
        return fail(c, invert,
                    "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a "
                    "mask, use the `~` or `logical_not()` operator instead.");
    if (p->dtype == FY_BOOL && c->op == FY_OP_relu) return fail(c, invert, "Boolean inputs not supported for relu");
    fy_tensor *x = c->in[first_tensor(c)].tensor;
    const char *device = p->dev && p->dev->number ? "cuda" : "cpu";
    return fy_fail_about(c->at, "dtype", x ? to_float(c) : "choose another .dtype", x ? 1 : 0, &x,
                         "\"%s_%s\" not implemented for '%s'", fy_ops[c->op].name, device, fy_dtype_torch(p->dtype));
}

static bool fail_real_only(const fy_call *c, fy_dtype d)
{
    fy_tensor *x = c->in[0].tensor;
    if (c->op == FY_OP_mean)
        return fy_fail_about(c->at, "dtype", to_float(c), 1, &x,
                             "mean(): could not infer output dtype. %s dtype must be either a floating point or "
                             "complex dtype. Got: %s",
                             c->dtype ? "Optional" : "Input", fy_dtype_torch(d));
    if (c->op == FY_OP_var) return fail(c, to_float(c), "std and var only support floating point and complex dtypes");
    return fy_fail_about(c->at, "dtype", to_float(c), 1, &x, "\"%s\" not implemented for '%s'", fy_ops[c->op].name,
                         fy_dtype_torch(d));
}

/* Unlike mean, norm never converts integers to floats, nor to a narrower type. */
static bool check_norm(const fy_call *c)
{
    fy_tensor *x = c->in[0].tensor;
    fy_dtype own = x->dtype, requested = c->dtype;
    if (!fy_dtype_is_real(own))
        return fy_fail_about(c->at, "dtype", to_float(c), 1, &x,
                             "linalg.vector_norm: Expected a floating point or complex tensor as input. Got %s",
                             fy_dtype_torch(own));
    if (requested == FY_DTYPE_UNSET) return true;
    if (!fy_dtype_is_real(requested))
        return fy_fail_about(c->at, "dtype", "leave .dtype out", 1, &x,
                             "linalg.vector_norm: dtype should be floating point or complex, but got %s",
                             fy_dtype_torch(requested));
    if (fy_promote_types(own, requested) == requested) return true;
    return fy_fail_about(c->at, "dtype", "leave .dtype out, and convert the result", 1, &x,
                         "linalg.vector_norm: the dtype of the input (%s) should be convertible without narrowing to "
                         "the specified dtype (%s)",
                         fy_dtype_torch(own), fy_dtype_torch(requested));
}

/* Classes are int64; uint8 is accepted for (N, C) and (C) only, as in PyTorch. */
static bool check_classes(const fy_call *c)
{
    char name[200];
    fy_tensor *scores = c->in[0].tensor, *classes = c->in[1].tensor;
    if (classes->dtype == FY_INT64 || (classes->dtype == FY_UINT8 && scores->ndim <= 2)) return true;
    return fy_fail_about(
        c->at, "dtype", fy_hint("classes must be int64: fy_to(%s, FY_INT64)", fy_operand_name(c, 1, name, sizeof name)),
        2, (fy_tensor *[]){NULL, classes}, "expected scalar type Long but found %s", fy_dtype_torch(classes->dtype));
}

/* uint8 is accepted as a mask, too: PyTorch's masks before bool existed. */
static bool check_condition(const fy_call *c)
{
    char name[200];
    fy_tensor *x = c->in[0].is_tensor ? c->in[0].tensor : NULL;
    if (x && (x->dtype == FY_BOOL || x->dtype == FY_UINT8)) return true;
    if (!x)
        return fy_fail(c->at, "dtype", "use C's own condition ? a : b",
                       "%s expected condition to be a boolean tensor, but got a number", fy_ops[c->op].name);
    return fy_fail_about(c->at, "dtype",
                         fy_hint("a comparison gives a mask: fy_ne(%s, 0)", fy_operand_name(c, 0, name, sizeof name)),
                         1, &x, "%s expected condition to be a boolean tensor, but got a tensor with dtype %s",
                         fy_ops[c->op].name, fy_dtype_torch(x->dtype));
}

static bool fail_index(const fy_call *c)
{
    char name[200];
    fy_tensor *index = c->in[1].tensor, *x[FY_MAX_ARGUMENTS];
    int n = fy_arguments(c, x);
    fy_operand_name(c, 1, name, sizeof name);
    const char *fix = fy_hint("an index must be int64: fy_to(%s, FY_INT64)", name);
    if (c->op == FY_OP_embedding)
        return fy_fail_about(c->at, "dtype", fix, n, x,
                             "Expected tensor for argument #1 'indices' to have one of the following scalar types: "
                             "Long, Int; but got torch.%s%sTensor instead (while checking arguments for embedding)",
                             index->storage->dev->number ? "cuda." : "", fy_dtype_torch(index->dtype));
    if (c->op == FY_OP_index_select)
        return fy_fail_about(c->at, "dtype", fix, n, x, "index_select(): Expected dtype int32 or int64 for index");
    return fy_fail_about(c->at, "dtype", fix, n, x, "%s(): Expected dtype int64 for index",
                         c->op == FY_OP_gather ? "gather" : "scatter");
}

/* int32 is accepted where PyTorch accepts it, and converted. */
static bool check_index(const fy_call *c)
{
    fy_tensor *x[FY_MAX_ARGUMENTS];
    fy_dtype d = c->in[1].tensor->dtype;
    bool int32_too = c->op == FY_OP_index_select || c->op == FY_OP_embedding;
    bool empty = c->op == FY_OP_gather && fy_tensor_numel(c->in[1].tensor) == 0; /* of any type, as in PyTorch */
    if (d != FY_INT64 && !(d == FY_INT32 && int32_too) && !empty) return fail_index(c);
    if (fy_ops[c->op].nin < 3 || c->in[2].tensor->dtype == c->in[0].tensor->dtype) return true;
    return fy_fail_about(c->at, "dtype", "convert one of them first with fy_to", fy_arguments(c, x), x,
                         "scatter(): Expected self.dtype to be equal to src.dtype");
}

bool fy_subtracts_mask(const fy_call *c)
{
    if (c->op != FY_OP_sub) return false;
    for (int i = 0; i < 2; i++)
        if (c->in[i].is_tensor ? c->in[i].tensor->dtype == FY_BOOL : c->in[i].is_bool) return true;
    return false;
}

/* Subtracting a mask is an error whatever the other operand is; a C bool counts as a mask. */
static bool check_mask(const fy_call *c, const fy_plan *p)
{
    if (p->dtype == FY_BOOL || !fy_subtracts_mask(c)) return true;
    return fail(c, "fy_logical_not inverts a mask; fy_to(x, FY_INT64) converts it to numbers",
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a "
                "mask, use the `~` or `logical_not()` operator instead.");
}

/* lerp does not promote: reports the first tensor whose dtype differs from the first operand's. */
static bool check_one_dtype(const fy_call *c, const fy_plan *p)
{
    static const char *const names[] = {"input", "end", "weight"};
    char name[200], first[200];
    fy_tensor *given[FY_MAX_INPUTS] = {NULL};
    for (int i = 1; i < fy_ops[c->op].nin; i++) {
        fy_tensor *x = c->in[i].tensor;
        if (!c->in[i].is_tensor || x->dtype == p->dtype) continue;
        given[i] = x;
        return fy_fail_about(c->at, "dtype",
                             fy_hint("convert it first: fy_to(%s, fy_dtype_of(%s))",
                                     fy_operand_name(c, i, name, sizeof name),
                                     fy_operand_name(c, 0, first, sizeof first)),
                             i + 1, given, "expected dtype %s for `%s` but got dtype %s", fy_dtype_c(p->dtype),
                             names[i], fy_dtype_c(x->dtype));
    }
    return true;
}

/* As newer PyTorch: bool only. 1.13 accepted uint8 too. */
static bool check_is_mask(const fy_call *c)
{
    char name[200];
    fy_tensor *mask = c->in[1].tensor;
    if (mask->dtype == FY_BOOL) return true;
    return fy_fail_about(
        c->at, "dtype", fy_hint("a comparison gives a mask: fy_ne(%s, 0)", fy_operand_name(c, 1, name, sizeof name)), 2,
        (fy_tensor *[]){NULL, mask}, "masked_fill only supports boolean masks, but got mask with dtype %s",
        fy_dtype_c(mask->dtype));
}

/* Sets the dtype of the computation and of the result. */
static void set_dtypes(const fy_call *c, fy_plan *p)
{
    int n = fy_ops[c->op].nin;
    fy_dtype own = n && c->in[0].is_tensor ? c->in[0].tensor->dtype : c->dtype;
    fy_dtype requested = c->dtype != FY_DTYPE_UNSET ? c->dtype : own;
    p->dtype = p->result.dtype = own;
    switch (fy_ops[c->op].dtype) {
    case FY_GIVEN_DTYPE: p->result.dtype = c->dtype; break;
    case FY_OWN_DTYPE:
    case FY_EQUAL_DTYPES:
    case FY_ONE_DTYPE:
    case FY_MASKED:
    case FY_CLASSIFIED:
    case FY_BY_INDEX:
    case FY_BY_COUNT: break;
    case FY_PROMOTED: p->dtype = p->result.dtype = fy_result_of(n, c->in); break;
    case FY_PROMOTED_REAL:
        p->dtype = fy_result_of(n, c->in);
        if (!fy_dtype_is_real(p->dtype)) p->dtype = FY_FLOAT32;
        p->result.dtype = p->dtype;
        break;
    case FY_CHOSEN: p->dtype = p->result.dtype = fy_result_of(n - 1, c->in + 1); break;
    case FY_COMPARED:
        p->dtype = fy_result_of(n, c->in);
        p->result.dtype = FY_BOOL;
        break;
    case FY_TOTAL: p->dtype = p->result.dtype = fy_dtype_is_real(requested) || c->dtype ? requested : FY_INT64; break;
    case FY_REAL_ONLY: p->dtype = p->result.dtype = requested; break;
    case FY_POSITION: p->result.dtype = FY_INT64; break;
    case FY_TRUTH: /* any and all of uint8 give uint8 (0 or 1), as in PyTorch */
        p->result.dtype = own == FY_UINT8 && fy_ops[c->op].shape == FY_REDUCED ? own : FY_BOOL;
        break;
    }
}

/* PyTorch looks for a kernel only if there are elements: softmax of no integers is no integers. */
static bool is_softmax_of_nothing(const fy_call *c)
{
    return (c->op == FY_OP_softmax || c->op == FY_OP_log_softmax) && fy_tensor_numel(c->in[0].tensor) == 0;
}

bool fy_plan_types(const fy_call *c, fy_plan *p)
{
    const fy_op *op = &fy_ops[c->op];
    set_dtypes(c, p);
    for (int i = 0; i < op->nin; i++) p->takes[i] = p->dtype;
    if (op->dtype == FY_CLASSIFIED) {
        p->takes[1] = FY_INT64;
        if (!check_classes(c)) return false;
    }
    if (op->dtype == FY_BY_INDEX) {
        p->takes[1] = FY_INT64;
        if (!check_index(c)) return false;
    }
    if (op->dtype == FY_BY_COUNT) p->takes[1] = FY_INT64;
    if (op->dtype == FY_CHOSEN) {
        p->takes[0] = FY_BOOL;
        if (!check_condition(c)) return false;
    }
    if (op->dtype == FY_MASKED) {
        p->takes[1] = FY_BOOL;
        if (!check_is_mask(c)) return false;
    }
    if (op->dtype == FY_ONE_DTYPE && !check_one_dtype(c, p)) return false;
    if (c->op == FY_OP_norm && !check_norm(c)) return false;
    if (is_softmax_of_nothing(c)) return true;
    if (op->dtype == FY_REAL_ONLY && !fy_dtype_is_real(p->dtype)) return fail_real_only(c, p->dtype);
    if (op->dtype == FY_EQUAL_DTYPES) return true; /* checked in product.c, after the shapes */
    return (fy_op_takes(c->op, p->dtype) || fail_unsupported(c, p)) && check_mask(c, p);
}
