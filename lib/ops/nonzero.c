/* nonzero.c: nonzero, masked_select and index: results whose size depends on values. prefix_count counts the selected
 * elements up to each one; the last count is the size. From a GPU that count must reach the host before the result can
 * be allocated: a copy and a synchronization, both with `why` size. */
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "tensor.h"
#include "transfer.h"

bool fy_plan_counted(const fy_call *c, fy_plan *p)
{
    p->result.shape = c->shape;
    if (c->strides) memcpy(p->result.strides, c->strides, (size_t)c->shape.ndim * sizeof *c->strides);
    else fy_shape_rows(&c->shape, p->result.strides);
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        fy_geometry g = fy_geometry_of(c->in[i].tensor);
        p->in[i] = fy_layout_of(&g);
    }
    return true;
}

/* The last count, read on the host; false after an error. Clamped, since a data race can corrupt it. */
static bool read_last(fy_site *at, const fy_tensor *counts, int64_t *n)
{
    fy_tensor last = *counts;
    int64_t max = fy_tensor_numel(counts);
    *n = 0;
    if (max == 0) return true;
    last.ndim = 0;
    last.offset += max - 1;
    if (counts->storage->dev->number == 0) *n = *(const int64_t *)fy_first_element(&last);
    else if (!fy_fetch(at, &last, n, sizeof *n, FY_WORD_size)) return false;
    *n = *n < 0 ? 0 : *n > max ? max : *n;
    return true;
}

/* prefix_count of x, and the total; NULL after an error. */
static fy_tensor *count(fy_site *at, fy_tensor *x, int64_t *n)
{
    fy_tensor *counts = fy_dispatch(&(fy_call){.at = at, .op = FY_OP_prefix_count, .in = {fy_arg_tensor(x)}});
    if (counts && read_last(at, counts, n)) return counts;
    fy_tensor_release(at, counts, FY_WORD_free);
    return NULL;
}

/* Runs the call with the counts as its last operand; takes over the reference to them. x: the program's tensor that
 * in[0] stands for. */
static fy_tensor *dispatch_counted(fy_call *c, fy_tensor *x, fy_tensor *counts)
{
    c->in[fy_ops[c->op].nin - 1] = fy_arg_tensor(counts);
    c->name = fy_name_for(c->at, NULL);
    fy_tensor *out = fy_compute(c);
    c->in[0] = fy_arg_tensor(x);
    if (fy_records(c)) fy_record(c, out, &(fy_before){0});
    fy_tensor_release(c->at, counts, FY_WORD_free);
    return fy_scope_track(out);
}

/* Strides (1, n), as PyTorch's result has. */
fy_tensor *fy_nonzero_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    int64_t n, strides[2] = {1, 0};
    fy_call c = {.at = at, .op = FY_OP_nonzero, .strides = strides};
    if (!fy_check(at, 0, x)) return NULL;
    fy_tensor *counts = count(at, x, &n);
    if (!counts) return NULL;
    strides[1] = n;
    c.shape = (fy_shape){2, {n, x->ndim}};
    return dispatch_counted(&c, x, counts);
}

/* ---- by a mask ---- */

/* x broadcast to shape s, as a temporary header: no view that the program sees, no reference. */
static fy_tensor expanded(const fy_tensor *x, const fy_shape *s)
{
    fy_tensor wide = fy_tensor_described(x);
    fy_layout l = fy_layout_broadcast(x, s);
    wide.ndim = s->ndim;
    memcpy(wide.shape, l.shape, sizeof wide.shape);
    memcpy(wide.strides, l.strides, sizeof wide.strides);
    return wide;
}

/* wide, mask: x and the mask, as they are read. */
static fy_tensor *select_by(fy_site *at, fy_tensor *x, fy_tensor *wide, fy_tensor *mask, const int64_t *strides,
                            const fy_shape *rest)
{
    int64_t n;
    fy_call c = {.at = at, .op = FY_OP_masked_select, .in = {fy_arg_tensor(wide)}, .strides = strides};
    fy_tensor *counts = count(at, mask, &n);
    if (!counts) return NULL;
    c.shape = *rest;
    c.shape.dims[0] = n;
    return dispatch_counted(&c, x, counts);
}

static bool is_mask(const fy_tensor *x) { return x->dtype == FY_BOOL || x->dtype == FY_UINT8; }

/* The mask on x's device: a new reference, or a copy where one is allowed; NULL after an error. */
static fy_tensor *on_device_of(fy_site *at, fy_tensor *mask, fy_tensor *x, bool may_copy, fy_word why)
{
    char name[200];
    fy_dev *x_dev = x->storage->dev, *mask_dev = mask->storage->dev;
    if (x_dev == mask_dev) return fy_tensor_retain(mask);
    if (may_copy) return fy_copy_to(at, mask, x_dev, mask->dtype, &(fy_transfer_opts){.why = why}, NULL);
    fy_argument(at, 1, name, sizeof name);
    return fy_fail_about(at, "device_mismatch", fy_hint("copy %s with fy_to(%s, \"%s\")", name, name, x_dev->name), 2,
                         (fy_tensor *[]){x, mask},
                         "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
                         x_dev->number ? x_dev->name : mask_dev->name, x_dev->number ? mask_dev->name : x_dev->name);
}

fy_tensor *fy_masked_select_at(fy_site *at, fy_tensor *x, fy_tensor *mask)
{
    FY_CALL(at);
    fy_shape s;
    char name[200];
    if (!fy_check(at, 0, x) || !fy_check(at, 1, mask)) return NULL;
    if (!is_mask(mask))
        return fy_fail_about(at, "dtype",
                             fy_hint("a comparison gives a mask: fy_ne(%s, 0)", fy_argument(at, 1, name, sizeof name)),
                             2, (fy_tensor *[]){x, mask}, "masked_select: expected BoolTensor or ByteTensor for mask");
    if (!fy_broadcast(at, mask, x, &s)) return NULL;
    fy_tensor *local = on_device_of(at, mask, x, fy_dev_copies_implicitly(), FY_WORD_policy), *out = NULL;
    if (local) {
        fy_tensor wide = expanded(x, &s), wide_mask = expanded(local, &s);
        out = select_by(at, x, &wide, &wide_mask, NULL, &(fy_shape){1, {0}});
    }
    fy_tensor_release(at, local, FY_WORD_free);
    return out;
}

/* ---- x[mask] ---- */

static bool check_mask(fy_site *at, fy_tensor *x, fy_tensor *mask)
{
    char mask_text[256], x_text[256], name[200];
    fy_tensor *both[] = {x, mask};
    fy_argument(at, 1, name, sizeof name);
    if (!is_mask(mask))
        return fy_fail_about(at, "dtype",
                             fy_dtype_is_real(mask->dtype)
                                 ? fy_hint("a comparison gives a mask: fy_gt(%s, 0)", name)
                                 : fy_hint("fy_index_select(x, 0, %s) selects rows by index", name),
                             2, both, "tensors used as indices must be long, byte or bool tensors; here a mask");
    if (mask->ndim > x->ndim)
        return fy_fail_about(at, "shape", "a mask covers the first dimensions of x", 2, both,
                             "too many indices for tensor of dimension %d", x->ndim);
    for (int d = 0; d < mask->ndim; d++)
        if (mask->shape[d] != x->shape[d])
            return fy_fail_about(at, "shape", "a mask covers the first dimensions of x", 2, both,
                                 "The shape of the mask %s at index %d does not match the shape of the indexed tensor "
                                 "%s at index %d",
                                 fy_shape_text(mask->shape, mask->ndim, "[]", mask_text, sizeof mask_text), d,
                                 fy_shape_text(x->shape, x->ndim, "[]", x_text, sizeof x_text), d);
    if (x->ndim - mask->ndim < FY_MAX_DIMS) return true;
    return fy_fail_about(at, "shape", "merge some dimensions first: fy_flatten", 2, both,
                         "a tensor has at most %d dimensions", FY_MAX_DIMS);
}

/* One row for each true element of the mask. The other dimensions keep x's stride order, as in PyTorch. */
fy_tensor *fy_index_at(fy_site *at, fy_tensor *x, fy_tensor *mask)
{
    FY_CALL(at);
    if (!fy_check(at, 0, x) || !fy_check(at, 1, mask) || !check_mask(at, x, mask)) return NULL;
    bool may_copy = fy_dev_copies_implicitly(), from_host = mask->storage->dev->number == 0;
    fy_tensor *local = on_device_of(at, mask, x, may_copy || from_host, may_copy ? FY_WORD_policy : FY_WORD_op);
    if (!local) return NULL;
    fy_shape s = {1 + x->ndim - mask->ndim, {1}};
    int64_t strides[FY_MAX_DIMS];
    fy_layout rest = {.ndim = s.ndim, .shape = {1}, .strides = {INT64_MAX}};
    for (int d = 1; d < s.ndim; d++) {
        s.dims[d] = rest.shape[d] = x->shape[mask->ndim + d - 1];
        rest.strides[d] = x->strides[mask->ndim + d - 1];
    }
    fy_shape_follow(&s, 1, &rest, false, strides);
    strides[0] = 1;
    for (int d = 1; d < s.ndim; d++) strides[0] = fy_saturating_mul(strides[0], s.dims[d] > 1 ? s.dims[d] : 1);
    fy_tensor *out = fy_node_call(select_by(at, x, x, local, strides, &s), "IndexBackward0");
    fy_tensor_release(at, local, FY_WORD_free);
    return out;
}
