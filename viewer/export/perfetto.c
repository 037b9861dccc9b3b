/* perfetto.c: events in, the slices, flows, lifetimes and counters of a Chrome trace out (perfetto_write.c writes them).
 *
 *   process 1, "Host"       a row for each thread: what blocked it; another for its waits, which would overlap
 *   process 2, "Bus"        a row for each direction of each card
 *   process 10 + n, "GPU n" a row for each stream
 *
 * Names and arguments are those of Kineto, so that its tools find the copies and kernels; the arguments that begin with
 * "ferry" are Ferry's own. An event says what it did when its call returned, so that a call covers [t - held, t]; the
 * work of a copy or an op is a slice once its `complete` has told when it ran. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"
#include "perfetto_trace.h"

#define PUSH(p, list, ...) MEMORY_PUSH(&(p)->list, "a trace", __VA_ARGS__)

/* ---- texts: `"name":...,"cat":...,"args":{...}` of slices ---- */

static fy_bytes text_of(const fy_event *e, fy_ref ref, const char *otherwise)
{
    fy_bytes text = fy_event_bytes(e, ref);
    return ref ? text : (fy_bytes){otherwise, strlen(otherwise)};
}

static void begin_text(perfetto *p, const char *name, size_t size, const char *cat)
{
    fy_text_str(&p->text, "\"name\":");
    fy_text_json(&p->text, name, size);
    fy_text_printf(&p->text, ",\"cat\":\"%s\",\"args\":{", cat);
}

static void arg_text(perfetto *p, const char *key, fy_bytes value)
{
    fy_text_printf(&p->text, "\"%s\":", key);
    fy_text_json(&p->text, value.data, value.size);
    fy_text_str(&p->text, ",");
}

static void arg_int(perfetto *p, const char *key, int64_t value)
{
    if (value != FY_ABSENT) fy_text_printf(&p->text, "\"%s\":%" PRId64 ",", key, value);
}

/* The arguments that every slice has: the event, and its place in the program. */
static piece end_text(perfetto *p, const fy_event *e, size_t from)
{
    if (e->line) {
        arg_text(p, "ferry file", text_of(e, e->file, ""));
        arg_int(p, "ferry line", e->line);
    }
    fy_text_printf(&p->text, "\"ferry event\":%" PRIu64 "}", e->seq);
    return (piece){from, p->text.size - from};
}

static int64_t known(int64_t n) { return n == FY_ABSENT || n < 0 ? 0 : n; }

/* ---- rows ---- */

static void name_row(perfetto *p, int pid, int tid, const char *kind, int number)
{
    int *at = id_map_at(&p->row_ids, (uint64_t)pid << 32 | (uint32_t)tid);
    if (*at >= 0) return;
    row r = {.pid = pid, .tid = tid, .last_work = -1, .pending = -1, .last_slice = -1};
    snprintf(r.name, sizeof r.name, kind, number);
    *at = PUSH(p, rows, r);
}

static row *row_of(perfetto *p, int pid, int tid)
{
    return &p->rows.all[*id_map_at(&p->row_ids, (uint64_t)pid << 32 | (uint32_t)tid)];
}

static int thread_row(perfetto *p, int th)
{
    name_row(p, HOST, th + 1, "thread %d", th);
    return th + 1;
}

static int wait_row(perfetto *p, int th)
{
    name_row(p, HOST, WAITS + th, "thread %d (waits)", th);
    return WAITS + th;
}

static int stream_row(perfetto *p, int card, int64_t stream)
{
    int tid = (int)(known(stream) < WAITS ? known(stream) : WAITS - 1) + 1;
    name_row(p, GPUS + card, tid, "stream %d", tid - 1);
    return tid;
}

static int bus_row(perfetto *p, int card, fy_word engine)
{
    bool up = engine == FY_WORD_h2d, down = engine == FY_WORD_d2h;
    int tid = 3 * card + (up ? 1 : down ? 2 : 3);
    name_row(p, BUS, tid, up ? "to cuda:%d" : down ? "from cuda:%d" : "cuda:%d to another card", card);
    return tid;
}

/* ---- slices and flows ---- */

static int add_slice(perfetto *p, const fy_event *e, int pid, int tid, int64_t from, int64_t until, piece text)
{
    if (from < 0) from = 0;
    if (until < from) until = from;
    row_of(p, pid, tid)->last_slice = p->slices.count;
    row_of(p, pid, tid)->last_seq = e->seq;
    return PUSH(p, slices,
                (slice){.from = from,
                        .until = until,
                        .seq = e->seq,
                        .pid = pid,
                        .tid = tid,
                        .text = text,
                        .number = p->slices.count});
}

/* A call that blocked its thread. */
static int add_call(perfetto *p, const fy_event *e, int64_t held, const char *name, const char *cat,
                    uint32_t correlation)
{
    size_t at = p->text.size;
    if (known(held) <= 0) return -1;
    begin_text(p, name, strlen(name), cat);
    if (correlation) arg_int(p, "correlation", correlation);
    return add_slice(p, e, HOST, thread_row(p, e->th), e->t - held, e->t, end_text(p, e, at));
}

static void add_flow(perfetto *p, const char *cat, int from_slice, int from_work, int to_slice, int to_work)
{
    PUSH(p, flows,
         (flow){.cat = cat,
                .from_slice = from_slice,
                .from_work = from_work,
                .to_slice = to_slice,
                .to_work = to_work,
                .next = -1});
}

/* The next work of its stream begins behind what it waits for. */
static void release_pending(perfetto *p, row *r, int number)
{
    for (int i = r->pending; i >= 0; i = p->flows.all[i].next) p->flows.all[i].to_work = number;
    r->pending = -1;
}

static void issue(perfetto *p, const fy_event *e, uint32_t id, int card, int64_t stream, int call, piece text)
{
    int tid = stream_row(p, card, stream);
    int number = PUSH(p, works, (work){.pid = GPUS + card, .tid = tid, .text = text, .slice = -1});
    if (id) *id_map_at(&p->work_ids, id) = number;
    row *r = row_of(p, GPUS + card, tid);
    release_pending(p, r, number);
    r->last_work = number;
    r->last_seq = e->seq;
    if (call >= 0) add_flow(p, "ac2g", call, -1, -1, number);
}

/* ---- copies and operations ---- */

static const char *mem_name(uint8_t mem)
{
    return mem == FY_WORD_pinned     ? "Pinned"
           : mem == FY_WORD_device   ? "Device"
           : mem == FY_WORD_pageable ? "Pageable"
                                     : "Unknown";
}

static const char *direction(uint8_t dir)
{
    return dir == FY_WORD_h2d   ? "HtoD"
           : dir == FY_WORD_d2h ? "DtoH"
           : dir == FY_WORD_d2d ? "DtoD"
           : dir == FY_WORD_p2p ? "PtoP"
                                : "HtoH";
}

static void arg_name(perfetto *p, uint32_t id)
{
    int at = id_map_find(&p->name_ids, id);
    if (at >= 0)
        arg_text(p, "ferry tensor", (fy_bytes){p->names.data + p->name_at.all[at].at, p->name_at.all[at].size});
}

static void add_copy(perfetto *p, const fy_event *e)
{
    const fy_ev_copy *c = &e->is.copy;
    fy_side src = c->src, dst = c->dst;
    bool at_home = !src.device && !dst.device;
    int card = (src.device && src.device != FY_NO_DEVICE ? src.device : dst.device) - 1;
    char name[64];
    int call = add_call(p, e, c->held,
                        c->was_async ? "cudaMemcpyAsync"
                        : at_home    ? "memcpy"
                                     : "cudaMemcpy",
                        at_home ? "cpu_op" : "cuda_runtime", c->id);
    if (at_home || card < 0 || card >= FY_NO_DEVICE - 1) return;
    size_t at = p->text.size;
    int n =
        snprintf(name, sizeof name, "Memcpy %s (%s -> %s)", direction(c->dir), mem_name(src.mem), mem_name(dst.mem));
    begin_text(p, name, (size_t)n, "gpu_memcpy");
    arg_int(p, "device", card);
    arg_int(p, "stream", known(c->stream));
    arg_int(p, "correlation", c->id);
    arg_int(p, "bytes", c->bytes);
    arg_name(p, src.tensor);
    fy_text_printf(&p->text, "\"ferry from\":\"0x%" PRIx64 "\",\"ferry to\":\"0x%" PRIx64 "\",", src.addr, dst.addr);
    issue(p, e, c->id, card, c->stream, call, end_text(p, e, at));
    work *w = &p->works.all[p->works.count - 1];
    w->bytes = known(c->bytes);
}

static void add_op(perfetto *p, const fy_event *e)
{
    const fy_ev_op *o = &e->is.op;
    fy_bytes name = text_of(e, o->name, "operation"), kernel = text_of(e, o->kernel, "");
    if (!o->device || o->device == FY_NO_DEVICE) {
        size_t at = p->text.size;
        begin_text(p, name.data, name.size, "cpu_op");
        piece text = end_text(p, e, at);
        if (known(o->held) > 0) add_slice(p, e, HOST, thread_row(p, e->th), e->t - o->held, e->t, text);
        return;
    }
    int call = add_call(p, e, o->held, "cudaLaunchKernel", "cuda_runtime", o->id);
    size_t at = p->text.size;
    begin_text(p, kernel.size ? kernel.data : name.data, kernel.size ? kernel.size : name.size, "kernel");
    arg_text(p, "ferry op", name);
    arg_int(p, "device", o->device - 1);
    arg_int(p, "stream", known(o->stream));
    arg_int(p, "correlation", o->id);
    if (o->grid[0]) {
        fy_text_printf(&p->text, "\"grid\":[%u,%u,%u],", o->grid[0], o->grid[1], o->grid[2]);
        fy_text_printf(&p->text, "\"block\":[%u,%u,%u],", o->block[0], o->block[1], o->block[2]);
    }
    arg_int(p, "ferry flops", o->flops);
    issue(p, e, o->id, o->device - 1, o->stream, call, end_text(p, e, at));
}

static void add_complete(perfetto *p, const fy_event *e)
{
    const fy_ev_complete *c = &e->is.complete;
    int at = id_map_find(&p->work_ids, c->id);
    if (at < 0 || p->works.all[at].slice >= 0) return;
    work *w = &p->works.all[at];
    w->slice = add_slice(p, e, w->pid, w->tid, c->start, c->end, w->text);
    int64_t wire = known(c->wire), from = c->end - (wire && wire < c->end - c->start ? wire : c->end - c->start);
    bool on_bus = c->engine == FY_WORD_h2d || c->engine == FY_WORD_d2h || c->engine == FY_WORD_p2p;
    if (!on_bus) return;
    size_t text = p->text.size;
    char rate[48] = "";
    if (c->end > from)
        snprintf(rate, sizeof rate, ",\"memory bandwidth (GB/s)\":%.3f", (double)w->bytes / (double)(c->end - from));
    fy_text_printf(&p->text, "\"name\":\"%" PRId64 " bytes\",\"cat\":\"bus\",\"args\":{\"ferry event\":%" PRIu64 "%s}",
                   w->bytes, e->seq, rate);
    add_slice(p, e, BUS, bus_row(p, w->pid - GPUS, (fy_word)c->engine), from, c->end,
              (piece){text, p->text.size - text});
}

/* ---- waits ---- */

static const char *scope_name(uint8_t scope)
{
    return scope == FY_WORD_device ? "Context Sync" : scope == FY_WORD_event ? "Event Sync" : "Stream Sync";
}

static int record_of(const perfetto *p, uint32_t event)
{
    int at = id_map_find(&p->event_ids, event);
    return at >= 0 ? at : -1; /* the last work before the record */
}

static void add_sync(perfetto *p, const fy_event *e)
{
    const fy_ev_sync *s = &e->is.sync;
    int tid = wait_row(p, e->th), thread = thread_row(p, e->th);
    int64_t until = e->t;
    const row *r = row_of(p, HOST, thread);
    /* The wait at the beginning of a copy that blocks is told after the copy. */
    if (s->cause && r->last_slice >= 0 && r->last_seq + 1 == s->cause && p->slices.all[r->last_slice].until == e->t)
        until = p->slices.all[r->last_slice].from;
    if (known(s->held) <= 0) return;
    size_t at = p->text.size;
    begin_text(p, scope_name(s->scope), strlen(scope_name(s->scope)), "cuda_sync");
    if (s->scope == FY_WORD_stream) arg_int(p, "stream", known(s->stream));
    int wait = add_slice(p, e, HOST, tid, until - s->held, until, end_text(p, e, at));
    int from = s->scope == FY_WORD_event ? record_of(p, s->event) : -1;
    if (from >= 0) add_flow(p, "event", -1, from, wait, -1);
}

static bool is_card(uint8_t device) { return device && device != FY_NO_DEVICE; }

static void add_record(perfetto *p, const fy_event *e)
{
    const fy_ev_event_record *r = &e->is.event_record;
    if (!is_card(r->device) || !r->event) return;
    int tid = stream_row(p, r->device - 1, r->stream);
    *id_map_at(&p->event_ids, r->event) = row_of(p, GPUS + r->device - 1, tid)->last_work;
}

static void add_wait(perfetto *p, const fy_event *e)
{
    const fy_ev_event_wait *w = &e->is.event_wait;
    int from = record_of(p, w->event);
    if (!is_card(w->device) || from < 0) return;
    int tid = stream_row(p, w->device - 1, w->stream);
    row *r = row_of(p, GPUS + w->device - 1, tid);
    add_flow(p, "event", -1, from, -1, -1);
    p->flows.all[p->flows.count - 1].next = r->pending;
    r->pending = p->flows.count - 1;
}

/* ---- memory ---- */

static memory *memory_of(perfetto *p, uint8_t device) { return &p->memories[device == FY_NO_DEVICE ? 0 : device]; }

static void note_memory(perfetto *p, const fy_event *e, uint8_t device)
{
    memory *m = memory_of(p, device);
    int number = (int)(m - p->memories);
    if (m->point >= 0 && p->points.all[m->point].t == e->t) {
        p->points.all[m->point].live = m->live;
        p->points.all[m->point].reserved = m->reserved;
    } else {
        m->point = PUSH(p, points, (point){.t = e->t, .device = number, .live = m->live, .reserved = m->reserved});
    }
}

static void add_alloc(perfetto *p, const fy_event *e)
{
    const fy_ev_alloc *a = &e->is.alloc;
    if (!a->storage) return;
    int number = PUSH(p, lives,
                      (life){.storage = a->storage,
                             .device = a->device == FY_NO_DEVICE ? 0 : a->device,
                             .addr = a->addr,
                             .bytes = known(a->bytes),
                             .from = e->t,
                             .until = -1,
                             .name = -1});
    *id_map_at(&p->storage_ids, a->storage) = number;
    memory_of(p, a->device)->live += known(a->bytes);
    note_memory(p, e, a->device);
}

static void add_free(perfetto *p, const fy_event *e)
{
    int at = id_map_find(&p->storage_ids, e->is.free.storage);
    if (at < 0 || p->lives.all[at].until >= 0) return;
    life *l = &p->lives.all[at];
    l->until = e->t;
    memory_of(p, (uint8_t)l->device)->live -= l->bytes;
    note_memory(p, e, (uint8_t)l->device);
}

static void add_segment(perfetto *p, const fy_event *e, uint8_t device, int64_t bytes, int64_t held, const char *call)
{
    memory_of(p, device)->reserved += bytes;
    note_memory(p, e, device);
    add_call(p, e, held, call, "cuda_runtime", 0);
}

static void add_name(perfetto *p, const fy_event *e, uint32_t id, uint32_t bytes_of, fy_ref ref)
{
    fy_bytes name = fy_event_bytes(e, ref);
    if (!ref || !id) return;
    size_t at = p->names.size;
    fy_text_add(&p->names, name.data, name.size);
    int number = PUSH(p, name_at, (piece){at, name.size});
    *id_map_at(&p->name_ids, id) = number;
    int life_at = bytes_of ? id_map_find(&p->storage_ids, bytes_of) : -1;
    if (life_at >= 0 && p->lives.all[life_at].name < 0) p->lives.all[life_at].name = number;
}

/* ---- moments ---- */

static void add_moment(perfetto *p, const fy_event *e, const char *cat, const char *before, fy_bytes words)
{
    fy_text name = {0};
    size_t at = p->text.size;
    fy_text_str(&name, before);
    fy_text_add(&name, words.data, words.size);
    begin_text(p, name.data, name.size, cat);
    if (name.lost) memory_fail("a trace");
    free(name.data);
    PUSH(p, moments, (moment){.t = e->t, .tid = thread_row(p, e->th), .text = end_text(p, e, at)});
}

static void add_moments(perfetto *p, const fy_event *e)
{
    if (e->kind == FY_KIND_mark && e->is.mark.text)
        add_moment(p, e, "user_annotation", "", fy_event_bytes(e, e->is.mark.text));
    if (e->kind == FY_KIND_error) add_moment(p, e, "error", "error: ", fy_event_bytes(e, e->is.error.message));
    if (e->kind == FY_KIND_data_race) add_moment(p, e, "error", "data race", (fy_bytes){"", 0});
    if (e->kind == FY_KIND_oom) add_moment(p, e, "error", "out of memory", (fy_bytes){"", 0});
}

/* ---- all ---- */

static void add_session(perfetto *p, const fy_event *e)
{
    fy_bytes devices = fy_event_bytes(e, e->is.session.devices), program = fy_event_bytes(e, e->is.session.program);
    p->measured = e->is.session.clock == FY_WORD_measured;
    fy_text_add(&p->devices, devices.data, devices.size);
    fy_text_add(&p->program, program.data, program.size);
}

void perfetto_add(void *to, const fy_event *e)
{
    perfetto *p = to;
    if (e->t > p->end) p->end = e->t;
    switch ((fy_kind)e->kind) {
    case FY_KIND_session: add_session(p, e); break;
    case FY_KIND_copy: add_copy(p, e); break;
    case FY_KIND_op: add_op(p, e); break;
    case FY_KIND_complete: add_complete(p, e); break;
    case FY_KIND_sync: add_sync(p, e); break;
    case FY_KIND_event_record: add_record(p, e); break;
    case FY_KIND_event_wait: add_wait(p, e); break;
    case FY_KIND_alloc: add_alloc(p, e); break;
    case FY_KIND_free: add_free(p, e); break;
    case FY_KIND_segment: {
        const fy_ev_segment *s = &e->is.segment;
        add_segment(p, e, s->device, known(s->bytes), s->held,
                    s->mem == FY_WORD_pinned ? "cudaHostAlloc" : "cudaMalloc");
        break;
    }
    case FY_KIND_segment_free:
        add_segment(p, e, e->is.segment_free.device, -known(e->is.segment_free.bytes), e->is.segment_free.held,
                    "cudaFree");
        break;
    case FY_KIND_tensor: add_name(p, e, e->is.tensor.tensor, e->is.tensor.storage, e->is.tensor.name); break;
    case FY_KIND_name: add_name(p, e, e->is.name.tensor, 0, e->is.name.name); break;
    default: add_moments(p, e);
    }
    if (p->text.lost || p->names.lost || p->devices.lost || p->program.lost) memory_fail("a trace");
}

perfetto *perfetto_begin(void)
{
    perfetto *p = memory_zeroed(1, sizeof *p, "a trace");
    for (int i = 0; i < MEMORIES; i++) p->memories[i].point = -1;
    return p;
}

void perfetto_free(perfetto *p)
{
    if (!p) return;
    id_map *const maps[] = {&p->row_ids, &p->work_ids, &p->event_ids, &p->storage_ids, &p->name_ids};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) id_map_free(maps[i]);
    free(p->rows.all), free(p->slices.all), free(p->works.all), free(p->flows.all), free(p->lives.all);
    free(p->points.all), free(p->moments.all), free(p->name_at.all);
    free(p->text.data), free(p->names.data), free(p->devices.data), free(p->program.data);
    free(p);
}
