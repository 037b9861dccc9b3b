/* dispatch.c: one call of one op: checked and planned (plan.c), allocated, run (perform.c), and recorded for gradients.
 * Its events: alloc, tensor, op, complete. */
#include "dispatch.h"

#include "autocast.h"
#include "device.h"
#include "dtype.h"
#include "event.h"
#include "graph.h"
#include "op.h"
#include "run_work.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "tensor.h"

/* Operands of other types are cast on their own device first, and those that the target overlaps in part are read: else
 * the result would depend on the order of the elements. `casts` receives the temporaries. */
static bool convert(const fy_call *c, fy_plan *p, fy_tensor **in, fy_tensor **casts)
{
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        in[i] = c->in[i].is_tensor ? c->in[i].tensor : NULL;
        bool fits = p->number[i] || in[i]->dtype == p->takes[i];
        if (fits && (p->number[i] || !c->out || !fy_overlaps_in_part(c->out, in[i]))) continue;
        int op = fits ? FY_OP_clone : FY_OP_cast;
        casts[i] = fy_compute(&(fy_call){.at = c->at, .op = op, .in = {c->in[i]}, .dtype = p->takes[i]});
        if (!casts[i]) return false;
        in[i] = casts[i];
    }
    return true;
}

/* Input layouts were planned for the original operands; a cast one may have other strides. */
static bool replan_inputs(const fy_call *c, fy_plan *p, fy_tensor *const *in, fy_tensor *const *casts)
{
    fy_call with_casts = *c;
    bool any = false;
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        if (!casts[i]) continue;
        with_casts.in[i] = fy_arg_tensor(in[i]);
        any = true;
    }
    fy_plan replanned;
    if (!any) return true;
    if (!fy_plan_make(&with_casts, &replanned)) return false;
    memcpy(p->in, replanned.in, sizeof p->in);
    return true;
}

/* Runs into `out`, whose reference the caller keeps; false after an error. Kernels get a number, or the one element of
 * a tensor on the CPU, as an argument. */
static bool perform(const fy_call *c, const fy_plan *p, fy_tensor *const *in, fy_tensor *out)
{
    fy_run_work w = {.op = c->op, .nin = fy_ops[c->op].nin, .dtype = p->dtype, .reduced = p->reduced};
    memcpy(w.real, c->real, sizeof w.real);
    memcpy(w.integer, c->integer, sizeof w.integer);
    for (int i = 0; i < w.nin; i++) {
        if (!p->number[i]) {
            w.in[i] = (fy_operand){fy_first_element(in[i]), in[i]->dtype, p->in[i]};
            continue;
        }
        fy_arg n = c->in[i];
        if (n.is_tensor) n = fy_number_at(n.tensor->dtype, fy_first_element(n.tensor), 0);
        w.in[i].dtype = p->takes[i];
        w.real[i] = n.real;
        w.integer[i] = n.is_int ? n.integer : 0; /* a float operand makes the op compute in a float type */
    }
    w.out = (fy_operand){fy_first_element(out), p->result.dtype, p->out};
    fy_op_cost(&w);
    return fy_perform(c, p->dev, &w, in, out);
}

static fy_tensor *dispatch_new(const fy_call *c, fy_plan *p)
{
    fy_tensor *in[FY_MAX_INPUTS] = {0}, *casts[FY_MAX_INPUTS] = {0}, *out = NULL;
    size_t bytes = (size_t)fy_shape_numel(&p->result.shape) * fy_dtype_size(p->result.dtype);
    fy_storage *s = c->pinned ? fy_storage_reserve_pinned(c->at, bytes) : fy_storage_reserve(c->at, p->dev, bytes);
    if (!s) return NULL;
    if (convert(c, p, in, casts) && replan_inputs(c, p, in, casts)) {
        fy_storage_announce(c->at, s);
        out = fy_tensor_make(c->at, s, &p->result, c->name, 0, false);
    } else {
        fy_storage_cancel(s);
    }
    bool ok = out && perform(c, p, in, out);
    if (out && !ok) fy_tensor_release(c->at, out, FY_WORD_free);
    for (int i = 0; i < FY_MAX_INPUTS; i++) fy_tensor_release(c->at, casts[i], FY_WORD_free);
    return ok ? out : NULL;
}

/* In place: returns c->out without a new reference. */
static fy_tensor *dispatch_in_place(const fy_call *c, fy_plan *p)
{
    fy_tensor *in[FY_MAX_INPUTS] = {0}, *casts[FY_MAX_INPUTS] = {0};
    bool ok = convert(c, p, in, casts) && replan_inputs(c, p, in, casts) && perform(c, p, in, c->out);
    for (int i = 0; i < FY_MAX_INPUTS; i++) fy_tensor_release(c->at, casts[i], FY_WORD_free);
    return ok ? c->out : NULL;
}

/* In place, but computed in another type than the target's: by way of a temporary. */
static fy_tensor *dispatch_through_temporary(const fy_call *c)
{
    fy_call first = *c;
    first.out = NULL;
    first.whole = NULL;
    first.name = NULL;
    fy_tensor *value = fy_compute(&first);
    if (!value) return NULL;
    fy_tensor *out = fy_compute(&(fy_call){.at = c->at,
                                           .op = FY_OP_cast,
                                           .in = {fy_arg_tensor(value)},
                                           .dtype = c->out->dtype,
                                           .out = c->out,
                                           .whole = c->whole});
    fy_tensor_release(c->at, value, FY_WORD_free);
    return out;
}

fy_tensor *fy_compute(const fy_call *c)
{
    fy_fast_call fast;
    fy_plan p;
    fy_session_start();
    if (fy_fast_plan(c, &fast)) return fy_fast_dispatch(c, &fast);
    if (fy_policy_applies(c)) return fy_policy_dispatch(c);
    if (!fy_plan_make(c, &p)) return NULL;
    if (!c->out) return dispatch_new(c, &p);
    return p.result.dtype == c->out->dtype ? dispatch_in_place(c, &p) : dispatch_through_temporary(c);
}

/* Is an operand part of a graph? Nearly every call ends here if no gradients are asked for. */
static inline bool meets_graph(const fy_call *c)
{
    if (c->out && FY_HAS_GRAPH(c->out)) return true;
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        const fy_tensor *x = c->in[i].tensor;
        if (x && FY_HAS_GRAPH(x)) return true;
    }
    return false;
}

static fy_tensor *dispatch_and_record(const fy_call *c)
{
    fy_before before;
    if (!meets_graph(c) || !fy_records(c)) return fy_compute(c);
    if (!fy_record_begin(c, &before)) return NULL;
    return fy_record(c, fy_compute(c), &before);
}

static fy_tensor *dispatch_autocast(const fy_call *c)
{
    fy_cast_call cast;
    if (!fy_autocast_call(c, &cast)) return dispatch_and_record(c);
    fy_tensor *out = cast.ok ? dispatch_and_record(&cast.call) : NULL;
    fy_autocast_call_end(&cast);
    return out;
}

fy_tensor *fy_dispatch(const fy_call *c) { return fy_autocast_is_on ? dispatch_autocast(c) : dispatch_and_record(c); }
