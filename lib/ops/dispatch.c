/* dispatch.c: one call of one op: checked and planned (plan.c), allocated, run by the device's back end, and recorded
 * as alloc, tensor, op, complete. The only caller of a back end's run. */
#include "dispatch.h"

#include <stdio.h>

#include "autocast.h"
#include "clock.h"
#include "completion.h"
#include "contents.h"
#include "device.h"
#include "dtype.h"
#include "event.h"
#include "launch_record.h"
#include "op.h"
#include "race_detector.h"
#include "run_work.h"
#include "session_hooks.h"
#include "shape.h"
#include "storage.h"
#include "stream.h"
#include "tensor.h"
#include "tensor_access.h"
#include "transfer.h"
#include "vector_clock.h"

/* Operands of other types are cast on their own device first; `casts` receives the temporaries. */
static bool convert(const fy_call *c, fy_plan *p, fy_tensor **in, fy_tensor **casts)
{
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        in[i] = c->in[i].is_tensor ? c->in[i].tensor : NULL;
        if (p->number[i] || in[i]->dtype == p->takes[i]) continue;
        casts[i] = fy_compute(&(fy_call){.at = c->at, .op = FY_OP_cast, .in = {c->in[i]}, .dtype = p->takes[i]});
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

/* The accesses for the race detector: by the GPU's current stream or by the host, which also reads 0-dim CPU tensors
 * that are passed as numbers. */
static void note_accesses(const fy_call *c, const fy_dev *dev, const fy_run_work *w, fy_tensor *const *in,
                          const fy_tensor *out, fy_launch *launch)
{
    int agent = fy_agent_of(dev, w->stream);
    fy_launch_begin(launch, w->id);
    if (w->out.layout.numel == 0) return;
    for (int i = 0; i < w->nin; i++) {
        if (!w->in[i].data && c->in[i].is_tensor) fy_launch_tensor(launch, FY_HOST, c->in[i].tensor, false, 0);
        else if (in[i]) fy_launch_tensor(launch, agent, in[i], false, (uint8_t)(1 << i));
    }
    fy_launch_tensor(launch, agent, out, true, FY_RACE_OUT);
}

/* Most ops run on the host, where one short record replaces op and complete. False if this op does not fit it. */
static bool emit_host_op(const fy_call *c, const fy_run_work *w, const fy_use *reads, size_t n, fy_use writes)
{
    if (n > 2 || w->kernel || w->blas) return false;
    fy_host_op_record o = {.id = w->id,
                           .name = fy_ref_str(fy_ops[c->op].name),
                           .flops = w->flops,
                           .bytes = w->bytes,
                           .held = w->time.held,
                           .start = w->time.start,
                           .end = w->time.end,
                           .overhead = w->time.overhead,
                           .out = writes,
                           .nin = (uint8_t)n,
                           .dtype = (uint8_t)fy_dtype_word(w->out.dtype)};
    memcpy(o.in, reads, n * sizeof *reads);
    return fy_emit_host_op(c->at, &o);
}

/* Emits the op's events and the races found; returns the op event's sequence number, 0 if it has none. */
static uint64_t record(const fy_call *c, fy_dev *dev, const fy_run_work *w, const fy_use *reads, size_t n,
                       fy_use writes, fy_launch *launch)
{
    bool host = dev->number == 0;
    if (!fy_log_is_on()) return fy_launch_done(launch, c->at, 0), 0;
    if (host && launch->n == 0 && emit_host_op(c, w, reads, n, writes)) return 0;
    uint64_t seq = FY_EMIT(
        c->at, op, .id = w->id, .name = fy_ref_str(fy_ops[c->op].name), .device = (uint8_t)dev->number,
        .stream = host ? FY_ABSENT : w->stream, .in = n ? fy_ref_bytes(reads, n * sizeof *reads) : 0,
        .out = fy_ref_bytes(&writes, sizeof writes), .dtype = (uint8_t)fy_dtype_word(w->out.dtype), .flops = w->flops,
        .bytes = w->bytes, .kernel = fy_ref_str(w->kernel), .grid = {w->grid[0], w->grid[1], w->grid[2]},
        .block = {w->block[0], w->block[1], w->block[2]}, .blas = fy_ref_str(w->blas), .held = w->time.held);
    fy_completion_add(c->at, &(fy_completion){.dev = dev,
                                              .stream = w->stream,
                                              .id = w->id,
                                              .engine = host ? FY_WORD_host : FY_WORD_compute,
                                              .time = w->time});
    fy_launch_done(launch, c->at, seq);
    return seq;
}

bool fy_perform(const fy_call *c, fy_dev *dev, fy_run_work *w, fy_tensor *const *in, fy_tensor *out)
{
    char what[40];
    fy_launch launch;
    fy_use reads[FY_MAX_INPUTS]; /* the versions before the op writes */
    size_t n = 0;
    for (int i = 0; i < w->nin; i++)
        if (in[i]) reads[n++] = (fy_use){in[i]->id, in[i]->storage->id, fy_storage_version(in[i]->storage)};
    w->id = fy_work_id();
    w->stream = fy_stream_current(dev);
    w->races.own = w->races.n = 0;
    w->contents.tensor = 0;
    if (fy_results_are_logged)
        w->contents = fy_contents_of(c->at, c->whole ? c->whole : out, fy_storage_version(out->storage) + 1);
    note_accesses(c, dev, w, in, out, &launch);
    fy_launch_check(&launch, &w->races);

    bool ok = true;
    if (w->out.layout.numel > 0) ok = dev->backend->run(dev, w);
    else w->time.start = w->time.end = fy_clock_now(); /* an empty result: nothing runs */
    if (!ok) {
        fy_launch_failed(&launch);
        snprintf(what, sizeof what, "run %s", fy_ops[c->op].name);
        return fy_fail_launch(c->at, dev, w->id, what);
    }
    fy_use writes = {out->id, out->storage->id, fy_storage_written(out->storage)};
    uint64_t seq = record(c, dev, w, reads, n, writes, &launch);
    w->contents.version = writes.version; /* other threads may have written other parts meanwhile */
    if (dev->number == 0 && w->contents.tensor) fy_result_emit(&w->contents, w->id);
    return dev->number == 0 || fy_launch_record_issued(c->at, dev, w->stream, w->id, seq);
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
    if (c->out && (c->out->node || c->out->history)) return true;
    for (int i = 0; i < fy_ops[c->op].nin; i++) {
        const fy_tensor *x = c->in[i].tensor;
        if (x && (x->node || x->history)) return true;
    }
    return false;
}

static fy_tensor *dispatch_and_record(const fy_call *c)
{
    fy_before before;
    if (!meets_graph(c) || !fy_records(c)) return fy_compute(c);
    if (!fy_record_begin(c, &before)) return NULL;
    fy_tensor *out = fy_compute(c);
    fy_record(c, out, &before);
    return out;
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
