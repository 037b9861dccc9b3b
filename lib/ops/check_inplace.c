/* check_inplace.c: may an op write into the given tensor: its type, shape, device, and overlap with the operands. */
#include "byte_range.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "op.h"
#include "run_work.h"
#include "shape.h"
#include "tensor.h"

static bool check_shape(fy_site *at, fy_tensor *out, const fy_shape *s)
{
    char own[256], result[256];
    if (s->ndim == out->ndim && memcmp(s->dims, out->shape, (size_t)s->ndim * sizeof *s->dims) == 0) return true;
    return fy_fail_about(at, "shape", "an in-place operation cannot change the shape: write into a new tensor instead",
                         1, &out, "output with shape %s doesn't match the broadcast shape %s",
                         fy_shape_text(out->shape, out->ndim, "[]", own, sizeof own),
                         fy_shape_text(s->dims, s->ndim, "[]", result, sizeof result));
}

static int64_t span_of(const fy_tensor *x)
{
    int64_t last = 0;
    for (int d = 0; d < x->ndim; d++) last += (x->shape[d] - 1) * x->strides[d];
    return last + 1;
}

static bool same_layout(const fy_tensor *a, const fy_tensor *b)
{
    if (a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] || (a->shape[d] != 1 && a->strides[d] != b->strides[d])) return false;
    return true;
}

/* Do they share bytes other than element by element? Only dense tensors are checked, as in PyTorch. */
static bool overlaps(const fy_tensor *out, const fy_tensor *x)
{
    fy_geometry a = fy_geometry_of(out), b = fy_geometry_of(x);
    int64_t size_a = out->element_size, size_b = x->element_size;
    if (out->storage != x->storage || fy_tensor_numel(out) == 0 || fy_tensor_numel(x) == 0) return false;
    if (!fy_is_dense(&a) || !fy_is_dense(&b)) return false;
    int64_t from_a = out->offset * size_a, from_b = x->offset * size_b;
    if (from_a + span_of(out) * size_a <= from_b || from_b + span_of(x) * size_b <= from_a) return false;
    return from_a != from_b || size_a != size_b || !same_layout(out, x);
}

/* What the check above lets pass: an operand with gaps, such as a column of the target. */
bool fy_overlaps_in_part(const fy_tensor *out, const fy_tensor *x)
{
    int64_t first, bytes;
    if (x == out || x->storage != out->storage || fy_tensor_numel(out) == 0 || fy_tensor_numel(x) == 0) return false;
    if (x->offset == out->offset && x->dtype == out->dtype && same_layout(out, x)) return false;
    fy_geometry a = fy_geometry_of(out), b = fy_geometry_of(x);
    fy_layout la = fy_layout_of(&a), lb = fy_layout_of(&b);
    fy_byte_range to = fy_byte_range_of(&la, out->offset, out->element_size);
    fy_byte_range from = fy_byte_range_of(&lb, x->offset, x->element_size);
    return fy_byte_ranges_meet(&to, &from, &first, &bytes);
}

/* An expanded tensor, of stride 0, has several elements at one address. */
static bool check_expanded(fy_site *at, fy_tensor *out)
{
    bool expanded = false;
    for (int d = 0; d < out->ndim; d++) expanded |= out->strides[d] == 0 && out->shape[d] > 1;
    if (!expanded || fy_tensor_numel(out) == 0) return true;
    return fy_fail_about(at, "memory", "fy_clone gives every element its own memory", 1, &out,
                         "unsupported operation: more than one element of the written-to tensor refers to a single "
                         "memory location. Please clone() the tensor before performing the operation.");
}

/* An operand may be the target itself. Not in a scatter, which reads its other operands at different positions than it
 * writes: there even one that has the target's elements is an error. */
static bool check_memory(const fy_call *c)
{
    const fy_tensor *out = c->out;
    if (!fy_blob_check_written(c->at, c->out)) return false;
    if (c->op != FY_OP_fill && !check_expanded(c->at, c->out)) return false; /* filling an address twice is harmless */
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        const fy_tensor *x = c->in[i].tensor;
        bool scattered = fy_ops[c->op].shape == FY_SCATTERED && i > 0;
        if (!c->in[i].is_tensor || (x == out && !scattered)) continue;
        bool same =
            x->storage == out->storage && x->offset == out->offset && fy_tensor_numel(x) > 0 && same_layout(out, x);
        if ((scattered && same) || overlaps(out, x))
            return fy_fail_about(c->at, "memory", "fy_clone the operand first", 1, &c->out,
                                 "unsupported operation: some elements of the input tensor and the written-to tensor "
                                 "refer to a single memory location. Please clone() the tensor before performing the "
                                 "operation.");
    }
    return true;
}

bool fy_plan_in_place(const fy_call *c, fy_plan *p)
{
    char name[200];
    const fy_dev *dev = c->out->storage->dev;
    fy_geometry own = fy_geometry_of(c->out);
    if (p->dev != dev)
        return fy_fail_about(
            c->at, "device_mismatch", "copy one to the other's device with fy_to", 1, &c->out,
            "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
            p->dev->number ? p->dev->name : dev->name, p->dev->number ? dev->name : p->dev->name);
    if (!check_memory(c) || !check_shape(c->at, c->out, &p->result.shape)) return false;
    if (c->op != FY_OP_cast && !fy_can_cast(p->result.dtype, own.dtype))
        return fy_fail_about(c->at, "dtype",
                             fy_hint("write into a new tensor instead, or convert %s first with fy_to",
                                     fy_argument(c->at, 0, name, sizeof name)),
                             1, &c->out, "result type %s can't be cast to the desired output type %s",
                             fy_dtype_torch(p->result.dtype), fy_dtype_torch(own.dtype));

    if (p->result.dtype == own.dtype) memcpy(p->result.strides, own.strides, sizeof own.strides);
    if (c->op != FY_OP_fill) return true;
    for (int d = 0; d < own.shape.ndim; d++) /* each address once */
        if (own.strides[d] == 0 && own.shape.dims[d] > 1) own.shape.dims[d] = 1;
    p->out = fy_layout_of(&own);
    return true;
}

bool fy_check_written(fy_site *at, fy_tensor *dst, fy_tensor *src)
{
    fy_shape s;
    return fy_broadcast(at, dst, src, &s) && check_shape(at, dst, &s) && check_expanded(at, dst) &&
           fy_blob_check_written(at, dst);
}
