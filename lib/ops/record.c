/* record.c: records calls in the autograd graph: a node per call, linked to those of its operands, with what the
 * gradient's expressions (op.h) read. */
#include <stdlib.h>

#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "graph.h"
#include "op.h"
#include "out_of_memory.h"
#include "tensor.h"

static fy_tensor *operand(const fy_call *c, int i) { return c->in[i].is_tensor ? c->in[i].tensor : NULL; }

bool fy_records(const fy_call *c)
{
    if (!fy_is_grad_enabled()) return false;
    if (c->out && (fy_needs_grad(c->out) || fy_base_needs_grad(c->out))) return true;
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (fy_op_is_differentiable(c->op, i) && fy_is_required(operand(c, i))) return true;
    return false;
}

/* The largest along a dimension: of the operand, only the positions are needed. */
static bool has_positions(const fy_call *c) { return (c->op == FY_OP_max || c->op == FY_OP_min) && c->dims.ndim > 0; }

/* What the gradients of the operands that need one read. */
static unsigned reads_of(const fy_call *c)
{
    unsigned reads = 0;
    if (has_positions(c)) return 0;
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if (fy_needs_grad(operand(c, i))) reads |= fy_op_gradient_reads(c->op, i);
    return reads;
}

bool fy_record_begin(const fy_call *c, fy_before *before)
{
    *before = (fy_before){0};
    if (!c->out) return true;
    if (!fy_check(c->at, 0, c->out) || !fy_graph_check_written(c->at, c->out, true)) return false;
    before->version = fy_storage_version(c->out->storage);
    unsigned reads = reads_of(c);
    bool reads_target = false;
    for (int i = 0; i < fy_ops[c->op].nin; i++) reads_target |= (reads & 1u << i) && operand(c, i) == c->out;
    if (!reads_target) return true;
    before->target = fy_compute(&(fy_call){.at = c->at, .op = FY_OP_clone, .in = {fy_arg_tensor(c->out)}});
    return before->target;
}

/* Another handle on the bytes that the call has overwritten is saved as of before: the pass will find it changed. */
static void save(fy_node *node, int i, const fy_call *c, fy_tensor *x, const fy_before *before)
{
    bool is_target = c->out && x == c->out;
    fy_node_save(node, i, is_target ? before->target : x);
    if (c->out && !is_target && x->storage == c->out->storage) node->saved[i].version = before->version;
}

/* PyTorch gives the operand of a norm of p 0, a count, no gradient at all, not one of zeros. */
static bool has_gradient(const fy_call *c, int i)
{
    return fy_op_is_differentiable(c->op, i) && !(c->op == FY_OP_norm && c->real[FY_NORM_p] == 0);
}

/* Saved in place of an operand b. */
static bool save_positions(fy_node *node, const fy_call *c)
{
    fy_tensor *at = fy_compute(&(fy_call){.at = c->at,
                                          .op = c->op == FY_OP_max ? FY_OP_argmax : FY_OP_argmin,
                                          .in = {c->in[0]},
                                          .dims = c->dims,
                                          .keepdim = true});
    if (!at) return false;
    fy_node_save(node, 1, at);
    fy_tensor_release(c->at, at, FY_WORD_free);
    return true;
}

/* PyTorch keeps the number in x * 2, too, and releases it after a pass. */
static bool keeps_number(const fy_call *c, unsigned reads)
{
    for (int i = 0; i < fy_ops[c->op].nin; i++)
        if ((reads & 1u << i) && !c->in[i].is_tensor && c->op != FY_OP_lerp) return true;
    return false;
}

/* A row times a matrix is a product that is squeezed; batches are folded into one product, whose result is viewed.
 * matrix @ batch, if the matrix requires grad, is the transposed product, copied where it is not row-major. */
static const char *matmul_name(const fy_call *c, const fy_tensor *out)
{
    int na = c->in[0].tensor->ndim, nb = c->in[1].tensor->ndim, n = out->ndim;
    if (na == 1 && nb == 1) return "DotBackward0";
    if (na == 2 && nb == 1) return "MvBackward0";
    if (na == 1 && nb == 2) return "SqueezeBackward4";
    if (na == 2 && nb == 2) return "MmBackward0";
    if (na != 2 || !fy_needs_grad(c->in[0].tensor)) return "UnsafeViewBackward0";
    return fy_tensor_numel(out) == 0 || out->shape[n - 1] == 1 || out->shape[n - 2] == 1 ? "TransposeBackward0"
                                                                                         : "CloneBackward0";
}

fy_tensor *fy_record(const fy_call *c, fy_tensor *out, const fy_before *before)
{
    int nin = fy_ops[c->op].nin;
    bool ok = out;
    if (out && fy_dtype_is_real(out->dtype)) {
        unsigned reads = reads_of(c);
        fy_node *node = fy_node_make(c->at, c->op, out, nin ? nin : 1);
        if (nin == 0) fy_node_link(node, 0, out); /* fill */
        for (int i = 0; i < nin; i++) {
            fy_tensor *x = operand(c, i);
            if (x) node->tensors |= (uint8_t)(1u << i);
            if (has_gradient(c, i)) fy_node_link(node, i, x);
            if (!x) node->saved[i].is = c->in[i];
            else if (reads & 1u << i) save(node, i, c, x, before);
        }
        if (reads & 1u << FY_READS_RESULT) fy_node_save(node, FY_RESULT, out);
        if (has_positions(c)) ok = save_positions(node, c);
        if (c->op == FY_OP_matmul) node->called = matmul_name(c, out);
        node->keeps_number = keeps_number(c, reads);
        node->dims = c->dims;
        node->keepdim = c->keepdim;
        memcpy(node->real, c->real, sizeof node->real);
        memcpy(node->integer, c->integer, sizeof node->integer);
        fy_node_finish(node, out, c->out != NULL);
    }
    fy_tensor_release(c->at, before->target, FY_WORD_free);
    if (out && !ok && !c->out) fy_tensor_release(c->at, out, FY_WORD_free);
    return ok ? out : NULL;
}

/* An empty 1-D tensor joins with anything. */
static int64_t *sizes_along(size_t n, fy_tensor *const *x, int64_t dim)
{
    int64_t *sizes = malloc(n * sizeof *sizes);
    if (!sizes) fy_out_of_memory("a node of the autograd graph");
    for (size_t i = 0; i < n; i++) sizes[i] = dim < x[i]->ndim ? x[i]->shape[dim] : 0;
    return sizes;
}

void fy_record_step(fy_site *at, fy_node_kind kind, fy_tensor *out, size_t n, fy_tensor *const *x, const fy_shape *dims,
                    bool in_place)
{
    bool any = in_place && fy_needs_grad(out);
    if (!fy_is_grad_enabled() || !fy_dtype_is_real(out->dtype)) return;
    for (size_t i = 0; i < n; i++) any |= fy_is_required(x[i]); /* of all: it may make their nodes, before this one */
    if (!any) return;
    fy_node *node = fy_node_make(at, (int)kind, out, (int)n);
    for (size_t i = 0; i < n; i++) fy_node_link(node, (int)i, x[i]);
    if (dims) node->dims = *dims;
    if (kind == FY_NODE_JOIN && !dims->dims[1]) node->sizes = sizes_along(n, x, dims->dims[0]);
    fy_node_finish(node, out, in_place);
}
