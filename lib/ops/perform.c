/* perform.c: runs one work, of a tensor or of a list of them, on the device's back end: its accesses for the race
 * detector, then the run, then its events, op and complete. The only caller of a back end's run. */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "completion.h"
#include "contents.h"
#include "device.h"
#include "dispatch.h"
#include "dtype.h"
#include "event.h"
#include "launch_record.h"
#include "op.h"
#include "out_of_memory.h"
#include "race_detector.h"
#include "run_work.h"
#include "storage.h"
#include "stream.h"
#include "tensor.h"
#include "tensor_access.h"
#include "transfer.h"
#include "vector_clock.h"

/* The accesses for the race detector: by the GPU's current stream or by the host, which also reads 0-dim CPU tensors
 * that are passed as numbers. */
static void note_accesses(const fy_call *c, const fy_dev *dev, const fy_run_work *w, fy_tensor *const *in,
                          const fy_tensor *out, fy_launch *launch)
{
    int agent = fy_agent_of(dev, w->stream);
    fy_launch_begin(launch, w->id);
    if (w->out.layout.numel == 0) return;
    for (int i = 0; i < w->nin; i++) {
        if (!w->in[i].data && c->in[i].is_tensor) fy_launch_tensor(launch, FY_HOST, c->in[i].tensor, false, 0, 0);
        else if (in[i]) fy_launch_tensor(launch, agent, in[i], false, (uint8_t)(1 << i), 0);
    }
    fy_launch_tensor(launch, agent, out, true, FY_RACE_OUT, 0);
}

/* Most ops run on the host, where one short record replaces op and complete. False if this op does not fit it. */
static bool emit_host_op(const fy_call *c, const fy_run_work *w, const fy_use *reads, size_t n, fy_use writes)
{
    if (n > 2 || w->kernel || w->blas || w->time.overhead < 0 || w->time.overhead > UINT32_MAX) return false;
    fy_host_op_record o = {.id = w->id,
                           .name = fy_ref_str(fy_ops[c->op].name),
                           .flops = w->flops,
                           .bytes = w->bytes,
                           .held = w->time.held,
                           .start = w->time.start,
                           .end = w->time.end,
                           .numbers = fy_op_numbers(c),
                           .overhead = (uint32_t)w->time.overhead,
                           .out = writes,
                           .nin = (uint8_t)n,
                           .dtype = (uint8_t)fy_dtype_word(w->out.dtype)};
    memcpy(o.in, reads, n * sizeof *reads);
    return fy_emit_host_op(c->at, &o);
}

typedef struct op_refs {
    fy_ref reads, writes, numbers;
} op_refs;

/* Emits the op's events and the races found; returns the op event's sequence number, 0 if there is no log. */
static uint64_t record(fy_site *at, const char *name, fy_dev *dev, const fy_run_work *w, op_refs refs,
                       fy_launch *launch)
{
    bool host = dev->number == 0;
    uint64_t seq =
        FY_EMIT(at, op, .id = w->id, .name = fy_ref_str(name), .device = (uint8_t)dev->number,
                .stream = host ? FY_ABSENT : w->stream, .in = refs.reads, .out = refs.writes, .numbers = refs.numbers,
                .dtype = (uint8_t)fy_dtype_word(w->out.dtype), .flops = w->flops, .bytes = w->bytes,
                .kernel = fy_ref_str(w->kernel), .grid = {w->grid[0], w->grid[1], w->grid[2]},
                .block = {w->block[0], w->block[1], w->block[2]}, .blas = fy_ref_str(w->blas), .held = w->time.held);
    fy_completion_add(at, &(fy_completion){.dev = dev,
                                           .stream = w->stream,
                                           .id = w->id,
                                           .engine = host ? FY_WORD_host : FY_WORD_compute,
                                           .time = w->time});
    fy_launch_done(launch, at, seq);
    return seq;
}

/* Runs what the launch says; false after an error. */
static bool run(fy_site *at, const char *name, fy_dev *dev, fy_run_work *w, fy_launch *launch)
{
    char what[60];
    if (w->out.layout.numel == 0) { /* an empty result: nothing runs */
        w->time.start = w->time.end = fy_clock_now();
        return true;
    }
    if (dev->backend->run(dev, w)) return true;
    fy_launch_failed(launch);
    snprintf(what, sizeof what, "run %s", name);
    return fy_fail_launch(at, dev, w->id, what);
}

static uint32_t version_of(const fy_tensor *x) { return fy_storage_version(x->storage); }

static fy_use use_of(const fy_tensor *x, uint32_t version) { return (fy_use){x->id, x->storage->id, version}; }

bool fy_perform(const fy_call *c, fy_dev *dev, fy_run_work *w, fy_tensor *const *in, fy_tensor *out)
{
    fy_launch launch;
    fy_use reads[FY_MAX_INPUTS]; /* the versions before the op writes */
    size_t n = 0;
    const char *name = fy_ops[c->op].name;
    for (int i = 0; i < w->nin; i++)
        if (in[i]) reads[n++] = use_of(in[i], version_of(in[i]));
    w->id = fy_work_id();
    w->stream = fy_stream_current(dev);
    w->races.own = w->races.n = 0;
    w->contents.tensor = 0;
    w->items = NULL;
    w->nitems = 0;
    if (fy_results_are_logged) w->contents = fy_contents_of(c->at, c->whole ? c->whole : out, version_of(out) + 1);
    note_accesses(c, dev, w, in, out, &launch);
    fy_launch_check(&launch, &w->races);
    if (!run(c->at, name, dev, w, &launch)) return false;

    fy_use writes = use_of(out, fy_storage_written(out->storage));
    uint64_t seq = 0;
    if (!fy_log_is_on()) fy_launch_done(&launch, c->at, 0);
    else if (dev->number > 0 || launch.n > 0 || !emit_host_op(c, w, reads, n, writes))
        seq = record(c->at, name, dev, w,
                     (op_refs){n ? fy_ref_bytes(reads, n * sizeof *reads) : 0, fy_ref_bytes(&writes, sizeof writes),
                               fy_op_numbers(c)},
                     &launch);
    w->contents.version = writes.version; /* other threads may have written other parts meanwhile */
    if (dev->number == 0 && w->contents.tensor) fy_result_emit(&w->contents, w->id);
    return dev->number == 0 || fy_launch_record_issued(c->at, dev, w->stream, w->id, seq);
}

/* ---- lists --------------------------------------------------------------------------------------------------------- */

/* What a launch of a list takes, too much for the stack of a thread. */
typedef struct list_room {
    fy_item item[FY_MOST_ITEMS];
    fy_races races[FY_MOST_ITEMS];
    fy_access access[FY_MOST_ITEMS * FY_MOST_ACCESSES];
    fy_use reads[FY_MOST_ITEMS * FY_ITEM_INPUTS], writes[FY_MOST_ITEMS];
    size_t nreads;
} list_room;

/* The version that item i's result will have: another item may be a part of the same storage. */
static uint32_t next_version(const fy_list *l, int i)
{
    uint32_t version = version_of(l->out[i]) + 1;
    for (int k = 0; k < i; k++) version += l->out[k]->storage == l->out[i]->storage;
    return version;
}

static void add_item(const fy_list *l, int i, const fy_run_work *w, list_room *r)
{
    fy_tensor *out = l->out[i];
    fy_item *item = &r->item[i];
    *item = (fy_item){.out = fy_first_element(out), .numel = 1};
    for (int d = 0; d < out->ndim; d++) item->numel *= out->shape[d];
    for (int k = 0; k < w->nin; k++) {
        if (!l->in[k]) continue;
        item->in[k] = fy_first_element(l->in[k][i]);
        r->reads[r->nreads++] = use_of(l->in[k][i], version_of(l->in[k][i]));
    }
    if (fy_results_are_logged) item->contents = fy_contents_of(l->at, out, next_version(l, i));
}

/* An empty tensor is not accessed. */
static void note_list(const fy_list *l, fy_dev *dev, const fy_run_work *w, list_room *r, fy_launch *launch)
{
    int agent = fy_agent_of(dev, w->stream);
    fy_launch_begin(launch, w->id);
    launch->access = r->access;
    for (int i = 0; i < l->n; i++) {
        for (int k = 0; k < w->nin; k++)
            if (l->in[k]) fy_launch_tensor(launch, agent, l->in[k][i], false, (uint8_t)(1 << k), i);
        fy_launch_tensor(launch, agent, l->out[i], true, FY_RACE_OUT, i);
    }
    fy_launch_check(launch, r->races);
    for (int i = 0; i < l->n; i++) r->item[i].races = r->races[i];
}

static bool perform_list(const fy_list *l, fy_dev *dev, fy_run_work *w, list_room *r)
{
    char name[40];
    fy_launch launch;
    snprintf(name, sizeof name, "foreach_%s", fy_ops[w->op].name);
    for (int i = 0; i < l->n; i++) {
        add_item(l, i, w, r);
        w->out.layout.numel += r->item[i].numel;
    }
    int64_t tensors = 1; /* read or written, of each item */
    for (int k = 0; k < w->nin; k++) tensors += l->in[k] != NULL;
    w->flops = fy_ops[w->op].flops * w->out.layout.numel;
    w->bytes = tensors * w->out.layout.numel * (int64_t)fy_dtype_size(w->dtype);
    w->id = fy_work_id();
    w->stream = fy_stream_current(dev);
    w->items = r->item;
    w->nitems = l->n;
    note_list(l, dev, w, r, &launch);
    if (!run(l->at, name, dev, w, &launch)) return false;

    uint64_t seq = 0;
    for (int i = 0; i < l->n; i++) r->writes[i] = use_of(l->out[i], fy_storage_written(l->out[i]->storage));
    if (!fy_log_is_on()) fy_launch_done(&launch, l->at, 0);
    else
        seq = record(l->at, name, dev, w,
                     (op_refs){fy_ref_bytes(r->reads, r->nreads * sizeof *r->reads),
                               fy_ref_bytes(r->writes, (size_t)l->n * sizeof *r->writes), fy_list_numbers(l)},
                     &launch);
    for (int i = 0; dev->number == 0 && i < l->n; i++) {
        r->item[i].contents.version = r->writes[i].version;
        if (r->item[i].contents.tensor) fy_result_emit(&r->item[i].contents, w->id);
    }
    return dev->number == 0 || fy_launch_record_issued(l->at, dev, w->stream, w->id, seq);
}

bool fy_perform_list(const fy_list *l)
{
    fy_dtype dtype = l->out[0]->dtype;
    fy_run_work w = {.op = l->op, .nin = fy_ops[l->op].nin, .dtype = dtype, .out.dtype = dtype};
    list_room *r = calloc(1, sizeof *r);
    if (!r) fy_out_of_memory("a launch of many tensors");
    for (int k = 0; k < w.nin; k++) w.in[k].dtype = dtype;
    memcpy(w.real, l->real, sizeof w.real);
    bool ok = perform_list(l, l->out[0]->storage->dev, &w, r);
    free(r);
    return ok;
}
