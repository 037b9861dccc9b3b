/* findings_history.c: events to a history, one after the other, in time and memory that grow as the log does. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

/* ---- events ---- */

static act *add_act(history *h, const cJSON *e, uint8_t kind)
{
    act *a = HISTORY_ADD(h, act);
    if (!a) return NULL;
    int64_t thread = event_int(e, "th");
    *a = (act){.seq = event_seq(e), .kind = kind, .site = history_site(h, e), .device = field_device(e, "device")};
    a->thread = thread >= 0 && thread < 1 << 20 ? (int)thread : 0;
    int64_t stream = event_int(e, "stream");
    a->stream = stream >= 0 && stream < 1 << 20 ? (int)stream : -1;
    a->bytes = field_amount(e, "bytes");
    a->held = field_amount(e, "held");
    a->why = field_word(e, "why");
    a->src = a->dst = (side){-1, -1, -1, -1};
    a->dst.storage = map_find(&h->storage_ids, event_int(e, "storage"));
    a->dst.tensor = map_find(&h->tensor_ids, event_int(e, "tensor"));
    a->dst.version = event_int(e, "version");
    a->name = -1;
    return a;
}

/* Modelled addresses stay below 2^48. */
static void note_addresses(act *a, const cJSON *e)
{
    unsigned long long from = strtoull(event_text(e, "addr"), NULL, 16);
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

static void add_session(history *h, const cJSON *e)
{
    h->measured = !strcmp(event_text(e, "clock"), "measured");
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(e, "devices");
    for (const cJSON *d = list ? list->child : NULL; d; d = d->next) {
        int n = field_device(d, "name");
        if (n < 0) continue;
        h->device[n].capacity = field_amount(d, "capacity");
        h->device[n].call_overhead = field_amount(d, "model.call_overhead");
        h->device[n].launch_overhead = field_amount(d, "model.launch_overhead");
        if (n) continue;
        h->host.flops = (double)field_amount(d, "model.flops_f32");
        h->host.bandwidth = (double)field_amount(d, "model.memory_bandwidth");
        h->host.overhead = field_amount(d, "model.call_overhead");
    }
}

static void add_source(history *h, const cJSON *e)
{
    int file = name_index(h, event_text(e, "path"));
    const char *text = event_text(e, "text");
    if (file < 0 || !*text) return;
    while (h->source_room <= file)
        if (!history_grow(h, &h->sources, &h->source_room, h->source_room, sizeof *h->sources)) return;
    if (!h->sources[file]) h->sources[file] = memory_copy(text, "a source file");
}

static void add_alloc(history *h, const cJSON *e)
{
    int64_t id = event_int(e, "storage");
    int *at = id > 0 ? map_at(&h->storage_ids, (uint64_t)id) : NULL;
    act *a = at ? add_act(h, e, FY_KIND_alloc) : NULL;
    storage *s = a ? HISTORY_ADD(h, storage) : NULL;
    if (!s) return;
    a->dst.storage = *at = h->storage_count - 1;
    *s = (storage){.site = a->site, .born = h->act_count - 1, .freed = -1, .device = a->device};
    s->first_touch = s->last_touch = s->last_read = s->last_out = -1;
    s->mem = field_word(e, "mem");
    s->opened = s->mem == FY_WORD_foreign ? s->born : -1;
    s->asked = field_amount(e, "asked");
    s->bytes = a->bytes;
    note_addresses(a, e);
    if (s->device < 0) return;
    card_seen *card = &h->device[s->device];
    card->live += s->bytes;
    if (card->live > card->peak) card->peak = card->live;
}

static void add_free(history *h, const cJSON *e)
{
    act *a = add_act(h, e, FY_KIND_free);
    if (!a || a->dst.storage < 0) return;
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

/* A shape or strides into a hash, and their product; 0 where it is too large to make sense. */
static uint64_t hash_list(uint64_t z, const cJSON *list, int64_t *product)
{
    for (const cJSON *v = list ? list->child : NULL; v; v = v->next) {
        int64_t n = cJSON_IsNumber(v) && v->valuedouble >= 0 && v->valuedouble < 1e12 ? (int64_t)v->valuedouble : 0;
        z = map_mix(z ^ (uint64_t)n) + 1;
        *product = n && *product > ((int64_t)1 << 50) / n ? 0 : *product * n;
    }
    return z;
}

static void add_tensor(history *h, const cJSON *e)
{
    int64_t id = event_int(e, "tensor"), numel = 1, ignored = 1;
    int *at = id > 0 ? map_at(&h->tensor_ids, (uint64_t)id) : NULL;
    act *a = at ? add_act(h, e, FY_KIND_tensor) : NULL;
    tensor *x = a ? HISTORY_ADD(h, tensor) : NULL;
    if (!x) return;
    a->dst.tensor = *at = h->tensor_count - 1;
    *x = (tensor){.storage = a->dst.storage, .site = a->site, .dtype = field_word(e, "dtype")};
    x->made = h->act_count - 1;
    x->view_of = map_find(&h->tensor_ids, event_int(e, "view_of"));
    x->name = name_index(h, event_text(e, "name"));
    x->offset = field_amount(e, "offset");
    uint64_t look = hash_list((uint64_t)x->offset, cJSON_GetObjectItemCaseSensitive(e, "shape"), &numel);
    x->look = hash_list(look, cJSON_GetObjectItemCaseSensitive(e, "strides"), &ignored);
    x->bytes = numel * dtype_size(x->dtype);
}

static side side_of(history *h, const cJSON *e, const char *which)
{
    const cJSON *s = cJSON_GetObjectItemCaseSensitive(e, which);
    return (side){map_find(&h->storage_ids, event_int(s, "storage")), map_find(&h->tensor_ids, event_int(s, "tensor")),
                  field_device(s, "device"), event_int(s, "version")};
}

static void note_work(history *h, const cJSON *e)
{
    int64_t id = event_int(e, "id");
    int *at = id > 0 ? map_at(&h->work_ids, (uint64_t)id) : NULL;
    if (at) *at = h->act_count - 1;
}

static void add_copy(history *h, const cJSON *e)
{
    act *a = add_act(h, e, FY_KIND_copy);
    if (!a) return;
    a->src = side_of(h, e, "src");
    a->dst = side_of(h, e, "dst");
    a->dir = field_word(e, "dir");
    a->route = field_word(e, "route");
    a->cast = field_word(e, "cast");
    a->async = field_is_yes(e, "async");
    a->was_async = field_is_yes(e, "was_async");
    a->device = a->dir == FY_WORD_h2d || a->dir == FY_WORD_p2p ? a->dst.device : a->src.device;
    touch(h, a->src.storage, true);
    touch(h, a->dst.storage, false);
    if (a->src.storage >= 0 && a->src.device != a->dst.device) h->storages[a->src.storage].last_out = h->act_count - 1;
    note_work(h, e);
}

static int add_uses(history *h, const cJSON *e, const char *which, bool reads)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(e, which);
    int n = 0;
    for (const cJSON *u = list ? list->child : NULL; u && n < 8; u = u->next) {
        use *to = HISTORY_ADD(h, use);
        if (!to) return n;
        *to =
            (use){map_find(&h->tensor_ids, event_int(u, "tensor")), map_find(&h->storage_ids, event_int(u, "storage"))};
        touch(h, to->storage, reads);
        n++;
    }
    return n;
}

static void add_op(history *h, const cJSON *e)
{
    act *a = add_act(h, e, FY_KIND_op);
    if (!a) return;
    a->flops = field_amount(e, "flops");
    a->name = name_index(h, event_text(e, "name"));
    a->first_use = h->use_count;
    a->nin = add_uses(h, e, "in", true);
    a->nout = add_uses(h, e, "out", false);
    note_work(h, e);
}

static void add_complete(history *h, const cJSON *e)
{
    int i = map_find(&h->work_ids, event_int(e, "id"));
    if (i < 0) return;
    act *a = &h->acts[i];
    int64_t start = event_int(e, "start"), end = event_int(e, "end"), most = (int64_t)1 << 50;
    if (start < 0 || end < start || end > most) return;
    a->completed = true;
    a->start = start;
    a->end = end;
    a->wire = field_amount(e, "wire");
    a->staging = field_amount(e, "staging");
    a->overhead = field_amount(e, "overhead");
    if (end > h->last_end) h->last_end = end;
}

static void add_look(history *h, const cJSON *e, uint8_t kind)
{
    act *a = add_act(h, e, kind);
    if (!a || a->dst.storage < 0) return;
    storage *s = &h->storages[a->dst.storage];
    a->type = field_word(e, "via");
    if (a->type == FY_WORD_data && s->opened < 0) s->opened = h->act_count - 1;
    if (kind == FY_KIND_answer || kind == FY_KIND_given) s->answered = true;
    if (kind != FY_KIND_given) touch(h, a->dst.storage, kind != FY_KIND_host_write);
}

/* The first two devices that a message names. */
static void name_devices(act *a, const char *message)
{
    int *to = &a->src.device;
    for (const char *p = message; *p && to; p++) {
        int device = device_named(p);
        if (device < 0) continue;
        *to = device;
        to = to == &a->src.device ? &a->dst.device : NULL;
    }
}

static void add_error(history *h, const cJSON *e)
{
    act *a = add_act(h, e, FY_KIND_error);
    if (!a) return;
    a->src.version = event_int(e, "caused_by");
    name_devices(a, event_text(e, "message"));
    a->name = name_index(h, event_text(e, "code"));
    a->said = name_index(h, event_text(e, "message"));
    a->advice = name_index(h, event_text(e, "hint"));
}

static void add_mark(history *h, const cJSON *e)
{
    act *a = add_act(h, e, FY_KIND_mark);
    if (!a) return;
    a->start = event_int(e, "now");
    a->name = name_index(h, event_text(e, "text"));
    a->type = cJSON_HasObjectItem(e, "text") ? FY_WORD_none : FY_WORD_at;
}

static void add_other(history *h, const cJSON *e, uint8_t kind)
{
    act *a = add_act(h, e, kind);
    if (!a) return;
    a->type = field_word(e, kind == FY_KIND_hazard ? "type" : "scope");
    if (kind == FY_KIND_segment) a->type = field_word(e, "mem");
    if (kind == FY_KIND_segment || kind == FY_KIND_segment_free) note_addresses(a, e);
    if (kind == FY_KIND_hazard) a->name = name_index(h, event_text(e, "fix"));
    if (kind == FY_KIND_hazard) a->src.version = event_int(e, "a");
    if (kind != FY_KIND_oom) return;
    a->bytes = field_amount(e, "asked");
    a->flops = field_amount(e, "free");
    a->largest = field_amount(e, "largest");
    a->in_use = field_amount(e, "allocated");
    a->reserved = field_amount(e, "reserved");
}

static void add_end(history *h, const cJSON *e)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(e, "live");
    h->ended = true;
    h->status = event_int(e, "status");
    for (const cJSON *v = list ? list->child : NULL; v; v = v->next) {
        int i = cJSON_IsNumber(v) && v->valuedouble > 0 && v->valuedouble < 1e15
                    ? map_find(&h->storage_ids, (int64_t)v->valuedouble)
                    : -1;
        if (i >= 0) h->storages[i].live = true;
    }
}

void history_add(history *h, const cJSON *e)
{
    uint8_t kind = h->too_long || h->act_count >= 1 << 28 ? 0 : field_kind(e);
    h->events++;
    switch (kind) {
    case FY_KIND_session: add_session(h, e); break;
    case FY_KIND_source: add_source(h, e); break;
    case FY_KIND_alloc: add_alloc(h, e); break;
    case FY_KIND_free: add_free(h, e); break;
    case FY_KIND_tensor: add_tensor(h, e); break;
    case FY_KIND_copy: add_copy(h, e); break;
    case FY_KIND_op: add_op(h, e); break;
    case FY_KIND_complete: add_complete(h, e); break;
    case FY_KIND_host_read:
    case FY_KIND_host_write:
    case FY_KIND_given:
    case FY_KIND_answer: add_look(h, e, kind); break;
    case FY_KIND_drop:
    case FY_KIND_sync:
    case FY_KIND_hazard:
    case FY_KIND_oom:
    case FY_KIND_set_device:
    case FY_KIND_event_wait:
    case FY_KIND_query:
    case FY_KIND_segment:
    case FY_KIND_segment_free: add_other(h, e, kind); break;
    case FY_KIND_error: add_error(h, e); break;
    case FY_KIND_mark: add_mark(h, e); break;
    case FY_KIND_end: add_end(h, e); break;
    case FY_KIND_log_full: h->full = true; /* fall through */
    case FY_KIND_lost: h->cut = true; break;
    default: break;
    }
}

void history_free(history *h)
{
    for (int i = 0; i < h->name_count; i++) free(h->names[i]);
    for (int i = 0; i < h->source_room; i++) free(h->sources[i]);
    void *lists[] = {h->acts, h->uses, h->tensors, h->storages, h->sites, h->names, h->sources};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) free(lists[i]);
    map_free(&h->tensor_ids);
    map_free(&h->storage_ids);
    map_free(&h->work_ids);
    map_free(&h->site_ids);
    map_free(&h->name_ids);
    *h = (history){0};
}
