/* op.c: the op table, and the cost of a call. */
#include "op.h"

#include "dtype.h"
#include "run_work.h"

const fy_op fy_ops[FY_OP_COUNT] = {
#define X(name, nin, types, dtype, shape, flops, gradient, scalars, words) \
    {#name, nin, types, dtype, shape, flops, gradient},
    FY_OPS(X)
#undef X
};

bool fy_op_takes_numbers(int op) { return fy_ops[op].shape == FY_BROADCAST && fy_ops[op].dtype != FY_MASKED; }

bool fy_op_takes(int op, fy_dtype dtype)
{
    switch (fy_ops[op].types) {
    case FY_ALL_TYPES: return true;
    case FY_NOT_BOOL: return dtype != FY_BOOL;
    case FY_INDICES: return dtype == FY_INT64;
    case FY_REALS: break;
    }
    return fy_dtype_is_real(dtype);
}

/* Bytes that an operand's traversal accesses; a dimension of stride 0 counts once. */
static int64_t bytes_of(const fy_operand *x)
{
    if (!x->data || x->layout.numel == 0) return 0;
    int64_t n = 1;
    for (int i = 0; i < x->layout.ndim; i++)
        if (x->layout.strides[i] != 0 || x->layout.shape[i] == 0) n *= x->layout.shape[i];
    return n * (int64_t)fy_dtype_size(x->dtype);
}

/* An indexed operand is touched only at the selected elements: as many as `selected` has. */
static int64_t bytes_named(const fy_operand *x, const fy_operand *selected)
{
    return selected->layout.numel * (int64_t)fy_dtype_size(x->dtype);
}

void fy_op_cost(fy_run_work *w)
{
    const fy_op *op = &fy_ops[w->op];
    int64_t steps = w->out.layout.numel; /* each of op->flops operations */
    if (op->shape == FY_MATRIX_PRODUCT) {
        const fy_layout *left = &w->in[w->nin - 2].layout;
        steps *= left->shape[left->ndim - 1]; /* the summed dimension */
    } else if (op->shape == FY_REDUCED) {
        steps = w->in[0].layout.numel;
    } else if (op->shape == FY_SCATTERED) {
        steps = w->in[1].layout.numel;
    }
    w->flops = op->flops * steps;

    bool scatters = op->shape == FY_SCATTERED;
    bool named = scatters || op->shape == FY_INDEXED || op->shape == FY_GATHERED;
    const fy_operand *told = scatters ? &w->in[1] : &w->out;
    w->bytes = scatters ? bytes_named(&w->out, told) : bytes_of(&w->out);
    for (int i = 0; i < w->nin; i++) w->bytes += named && i == 0 ? bytes_named(&w->in[0], told) : bytes_of(&w->in[i]);
}
