/* findings_history.c: builds a history from events, in time and memory linear in the log. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_scan.h"
#include "memory.h"

/* ---- events ---- */

act *history_act(history *h, const fy_event *e)
{
    act *a = HISTORY_ADD(h, act);
    if (!a) return NULL;
    *a = (act){.seq = (int64_t)e->seq, .kind = e->kind, .site = history_site(h, e), .thread = e->th, .t = e->t};
    a->device = a->stream = a->name = a->node = -1;
    a->src = a->dst = (side){-1, -1, -1, -1};
    return a;
}

static int storage_index(const history *h, uint32_t id) { return id_map_find(&h->storage_ids, id); }
static int tensor_index(const history *h, uint32_t id) { return id_map_find(&h->tensor_ids, id); }

/* Modelled addresses stay below 2^48. */
static void note_addresses(act *a, uint64_t from)
{
    if (from >= 1ull << 50) return;
    a->start = (int64_t)from;
    a->end = a->start + a->bytes;
}

static void touch(history *h, int i, bool reads)
{
    if (i < 0) return;
    storage *s = &h->storages[i];
    int now = h->act_count - 1;
    if (s->last_touch != now) s->touches++;
    if (s->first_touch < 0) s->first_touch = now;
    s->last_touch = now;
    if (reads) s->last_read = now;
}

static int64_t figure(json of, const char *name)
{
    json figure = json_member(of, name);
    double n = json_is_number(figure) ? json_number(figure) : 0;
    return n > 0 && n < (double)MOST_AMOUNT ? (int64_t)n : 0;
}

/* nth: in the session's list, the number of a device whose name Ferry does not have. */
static void add_device(history *h, json d, int nth)
{
    json name = json_member(d, "name"), model = json_member(d, "model");
    char text[16] = "";
    if (json_type(name) == '"')
        snprintf(text, sizeof text, "%.*s", name.size < 17 ? (int)name.size - 2 : 15, name.at + 1);
    int n = device_named(text);
    if (n < 0 && *text && nth > 0 && nth <= MOST_CARDS) memcpy(h->device[n = nth].name, text, sizeof text);
    if (n < 0) return;
    h->device[n].capacity = figure(d, "capacity");
    h->device[n].call_overhead = figure(model, "call_overhead");
    h->device[n].launch_overhead = figure(model, "launch_overhead");
    h->device[n].model = (figures){.flops = (double)figure(model, "flops_f32"),
                                   .bandwidth = (double)figure(model, "memory_bandwidth"),
                                   .overhead = figure(model, "call_overhead"),
                                   .latency = figure(model, "kernel_latency")};
    if (n == 0) h->host = h->device[0].model;
}

/* In the order of KNOWS_READS and the others. */
static const char *const things[] = {"reads", "frees", "addresses", "sources", "calls"};
enum { THINGS = sizeof things / sizeof *things };

/* A log that does not say tells of all. */
static unsigned lacking(const fy_event *e)
{
    fy_bytes text = fy_event_bytes(e, e->is.session.knows);
    json list = json_of(text.data, text.size), word;
    unsigned lacks = e->is.session.knows ? (1u << THINGS) - 1 : 0;
    while (lacks && json_next(&list, NULL, &word))
        for (unsigned i = 0; i < THINGS; i++)
            if (json_is(word, things[i])) lacks &= ~(1u << i);
    return lacks;
}

static void add_session(history *h, const fy_event *e)
{
    fy_bytes text = fy_event_bytes(e, e->is.session.devices);
    json list = json_of(text.data, text.size), device;
    for (int nth = 0; json_next(&list, NULL, &device); nth++) add_device(h, device, nth);
    h->measured = e->is.session.clock == FY_WORD_measured;
    h->lacks = lacking(e);
}

static void add_source(history *h, const fy_event *e)
{
    int file = name_index(h, fy_event_bytes(e, e->is.source.path));
    fy_bytes text = fy_event_bytes(e, e->is.source.text);
    if (file < 0 || !text.size) return;
    while (h->source_room <= file)
        if (!history_grow(h, &h->sources, &h->source_room, h->source_room, sizeof *h->sources)) return;
    if (!h->sources[file]) h->sources[file] = utf8_copy(text);
}

static void add_alloc(history *h, const fy_event *e)
{
    const fy_ev_alloc *is = &e->is.alloc;
    int *at = is->storage ? id_map_at(&h->storage_ids, is->storage) : NULL;
    act *a = at ? history_act(h, e) : NULL;
    storage *s = a ? HISTORY_ADD(h, storage) : NULL;
    if (!s) return;
    a->device = device_index(is->device);
    a->stream = stream_index(is->stream);
    a->bytes = amount(is->bytes);
    a->dst.storage = *at = h->storage_count - 1;
    *s = (storage){.site = a->site, .born = h->act_count - 1, .freed = -1, .device = a->device};
    s->first_touch = s->last_touch = s->last_read = s->last_out = -1;
    s->mem = is->mem;
    s->before = is->before;
    s->opened = s->mem == FY_WORD_foreign ? s->born : -1;
    s->asked = amount(is->asked);
    s->bytes = a->bytes;
    note_addresses(a, is->addr);
    if (s->device < 0) return;
    card_seen *card = &h->device[s->device];
    card->live += s->bytes;
    if (card->live > card->peak) card->peak = card->live;
}

static void add_free(history *h, const fy_event *e)
{
    act *a = history_act(h, e);
    if (!a) return;
    a->bytes = amount(e->is.free.bytes);
    a->dst.storage = storage_index(h, e->is.free.storage);
    if (a->dst.storage < 0) return;
    storage *s = &h->storages[a->dst.storage];
    if (s->freed >= 0) return;
    s->freed = h->act_count - 1;
    if (s->device >= 0) h->device[s->device].live -= s->bytes;
}

int64_t dtype_size(uint8_t dtype)
{
    switch (dtype) {
    case FY_WORD_float64:
    case FY_WORD_int64: return 8;
    case FY_WORD_float32:
    case FY_WORD_int32: return 4;
    case FY_WORD_float16:
    case FY_WORD_bfloat16: return 2;
    case FY_WORD_uint8:
    case FY_WORD_bool: return 1;
    default: return 0;
    }
}

/* Hashes a shape or strides; product: of the elements, 0 if it is out of range. */
static uint64_t hash_list(uint64_t z, const fy_event *e, fy_ref list, int64_t *product)
{
    int64_t dim;
    for (size_t i = 0; fy_event_dim(e, list, i, &dim); i++) {
        int64_t n = dim >= 0 && dim < 1000000000000 ? dim : 0;
        z = id_map_mix(z ^ (uint64_t)n) + 1;
        *product = n && *product > ((int64_t)1 << 50) / n ? 0 : *product * n;
    }
    return z;
}

static void add_tensor(history *h, const fy_event *e)
{
    const fy_ev_tensor *is = &e->is.tensor;
    int64_t numel = 1, ignored = 1;
    int *at = is->tensor ? id_map_at(&h->tensor_ids, is->tensor) : NULL;
    act *a = at ? history_act(h, e) : NULL;
    tensor *x = a ? HISTORY_ADD(h, tensor) : NULL;
    if (!x) return;
    a->device = device_index(is->device);
    a->dst.storage = storage_index(h, is->storage);
    a->dst.tensor = *at = h->tensor_count - 1;
    *x = (tensor){.storage = a->dst.storage, .site = a->site, .dtype = (uint8_t)fy_event_dtype(e, is->dtype)};
    x->made = h->act_count - 1;
    x->saver = x->dropped = -1;
    x->view_of = tensor_index(h, is->view_of);
    x->name = name_index(h, fy_event_bytes(e, is->name));
    x->offset = amount(is->offset);
    uint64_t layout = hash_list((uint64_t)x->offset, e, is->shape, &numel);
    x->layout = hash_list(layout, e, is->strides, &ignored);
    x->bytes = numel * dtype_size(x->dtype);
}

static side side_of(const history *h, fy_side s)
{
    return (side){storage_index(h, s.storage), tensor_index(h, s.tensor), device_index(s.device), s.version};
}

static void note_work(history *h, uint32_t id)
{
    if (id) *id_map_at(&h->work_ids, id) = h->act_count - 1;
}

static void add_copy(history *h, const fy_event *e)
{
    const fy_ev_copy *is = &e->is.copy;
    act *a = history_act(h, e);
    if (!a) return;
    a->src = side_of(h, is->src);
    a->dst = side_of(h, is->dst);
    a->dir = is->dir;
    a->route = is->route;
    a->cast = is->cast;
    a->why = is->why;
    a->async = is->async;
    a->was_async = is->was_async;
    a->stream = stream_index(is->stream);
    a->bytes = amount(is->bytes);
    a->held = amount(is->held);
    a->device = a->dir == FY_WORD_h2d || a->dir == FY_WORD_p2p ? a->dst.device : a->src.device;
    if (is->dst_stream >= 0) a->stream = stream_index(is->dst_stream); /* of that card */
    touch(h, a->src.storage, true);
    touch(h, a->dst.storage, false);
    if (a->src.storage >= 0 && a->src.device != a->dst.device) h->storages[a->src.storage].last_out = h->act_count - 1;
    note_work(h, is->id);
}

static int add_uses(history *h, const fy_event *e, fy_ref list, bool reads)
{
    int n = 0;
    for (fy_use u; n < ACT_STORAGES && fy_event_use(e, list, (size_t)n, &u); n++) {
        use *to = HISTORY_ADD(h, use);
        if (!to) return n;
        *to = (use){tensor_index(h, u.tensor), storage_index(h, u.storage)};
        touch(h, to->storage, reads);
    }
    return n;
}

static void add_op(history *h, const fy_event *e)
{
    const fy_ev_op *is = &e->is.op;
    act *a = history_act(h, e);
    if (!a) return;
    a->device = device_index(is->device);
    a->stream = stream_index(is->stream);
    a->type = is->dtype;
    a->flops = amount(is->flops);
    a->bytes = amount(is->bytes);
    a->held = amount(is->held);
    a->name = name_index(h, fy_event_bytes(e, is->name));
    a->first_use = h->use_count;
    a->nin = add_uses(h, e, is->in, true);
    a->nout = add_uses(h, e, is->out, false);
    note_work(h, is->id);
}

static void add_complete(history *h, const fy_event *e)
{
    const fy_ev_complete *is = &e->is.complete;
    int i = id_map_find(&h->work_ids, is->id);
    if (i < 0 || is->start < 0 || is->end < is->start || is->end > MOST_AMOUNT) return;
    act *a = &h->acts[i];
    a->completed = true;
    a->start = is->start;
    a->end = is->end;
    a->wire = amount(is->wire);
    a->wire_up = amount(is->wire_up);
    a->staging = amount(is->staging);
    a->overhead = amount(is->overhead);
    if (a->end > h->last_end) h->last_end = a->end;
}

/* The program read or wrote a tensor on the host. */
static act *add_access(history *h, const fy_event *e, uint32_t tensor_id, uint32_t storage_id)
{
    act *a = history_act(h, e);
    if (!a) return NULL;
    a->dst.tensor = tensor_index(h, tensor_id);
    a->dst.storage = storage_index(h, storage_id);
    if (a->dst.storage >= 0 && e->kind != FY_KIND_given) touch(h, a->dst.storage, e->kind != FY_KIND_host_write);
    return a;
}

static void add_host_access(history *h, const fy_event *e, uint32_t tensor_id, uint32_t storage_id, int64_t version,
                            uint8_t via)
{
    act *a = add_access(h, e, tensor_id, storage_id);
    if (!a) return;
    a->dst.version = whole(version);
    if (a->dst.storage < 0) return;
    a->type = via;
    int *opened = &h->storages[a->dst.storage].opened;
    if (a->type == FY_WORD_data && *opened < 0) *opened = h->act_count - 1;
}

/* A lesson's input or answer. */
static void add_lesson_access(history *h, const fy_event *e, uint32_t tensor_id, uint32_t storage_id, uint8_t device)
{
    act *a = add_access(h, e, tensor_id, storage_id);
    if (!a) return;
    a->device = device_index(device);
    if (a->dst.storage >= 0) h->storages[a->dst.storage].answered = true;
}

static void add_error(history *h, const fy_event *e)
{
    const fy_ev_error *is = &e->is.error;
    act *a = history_act(h, e);
    if (!a) return;
    a->src.version = (int64_t)is->caused_by - 1;
    a->name = name_index(h, fy_event_bytes(e, is->code));
    a->message = name_index(h, fy_event_bytes(e, is->message));
    a->hint = name_index(h, fy_event_bytes(e, is->hint));
    a->call = name_index(h, fy_event_bytes(e, is->written));
    a->first_use = h->use_count;
    uint32_t id;
    for (size_t n = 0; n < 8 && fy_event_id(e, is->operands, n, &id); n++) {
        use *to = HISTORY_ADD(h, use);
        if (!to) break;
        int x = tensor_index(h, id);
        *to = (use){x, x >= 0 ? h->tensors[x].storage : -1};
        a->nin++;
    }

    int *to = &a->src.device; /* the first two devices that the message names: src, then dst */
    for (const char *p = a->message >= 0 ? h->names[a->message] : ""; *p && to; p++) {
        int device = device_named(p);
        if (device < 0) continue;
        *to = device;
        to = to == &a->src.device ? &a->dst.device : NULL;
    }
}

static void add_mark(history *h, const fy_event *e)
{
    act *a = history_act(h, e);
    if (!a) return;
    a->start = whole(e->is.mark.now);
    a->name = name_index(h, fy_event_bytes(e, e->is.mark.text));
    a->type = e->is.mark.text ? FY_WORD_none : FY_WORD_at;
}

static void add_drop(history *h, const fy_event *e)
{
    act *a = history_act(h, e);
    if (!a) return;
    a->dst.tensor = tensor_index(h, e->is.drop.tensor);
    a->why = e->is.drop.why;
    if (a->dst.tensor >= 0) h->tensors[a->dst.tensor].dropped = h->act_count - 1;
}

static void add_data_race(history *h, const fy_event *e)
{
    const fy_ev_data_race *is = &e->is.data_race;
    act *a = history_act(h, e);
    if (!a) return;
    a->type = is->type;
    a->bytes = amount(is->bytes);
    a->dst.storage = storage_index(h, is->storage);
    a->src.version = (int64_t)is->a - 1;
    a->name = name_index(h, fy_event_bytes(e, is->fix));
}

static void add_oom(history *h, const fy_event *e)
{
    const fy_ev_oom *is = &e->is.oom;
    act *a = history_act(h, e);
    if (!a) return;
    a->device = device_index(is->device);
    a->bytes = amount(is->asked);
    a->free = amount(is->free);
    a->largest = amount(is->largest);
    a->in_use = amount(is->allocated);
    a->reserved = amount(is->reserved);
}

/* A call that concerns a card, or one of its streams. */
static act *add_call(history *h, const fy_event *e, uint8_t device, int64_t stream)
{
    act *a = history_act(h, e);
    if (!a) return NULL;
    a->device = device_index(device);
    a->stream = stream_index(stream);
    return a;
}

static void add_sync(history *h, const fy_event *e)
{
    act *a = add_call(h, e, e->is.sync.device, e->is.sync.stream);
    if (!a) return;
    a->type = e->is.sync.scope;
    a->why = e->is.sync.why;
    a->held = amount(e->is.sync.held);
}

static void add_query(history *h, const fy_event *e)
{
    act *a = add_call(h, e, e->is.query.device, e->is.query.stream);
    if (a) a->type = e->is.query.scope;
}

static void add_segment(history *h, const fy_event *e)
{
    const fy_ev_segment *is = &e->is.segment;
    act *a = add_call(h, e, is->device, is->stream);
    if (!a) return;
    a->type = is->mem;
    a->bytes = amount(is->bytes);
    a->held = amount(is->held);
    note_addresses(a, is->addr);
}

static void add_segment_free(history *h, const fy_event *e)
{
    const fy_ev_segment_free *is = &e->is.segment_free;
    act *a = add_call(h, e, is->device, FY_ABSENT);
    if (!a) return;
    a->why = is->why;
    a->bytes = amount(is->bytes);
    a->held = amount(is->held);
    note_addresses(a, is->addr);
}

static void add_end(history *h, const fy_event *e)
{
    uint32_t id;
    h->ended = true;
    h->status = whole(e->is.end.status);
    for (size_t n = 0; fy_event_id(e, e->is.end.live, n, &id); n++) {
        int i = storage_index(h, id);
        if (i >= 0) h->storages[i].live = true;
    }
}

static void add_batch(history *h, const fy_event *e)
{
    int site = history_site(h, e);
    if (site >= 0) h->sites[site].loads = true;
}

void history_add(history *h, const fy_event *e)
{
    h->events++;
    if (h->too_long || h->act_count >= 1 << 28) return;
    switch (e->kind) {
    case FY_KIND_session: add_session(h, e); break;
    case FY_KIND_source: add_source(h, e); break;
    case FY_KIND_alloc: add_alloc(h, e); break;
    case FY_KIND_free: add_free(h, e); break;
    case FY_KIND_tensor: add_tensor(h, e); break;
    case FY_KIND_copy: add_copy(h, e); break;
    case FY_KIND_op: add_op(h, e); break;
    case FY_KIND_complete: add_complete(h, e); break;
#define ACCESS(is) add_host_access(h, e, is.tensor, is.storage, is.version, is.via)
    case FY_KIND_host_read: ACCESS(e->is.host_read); break;
    case FY_KIND_host_write: ACCESS(e->is.host_write); break;
#undef ACCESS
#define ACCESS(is) add_lesson_access(h, e, is.tensor, is.storage, is.device)
    case FY_KIND_given: ACCESS(e->is.given); break;
    case FY_KIND_answer: ACCESS(e->is.answer); break;
#undef ACCESS
    case FY_KIND_drop: add_drop(h, e); break;
    case FY_KIND_sync: add_sync(h, e); break;
    case FY_KIND_data_race: add_data_race(h, e); break;
    case FY_KIND_oom: add_oom(h, e); break;
    case FY_KIND_set_device: add_call(h, e, e->is.set_device.device, FY_ABSENT); break;
    case FY_KIND_event_wait: add_call(h, e, e->is.event_wait.device, e->is.event_wait.stream); break;
    case FY_KIND_query: add_query(h, e); break;
    case FY_KIND_segment: add_segment(h, e); break;
    case FY_KIND_segment_free: add_segment_free(h, e); break;
    case FY_KIND_error: add_error(h, e); break;
    case FY_KIND_mark: add_mark(h, e); break;
    case FY_KIND_batch: add_batch(h, e); break;
    case FY_KIND_graph: history_add_graph(h, e); break;
    case FY_KIND_backward: history_add_backward(h, e); break;
    case FY_KIND_scalar: history_act(h, e); break;
    case FY_KIND_grad: history_add_grad(h, e); break;
    case FY_KIND_mode: history_add_mode(h, e); break;
    case FY_KIND_end: add_end(h, e); break;
    case FY_KIND_log_full: h->full = true; /* fall through */
    case FY_KIND_lost: h->cut = true; break;
    default: break;
    }
}

/* "reads and frees" */
static const char *lacking_words(unsigned lacks, char *text, size_t room)
{
    size_t used = 0;
    *text = 0;
    for (unsigned i = 0; i < THINGS && used < room; i++) {
        if (!(lacks >> i & 1)) continue;
        const char *before = !used ? "" : lacks >> (i + 1) ? ", " : " and ";
        used += (size_t)snprintf(text + used, room - used, "%s%s", before, things[i]);
    }
    return text;
}

void history_note(const history *h, const char *what, char *note, size_t room)
{
    size_t used = strlen(note);
    const char *lacks = h->too_long       ? "it is too long to be read completely"
                        : h->full && used ? "" /* a feed has said it */
                        : h->full         ? "the log was full, and later events are missing"
                        : h->cut          ? "events are missing (the program was killed)"
                        : !h->ended       ? "the log does not reach the end of the program"
                                          : NULL;
    if (lacks)
        snprintf(note + used, room - used, "%s%s: %s may be incomplete", used && *lacks ? "; " : "", lacks, what);
    used = strlen(note);
    char unknown[80];
    unsigned needed = h->lacks & ~(unsigned)KNOWS_SOURCES;
    if (needed)
        snprintf(note + used, room - used, "%sits origin does not know of %s: what depends on that is not in %s",
                 used ? "; " : "", lacking_words(needed, unknown, sizeof unknown), what);
}

void history_free(history *h)
{
    for (int i = 0; i < h->name_count; i++) free(h->names[i]);
    for (int i = 0; i < h->source_room; i++) free(h->sources[i]);
    void *lists[] = {h->acts, h->uses, h->tensors, h->storages, h->sites, h->nodes, h->edges, h->names, h->sources};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
    id_map_free(&h->tensor_ids);
    id_map_free(&h->storage_ids);
    id_map_free(&h->work_ids);
    id_map_free(&h->site_ids);
    id_map_free(&h->node_ids);
    id_map_free(&h->name_ids);
    *h = (history){0};
}
