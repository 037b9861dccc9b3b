/* move.c: tensors from one memory to another: fy_to, fy_cuda, fy_cpu, fy_copy_, fy_pin_memory.
 *
 * A crossing (transfer.c) moves a tensor's elements in one piece and in one type. So a tensor with holes is made
 * compact first where it lives, and a change of type is made on one side. On which follows PyTorch: on the
 * CPU, as that needs no room on the card; on the card, where the call is not to wait for the CPU; and
 * between two cards on the first. Whatever takes room is reserved before anything happens. */
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "error.h"
#include "event.h"
#include "op.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"
#include "transfer.h"

static bool is_host(const fy_dev *d) { return d->number == 0; }

typedef struct way {
    fy_site *at;
    bool async;
    fy_word why;
} way;

static fy_tensor *convert(fy_site *at, fy_tensor *x, fy_dtype dtype, const char *name)
{
    return fy_dispatch(&(fy_call){.at = at, .op = FY_OP_cast, .in = {fy_arg_tensor(x)}, .dtype = dtype, .name = name});
}

static fy_tensor *clone(fy_site *at, fy_tensor *x, const char *name)
{
    return fy_dispatch(&(fy_call){.at = at, .op = FY_OP_clone, .in = {fy_arg_tensor(x)}, .name = name});
}

fy_tensor *fy_compact(fy_site *at, fy_tensor *x) { return clone(at, x, NULL); }

bool fy_write_into(fy_site *at, fy_tensor *dst, fy_tensor *src)
{
    int op = src->dtype == dst->dtype ? FY_OP_clone : FY_OP_cast;
    return fy_dispatch(&(fy_call){.at = at, .op = op, .in = {fy_arg_tensor(src)}, .dtype = dst->dtype, .out = dst});
}

static fy_tensor *announced(fy_site *at, fy_storage *s, const fy_geometry *g, const char *name)
{
    fy_storage_announce(at, s);
    return fy_tensor_make(at, s, g, name, 0);
}

static fy_storage *room_for(fy_site *at, fy_dev *d, int64_t numel, fy_dtype dtype, bool pinned)
{
    size_t bytes = (size_t)numel * fy_dtype_size(dtype);
    return pinned ? fy_storage_reserve_pinned(at, bytes) : fy_storage_reserve(at, d, bytes);
}

fy_dtype fy_wire_type(const fy_dev *from, const fy_dev *to, fy_dtype old, fy_dtype new, bool async)
{
    bool before = is_host(from) ? !async : is_host(to) ? async : true;
    return before ? new : old;
}

/* x ready to leave: of the type in which it crosses, and without holes. One more reference to x if it is that. */
static fy_tensor *ready_to_leave(fy_site *at, fy_tensor *x, fy_dtype wire)
{
    fy_geometry g = fy_geometry_of(x);
    if (x->dtype != wire) return convert(at, x, wire, NULL);
    return fy_is_dense(&g) ? fy_tensor_again(x) : clone(at, x, NULL);
}

/* The layout of a result that crosses as `leaving`. */
static fy_geometry arrival(const fy_tensor *leaving, fy_dtype dtype)
{
    fy_geometry g = fy_geometry_of(leaving);
    g.offset = 0;
    g.dtype = dtype;
    return g;
}

/* x has been converted before it leaves, or `dtype` is made of it when it has come. */
static fy_crossing crossing_of(const way *m, const fy_tensor *x, fy_dtype wire, fy_dtype dtype)
{
    fy_word cast = x->dtype == dtype ? FY_WORD_none : wire == dtype ? FY_WORD_source : FY_WORD_destination;
    return (fy_crossing){.async = m->async, .cast = cast, .why = m->why};
}

/* Into storage `to`; by way of `step`, in the type of the crossing, if there is one. */
static fy_tensor *cross(const way *m, const fy_crossing *how, fy_tensor *leaving, fy_storage *to, fy_storage *step,
                        fy_dtype dtype, const char *name)
{
    fy_geometry g = arrival(leaving, leaving->dtype), last = arrival(leaving, dtype);
    fy_tensor *first = announced(m->at, step ? step : to, &g, step ? NULL : name);
    if (!fy_cross(m->at, leaving, first, how)) {
        fy_tensor_drop(m->at, first, FY_WORD_free);
        if (step) fy_storage_cancel(to);
        return NULL;
    }
    if (!step) return first;
    fy_tensor *out = announced(m->at, to, &last, name);
    bool ok = fy_write_into(m->at, out, first);
    fy_tensor_drop(m->at, first, FY_WORD_free);
    if (ok) return out;
    fy_tensor_drop(m->at, out, FY_WORD_free);
    return NULL;
}

static fy_tensor *across(const way *m, fy_tensor *x, fy_dev *to, fy_dtype dtype, const char *name)
{
    fy_dtype wire = fy_wire_type(x->storage->dev, to, x->dtype, dtype, m->async);
    fy_crossing how = crossing_of(m, x, wire, dtype);
    fy_tensor *leaving = NULL, *out = NULL;
    fy_storage *step = NULL, *s = room_for(m->at, to, fy_numel(x), dtype, m->async && is_host(to));
    if (!s) return NULL;
    if (wire == dtype || (step = room_for(m->at, to, fy_numel(x), wire, false)))
        leaving = ready_to_leave(m->at, x, wire);
    if (leaving) out = cross(m, &how, leaving, s, step, dtype, name);
    else {
        if (step) fy_storage_cancel(step);
        fy_storage_cancel(s);
    }
    fy_tensor_drop(m->at, leaving, FY_WORD_free);
    return out;
}

static fy_tensor *move(const way *m, fy_tensor *x, fy_dev *to, fy_dtype dtype, const char *name)
{
    if (x->storage->dev != to) return across(m, x, to, dtype, name);
    return x->dtype != dtype ? convert(m->at, x, dtype, name) : clone(m->at, x, name);
}

fy_tensor *fy_move(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const char *name)
{
    return move(&(way){at, false, FY_WORD_user}, x, to, dtype, name);
}

fy_tensor *fy_move_unasked(fy_site *at, fy_tensor *x, fy_dev *to)
{
    return move(&(way){at, false, FY_WORD_policy}, x, to, x->dtype, NULL);
}

/* ---- fy_to ---- */

/* Where x goes; false after an error. */
static bool target_of(fy_site *at, const fy_tensor *x, const fy_target *t, fy_dtype option, fy_dev **to,
                      fy_dtype *dtype)
{
    *to = x->storage->dev;
    *dtype = x->dtype;
    if (t->is_like) {
        if (!fy_check(at, 1, t->like)) return false;
        *to = t->like->storage->dev;
        *dtype = t->like->dtype;
    } else if (t->dtype != FY_DTYPE_UNSET) {
        *dtype = t->dtype;
    } else if (!t->device) {
        return fy_fail(at, "device", "name a device, as \"cuda\", or a dtype, as FY_INT64",
                       "Device string must not be empty (it is NULL, or a dtype that is 0)");
    } else {
        *to = fy_dev_parse(at, t->device);
    }
    if (option != FY_DTYPE_UNSET) *dtype = option;
    return *to && fy_dtype_ok(at, *dtype);
}

static fy_tensor *go(fy_site *at, fy_tensor *x, fy_dev *to, fy_dtype dtype, const fy_to_opts *o)
{
    bool same = to == x->storage->dev && dtype == x->dtype;
    if (same && !o->copy) return fy_hand_out(fy_tensor_again(x));
    fy_tensor *out = move(&(way){at, o->non_blocking, FY_WORD_user}, x, to, dtype, fy_name_for(at, NULL));
    if (is_host(to) && !same && !o->non_blocking) fy_narrate_flush();
    return fy_hand_out(out);
}

fy_tensor *fy_to_at(fy_site *at, fy_tensor *x, fy_target target, fy_to_opts o)
{
    fy_dev *to;
    fy_dtype dtype;
    fy_session_start();
    if (!fy_check(at, 0, x) || !target_of(at, x, &target, o.dtype, &to, &dtype)) return NULL;
    return go(at, x, to, dtype, &o);
}

fy_tensor *fy_cuda_at(fy_site *at, fy_tensor *x, int device)
{
    fy_session_start();
    if (!fy_check(at, 0, x)) return NULL;
    fy_dev *to = fy_dev_card(at, device);
    return to ? go(at, x, to, x->dtype, &(fy_to_opts){0}) : NULL;
}

fy_tensor *fy_cpu_at(fy_site *at, fy_tensor *x)
{
    fy_session_start();
    return fy_check(at, 0, x) ? go(at, x, fy_dev_at(0), x->dtype, &(fy_to_opts){0}) : NULL;
}
