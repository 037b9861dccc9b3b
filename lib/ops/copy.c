/* copy.c: fy_copy_ into an existing tensor, and page-locked memory.
 *
 * On one device a copy is the op clone or cast. Between devices the elements are transferred in one piece (transfer.c):
 * as they are if both tensors are dense with the same strides and dtype, else in row-major order, as in PyTorch. The
 * source is made row-major on its own device and the destination unpacked on its own; a side that is row-major already
 * needs no temporary. */
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "frame.h"
#include "run_work.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

/* The same elements: nothing to copy. */
static bool is_same(const fy_tensor *a, const fy_tensor *b)
{
    if (a == b) return true;
    if (a->storage != b->storage || a->offset != b->offset || a->dtype != b->dtype || a->ndim != b->ndim) return false;
    for (int d = 0; d < a->ndim; d++)
        if (a->shape[d] != b->shape[d] || (a->shape[d] > 1 && a->strides[d] != b->strides[d])) return false;
    return true;
}

/* src broadcast to dst's shape. */
static fy_geometry broadcast(const fy_tensor *src, const fy_tensor *dst)
{
    fy_geometry g = {.dtype = src->dtype, .offset = src->offset, .shape = fy_geometry_of(dst).shape};
    fy_layout l = fy_layout_broadcast(src, &g.shape);
    memcpy(g.strides, l.strides, sizeof g.strides);
    return g;
}

static bool same_strides_and_dtype(const fy_geometry *a, const fy_geometry *b)
{
    for (int d = 0; d < a->shape.ndim; d++)
        if (a->shape.dims[d] != 1 && a->strides[d] != b->strides[d]) return false;
    return a->dtype == b->dtype;
}

/* A transfer, and whether each side needs a row-major temporary. */
typedef struct copy_plan {
    fy_site *at;
    fy_geometry sent; /* of the elements in the transfer */
    bool pack, unpack;
    fy_transfer_opts how;
} copy_plan;

static copy_plan plan(fy_site *at, fy_tensor *dst, fy_tensor *src, bool async)
{
    copy_plan c = {.at = at, .sent = broadcast(src, dst), .how = {.async = async, .why = FY_WORD_user}};
    fy_geometry own = fy_geometry_of(dst), rows = {.shape = own.shape};
    c.sent.offset = 0;
    if (fy_is_dense(&own) && same_strides_and_dtype(&own, &c.sent)) return c;
    rows.dtype = fy_transfer_dtype(src->storage->dev, dst->storage->dev, src->dtype, dst->dtype, async);
    fy_shape_rows(&rows.shape, rows.strides);
    c.pack = !same_strides_and_dtype(&c.sent, &rows);
    c.unpack = !same_strides_and_dtype(&own, &rows);
    c.sent = rows;
    if (src->dtype != dst->dtype) c.how.cast = rows.dtype == dst->dtype ? FY_WORD_source : FY_WORD_destination;
    return c;
}

static fy_storage *reserve(const copy_plan *c, fy_dev *d)
{
    return fy_storage_reserve(c->at, d, (size_t)fy_shape_numel(&c->sent.shape) * fy_dtype_size(c->sent.dtype));
}

static fy_tensor *temporary(const copy_plan *c, fy_storage *s)
{
    fy_storage_announce(c->at, s);
    return fy_tensor_make(c->at, s, &c->sent, NULL, 0, false);
}

static bool copy_between(fy_site *at, fy_tensor *dst, fy_tensor *src, bool async)
{
    if (!fy_check_written(at, dst, src)) return false;
    if (fy_tensor_numel(dst) == 0) return true;
    copy_plan c = plan(at, dst, src, async);
    fy_storage *packed = NULL, *received = NULL;
    if (c.pack && !(packed = reserve(&c, src->storage->dev))) return false;
    if (c.unpack && !(received = reserve(&c, dst->storage->dev))) {
        if (packed) fy_storage_cancel(packed);
        return false;
    }

    fy_tensor *from = packed ? temporary(&c, packed) : src;
    bool ok = !packed || fy_write_into(at, from, src);
    fy_tensor *to = received ? temporary(&c, received) : dst;
    ok = ok && fy_transfer(at, from, to, &c.how);
    if (packed) fy_tensor_release(at, from, FY_WORD_free);
    ok = ok && (!received || fy_write_into(at, dst, to));
    if (received) fy_tensor_release(at, to, FY_WORD_free);
    return ok;
}

fy_tensor *fy_copy__at(fy_site *at, fy_tensor *dst, fy_tensor *src, fy_copy_opts o)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, dst) || !fy_check(at, 1, src) || !fy_graph_check_written(at, dst, fy_is_required(src)))
        return NULL;
    bool across = dst->storage->dev != src->storage->dev;
    bool ok = is_same(dst, src) || (across ? copy_between(at, dst, src, o.non_blocking) : fy_write_into(at, dst, src));
    if (ok && !is_same(dst, src)) fy_record_step(at, FY_NODE_COPY, dst, 2, (fy_tensor *[]){dst, src}, NULL, true);
    if (ok && across && !o.non_blocking && dst->storage->dev->number == 0) fy_narrate_flush();
    return ok ? dst : NULL;
}

/* ---- page-locked memory ---- */

/* A pinned copy with x's strides. */
static fy_tensor *pinned_copy(fy_site *at, fy_tensor *x)
{
    fy_geometry g = fy_geometry_of(x);
    g.offset = 0;
    if (!fy_check_written(at, x, x)) return NULL; /* rejects expanded tensors: their elements share addresses */
    fy_storage *s = fy_storage_reserve_pinned(at, (size_t)fy_span(&g) * x->element_size);
    if (!s) return NULL;
    fy_storage_announce(at, s);
    fy_tensor *out = fy_tensor_make(at, s, &g, fy_name_for(at, NULL), 0, false);
    if (fy_write_into(at, out, x)) {
        fy_record_step(at, FY_NODE_TO, out, 1, &x, NULL, false);
        return out;
    }
    fy_tensor_release(at, out, FY_WORD_free);
    return NULL;
}

fy_tensor *fy_pin_memory_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    if (x->storage->dev->number != 0)
        return fy_fail_about(at, "device", "pin a CPU tensor, then copy it: fy_cuda(fy_pin_memory(x))", 1, &x,
                             "cannot pin 'torch.cuda.%sTensor' only dense CPU tensors can be pinned",
                             fy_dtype_torch(x->dtype));
    return fy_scope_track(x->storage->mem == FY_WORD_pinned ? fy_tensor_retain(x) : pinned_copy(at, x));
}

bool fy_is_pinned_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    return fy_check(at, 0, x) && x->storage->mem == FY_WORD_pinned;
}
