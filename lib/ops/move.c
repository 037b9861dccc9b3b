/* move.c: copies to another device or dtype: fy_to, fy_cuda, fy_cpu.
 *
 * A transfer (transfer.c) sends dense elements of one dtype. So a tensor with holes is made compact on its own device
 * first, and a dtype conversion happens on one side. Which one follows PyTorch: on the CPU, which saves VRAM; on the
 * GPU if the call must not wait for the CPU; between two GPUs on the source. All memory is reserved before anything
 * runs. */
#include <string.h>

#include "composed.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "frame.h"
#include "graph.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "site.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

static fy_tensor *convert(fy_site *at, fy_tensor *x, fy_dtype dtype, const char *name)
{
    return fy_compute(&(fy_call){.at = at, .op = FY_OP_cast, .in = {fy_arg_tensor(x)}, .dtype = dtype, .name = name});
}

static fy_tensor *clone(fy_site *at, fy_tensor *x, const char *name)
{
    return fy_compute(&(fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .name = name});
}

fy_tensor *fy_compact(fy_site *at, fy_tensor *x) { return clone(at, x, NULL); }

bool fy_write_into(fy_site *at, fy_tensor *dst, fy_tensor *src)
{
    int op = src->dtype == dst->dtype ? FY_OP_clone : FY_OP_cast;
    return fy_compute(&(fy_call){.at = at, .op = op, .in = {fy_arg_tensor(src)}, .dtype = dst->dtype, .out = dst});
}

fy_dtype fy_transfer_dtype(const fy_dev *from, const fy_dev *to, fy_dtype old, fy_dtype new, bool async)
{
    bool from_host = from->number == 0, to_host = to->number == 0;
    bool before = from_host ? !async : to_host ? async : true;
    return before ? new : old;
}

/* Transfers `sent`, of geometry g, into storage s; through storage `step`, which has the transfer's dtype, if the
 * conversion happens on the destination. */
static fy_tensor *receive(fy_site *at, fy_tensor *source, fy_geometry g, fy_storage *s, fy_storage *step,
                          fy_dtype dtype, const fy_transfer_opts *o, const char *name)
{
    fy_storage_announce(at, step ? step : s);
    fy_tensor *received = fy_tensor_make(at, step ? step : s, &g, step ? NULL : name, 0, false), *out = received;
    bool ok = s->asked == 0 || fy_transfer(at, source, received, o);
    if (step && ok) {
        g.dtype = dtype;
        fy_storage_announce(at, s);
        out = fy_tensor_make(at, s, &g, name, 0, false);
        ok = fy_write_into(at, out, received);
        fy_tensor_release(at, received, FY_WORD_free);
    } else if (step) {
        fy_storage_cancel(s);
    }
    if (ok) return out;
    fy_tensor_release(at, out, FY_WORD_free);
    return NULL;
}

/* To another device: x itself is sent if it is dense and has the transfer's dtype, else a temporary. */
fy_tensor *fy_copy_to(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const fy_transfer_opts *o,
                      const char *name)
{
    if (!name && o->why == FY_WORD_user) name = fy_composed_now.on ? fy_composed_now.result : fy_site_variable(at);
    if (x->storage->dev == to) return x->dtype != dtype ? convert(at, x, dtype, name) : clone(at, x, name);
    fy_geometry g = fy_geometry_of(x);
    bool pinned = o->async && to->number == 0, dense = fy_is_dense(&g);
    size_t numel = (size_t)fy_shape_numel(&g.shape), bytes = numel * fy_dtype_size(dtype);
    fy_dtype sent = x->dtype == dtype ? dtype : fy_transfer_dtype(x->storage->dev, to, x->dtype, dtype, o->async);
    fy_word cast = x->dtype == dtype ? FY_WORD_none : sent == dtype ? FY_WORD_source : FY_WORD_destination;
    fy_storage *step = NULL, *s = pinned ? fy_storage_reserve_pinned(at, bytes) : fy_storage_reserve(at, to, bytes);
    fy_tensor *source = NULL, *out = NULL;
    if (!s) return NULL;
    if (sent != dtype) step = fy_storage_reserve(at, to, numel * fy_dtype_size(sent));
    if (x->dtype != sent) source = convert(at, x, sent, NULL);
    else if (sent == dtype || step) source = dense ? x : clone(at, x, NULL);
    if (source) {
        fy_transfer_opts how = {.async = o->async, .cast = cast, .why = o->why};
        if (source != x) g = fy_geometry_of(source);
        g.offset = 0;
        out = receive(at, source, g, s, step, dtype, &how, name);
    } else {
        if (step) fy_storage_cancel(step);
        fy_storage_cancel(s);
    }
    if (source != x) fy_tensor_release(at, source, FY_WORD_free);
    return out;
}

/* ---- fy_to ---- */

/* Did the program write fy_to, fy_cuda or fy_cpu here? Clipping and others convert where it is needed, if it is. */
static bool is_users(const fy_site *at)
{
    return at && (!strcmp(at->call, "fy_to") || !strcmp(at->call, "fy_cuda") || !strcmp(at->call, "fy_cpu"));
}

/* A new reference to x if device and dtype match already. */
static fy_tensor *copy_if_needed(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const fy_to_opts *o)
{
    bool same = to == x->storage->dev && dtype == x->dtype;
    if (same && !o->copy) {
        if (fy_log_is_on() && is_users(at))
            FY_EMIT(at, same, .tensor = x->id, .name = fy_ref_str(fy_site_variable(at)));
        return fy_scope_track(fy_tensor_retain(x));
    }
    fy_transfer_opts how = {.async = o->non_blocking, .why = FY_WORD_user};
    fy_tensor *out = fy_copy_to(at, x, to, dtype, &how, NULL);
    if (out && FY_HAS_GRAPH(x)) fy_record_step(at, FY_NODE_TO, out, 1, &x, NULL, false);
    if (to->number == 0 && !same && !o->non_blocking) fy_narrate_flush();
    return fy_scope_track(out);
}

fy_tensor *fy_to_at(fy_site *at, fy_tensor *x, fy_target t, fy_to_opts o)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x) || (t.is_like && !fy_check(at, 1, t.like))) return NULL;
    fy_dev *to = x->storage->dev;
    fy_dtype dtype = x->dtype;
    if (t.is_like) {
        to = t.like->storage->dev;
        dtype = t.like->dtype;
    } else if (t.dtype != FY_DTYPE_UNSET) {
        dtype = t.dtype;
    } else if (!t.device) {
        return fy_fail(at, "device", "pass a device, such as \"cuda\", or a dtype, such as FY_INT64",
                       "Device string must not be empty (it is NULL, or a dtype that is 0)");
    } else if (!(to = fy_dev_parse(at, t.device))) {
        return NULL;
    }
    if (o.dtype != FY_DTYPE_UNSET) dtype = o.dtype;
    if (dtype != x->dtype && !fy_dtype_ok(at, dtype)) return NULL;
    return copy_if_needed(at, x, to, dtype, &o);
}

fy_tensor *fy_cuda_at(fy_site *at, fy_tensor *x, bool has_device, fy_cuda_opts o)
{
    FY_CALL(at);
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    fy_dev *to = fy_dev_card(at, has_device ? o.device : -1);
    return to ? copy_if_needed(at, x, to, x->dtype, &(fy_to_opts){.non_blocking = o.non_blocking}) : NULL;
}

fy_tensor *fy_cpu_at(fy_site *at, fy_tensor *x)
{
    FY_CALL(at);
    fy_session_start();
    return fy_check(at, 0, x) ? copy_if_needed(at, x, fy_dev_at(0), x->dtype, &(fy_to_opts){0}) : NULL;
}
