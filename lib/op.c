/* op.c: the op table, and what a call of each op costs. */
#include "op.h"

const fy_op fy_ops[FY_OP_COUNT] = {
#define X(name, nin, dtype, shape, flops, scalars) {#name, nin, dtype, shape, flops},
    FY_OPS(X)
#undef X
};

/* Bytes that walking an operand touches: a dimension of stride 0 is read once. */
static int64_t bytes_of(const fy_operand *x)
{
    if (!x->data) return 0;
    int64_t n = 1;
    for (int i = 0; i < x->layout.ndim; i++)
        if (x->layout.strides[i] != 0 || x->layout.shape[i] == 0) n *= x->layout.shape[i];
    return n * (x->dtype == FY_INT64 ? 8 : 4);
}

static int64_t flops_of(const fy_run_work *w)
{
    const fy_op *op = &fy_ops[w->op];
    if (op->shape == FY_MATRIX_PRODUCT) return op->flops * w->out.layout.numel * w->in[0].layout.shape[1];
    if (op->shape == FY_SCALAR) return op->flops * w->in[0].layout.numel;
    return op->flops * w->out.layout.numel;
}

void fy_op_cost(fy_run_work *w)
{
    w->flops = flops_of(w);
    w->bytes = bytes_of(&w->out);
    for (int i = 0; i < w->nin; i++) w->bytes += bytes_of(&w->in[i]);
}
