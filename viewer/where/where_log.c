/* where_log.c: events to what where_log.h says. The rules of copies, writes and names are those of www/model/state.js. */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "log_format.h"
#include "memory.h"
#include "where_log.h"

#define PUSH(w, list, ...) MEMORY_PUSH(&(w)->list, "a log", __VA_ARGS__)

static int64_t known(int64_t n) { return n == FY_ABSENT || n < 0 ? 0 : n; }

static uint64_t hash_of(const char *text, size_t size, uint64_t z)
{
    for (size_t i = 0; i < size; i++) z = (z ^ (unsigned char)text[i]) * 0x100000001b3u;
    return id_map_mix(z) | 1;
}

/* ---- names ---- */

static int intern(where *w, const char *text, size_t size)
{
    int *at = id_map_at(&w->name_ids, hash_of(text, size, 0xcbf29ce484222325u));
    if (*at >= 0) return *at;
    char *copy = memory_realloc(NULL, size + 1, 1, "a name");
    memcpy(copy, text, size);
    copy[size] = '\0';
    *at = w->names.count;
    return PUSH(w, names, copy);
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
static bool is_digit(char c) { return c >= '0' && c <= '9'; }

static const char *word_end(const char *at, const char *end)
{
    if (at < end && is_letter(*at))
        while (at < end && (is_letter(*at) || is_digit(*at))) at++;
    return at;
}

static bool is_variable(fy_bytes name)
{
    return name.size && word_end(name.data, name.data + name.size) == name.data + name.size;
}

static uint64_t variable_of(const fy_event *e, fy_bytes name)
{
    fy_bytes path = fy_event_bytes(e, e->file), fn = fy_event_bytes(e, e->fn);
    uint64_t z = hash_of(path.data, path.size, 1469598103934665603u);
    z = hash_of(fn.data, fn.size, z);
    return hash_of(name.data, name.size, z) + e->th;
}

static bool is_same(fy_bytes a, fy_bytes b) { return a.size == b.size && !memcmp(a.data, b.data, a.size); }

/* In which turn is the event of the innermost FY_TIMES with this variable, in the function of its call? -1: of none. */
static int64_t turn_of(const fy_event *e, fy_bytes variable)
{
    fy_call_entry turn, loop;
    fy_site_entry site;
    fy_ref ref = e->call;
    for (int i = 0; i < DEEPEST && fy_log_call(e->log, ref, &turn); i++, ref = turn.parent) {
        if (turn.region != FY_WORD_turn || !fy_log_call(e->log, turn.parent, &loop)) continue;
        if (!fy_log_site(e->log, loop.site, &site) || !fy_event_is(e, site.call, "FY_TIMES")) continue;
        fy_bytes args = fy_event_bytes(e, site.args);
        const char *comma = memchr(args.data, ',', args.size);
        if (!comma || !is_same((fy_bytes){args.data, (size_t)(comma - args.data)}, variable)) continue;
        bool sees = is_same(fy_event_bytes(e, site.fn), fy_event_bytes(e, e->fn));
        return sees && turn.number >= 0 ? turn.number : -1;
    }
    return -1;
}

static const char *past_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ') at++;
    return at;
}

/* What a subscript is in this turn: "i", "i + 1" or "i - 1"; -1: that is not known. */
static int64_t index_of(const fy_event *e, const char *at, const char *end)
{
    const char *word = past_blanks(at, end), *stop = word_end(word, end);
    int64_t turn = turn_of(e, (fy_bytes){word, (size_t)(stop - word)}), by = 0;
    at = past_blanks(stop, end);
    if (turn < 0 || at == end) return turn;
    bool less = *at == '-';
    if (!less && *at != '+') return -1;
    const char *digits = at = past_blanks(at + 1, end);
    for (; at < end && at < digits + 9 && is_digit(*at); at++) by = 10 * by + (*at - '0');
    if (at == digits || past_blanks(at, end) != end) return -1;
    return __builtin_add_overflow(turn, less ? -by : by, &turn) ? -1 : turn;
}

/* "batch[i]" in turn 3 of FY_TIMES(i, n) is "batch[3]". */
static int numbered_name(where *w, const fy_event *e, fy_bytes name)
{
    char text[512];
    size_t n = 0;
    const char *end = name.data + name.size;
    for (const char *at = name.data; at < end;) {
        if (n + 24 > sizeof text) return intern(w, name.data, name.size);
        const char *close = *at == '[' ? memchr(at, ']', (size_t)(end - at)) : NULL;
        int64_t index = close ? index_of(e, at + 1, close) : -1;
        text[n++] = *at++;
        if (index < 0) continue;
        n += (size_t)snprintf(text + n, sizeof text - n, "%" PRId64, index);
        at = close;
    }
    return intern(w, text, n);
}

/* ---- tensors ---- */

/* The handle by which the autograd graph keeps a tensor, as the page calls it. */
static int saved_name(where *w, uint32_t id)
{
    char text[256];
    int at = id_map_find(&w->handle_ids, id), number = at >= 0 ? w->handles.all[at].name : 0;
    const char *name = at >= 0 ? w->names.all[number] : "";
    int n = snprintf(text, sizeof text, "%.200s%s(saved)", name, *name ? " " : "");
    return intern(w, text, (size_t)n);
}

static int add_dims(where *w, const fy_event *e, fy_ref shape, fy_ref strides, int *rank)
{
    int64_t n;
    int first = w->dims.count;
    for (*rank = 0; fy_event_dim(e, shape, (size_t)*rank, &n); ++*rank) PUSH(w, dims, n);
    for (int i = 0; i < *rank; i++) PUSH(w, dims, fy_event_dim(e, strides, (size_t)i, &n) ? n : 0);
    return *rank ? first : -1;
}

static void add_tensor(where *w, const fy_event *e)
{
    const fy_ev_tensor *t = &e->is.tensor;
    fy_bytes name = t->name ? fy_event_bytes(e, t->name) : (fy_bytes){"", 0}, fn = fy_event_bytes(e, e->fn);
    if (!t->tensor) return;
    handle h = {.id = t->tensor,
                .former = -1,
                .storage = t->storage,
                .line = e->line,
                .itemsize = t->itemsize > 0 ? t->itemsize : dtype_size((uint8_t)fy_event_dtype(e, t->dtype)),
                .offset = known(t->offset),
                .view_of = t->view_of,
                .from = e->seq,
                .until = NEVER,
                .named = e->seq,
                .renamed = NEVER};
    h.name = t->saved ? saved_name(w, t->view_of) : numbered_name(w, e, name);
    fy_bytes dtype = fy_event_bytes(e, t->dtype);
    h.fn = intern(w, fn.data, e->fn ? fn.size : 0);
    static const char unknown[] = "a dtype that is not known";
    h.dtype = dtype.size ? intern(w, dtype.data, dtype.size) : intern(w, unknown, sizeof unknown - 1);
    h.dims = add_dims(w, e, t->shape, t->strides, &h.rank);
    int number = PUSH(w, handles, h);
    *id_map_at(&w->handle_ids, t->tensor) = number;
    if (!e->fn || t->saved || !is_variable(name)) return;
    int *variable = id_map_at(&w->variable_ids, variable_of(e, name));
    if (*variable >= 0 && w->handles.all[*variable].name == h.name) w->handles.all[*variable].renamed = e->seq;
    *variable = number;
}

static void add_name(where *w, const fy_event *e)
{
    int at = id_map_find(&w->handle_ids, e->is.name.tensor);
    if (at < 0 || !e->is.name.name) return;
    handle *h = &w->handles.all[at];
    h->former = h->name;
    h->name = numbered_name(w, e, fy_event_bytes(e, e->is.name.name));
    h->named = e->seq;
}

static void add_drop(where *w, const fy_event *e)
{
    int at = id_map_find(&w->handle_ids, e->is.drop.tensor);
    if (at < 0 || w->handles.all[at].until != NEVER) return;
    w->handles.all[at].until = e->seq;
    w->handles.all[at].dropped_line = e->line;
}

/* ---- storages, and what they hold ---- */

static void add_version(where *w, uint64_t seq, int held, int lineage, int64_t rev)
{
    w->storages.all[held].last =
        PUSH(w, versions, (version){.seq = seq, .storage = held, .lineage = lineage, .rev = rev});
}

static void add_alloc(where *w, const fy_event *e)
{
    const fy_ev_alloc *a = &e->is.alloc;
    if (!a->storage) return;
    bytes_of s = {.id = a->storage,
                  .line = e->line,
                  .device = a->device == FY_NO_DEVICE ? 0 : a->device,
                  .mem = a->mem,
                  .addr = a->addr,
                  .asked = known(a->asked),
                  .bytes = known(a->bytes),
                  .tenant = known(a->tenant),
                  .from = e->seq,
                  .until = NEVER};
    int number = PUSH(w, storages, s);
    *id_map_at(&w->storage_ids, a->storage) = number;
    w->revs = memory_grown(w->revs, &w->revs_room, number, sizeof *w->revs, "a log");
    w->revs[number] = 0;
    add_version(w, e->seq, number, number, 0);
}

static void add_free(where *w, const fy_event *e)
{
    int at = id_map_find(&w->storage_ids, e->is.free.storage);
    if (at >= 0 && w->storages.all[at].until == NEVER) w->storages.all[at].until = e->seq;
}

int lineage_at(const where *w, int held, uint64_t seq, int64_t *rev)
{
    int lineage = held;
    *rev = 0;
    for (int i = 0; i < w->versions.count && w->versions.all[i].seq <= seq; i++)
        if (w->versions.all[i].storage == held) lineage = w->versions.all[i].lineage, *rev = w->versions.all[i].rev;
    return lineage;
}

static const version *newest(const where *w, int held) { return &w->versions.all[w->storages.all[held].last]; }

static void write_into(where *w, const fy_event *e, uint32_t id)
{
    int at = id_map_find(&w->storage_ids, id);
    if (at < 0) return;
    int lineage = newest(w, at)->lineage;
    add_version(w, e->seq, at, lineage, ++w->revs[lineage]);
}

static void copy_into(where *w, const fy_event *e)
{
    int from = id_map_find(&w->storage_ids, e->is.copy.src.storage),
        to = id_map_find(&w->storage_ids, e->is.copy.dst.storage);
    if (from < 0 || to < 0) return;
    version of = *newest(w, from);
    if (w->revs[of.lineage] < 1) w->revs[of.lineage] = 1;
    add_version(w, e->seq, to, of.lineage, of.rev > 1 ? of.rev : 1);
}

/* ---- work ---- */

static void fill(where *w, const fy_event *e, uint32_t id, uint32_t held, filling f)
{
    int at = id_map_find(&w->storage_ids, held);
    if (at < 0) return;
    f.seq = e->seq, f.id = id, f.storage = at, f.done = NEVER, f.start = f.end = INT64_MAX;
    bool first = !w->fillings.count || w->fillings.all[w->fillings.count - 1].seq != e->seq;
    int number = PUSH(w, fillings, f);
    if (id && first) *id_map_at(&w->work_ids, id) = number; /* the others of a list follow it */
}

static void add_copy(where *w, const fy_event *e)
{
    const fy_ev_copy *c = &e->is.copy;
    int from = c->src.device == FY_NO_DEVICE ? 0 : c->src.device,
        to = c->dst.device == FY_NO_DEVICE ? 0 : c->dst.device;
    copy_into(w, e);
    fill(w, e, c->id, c->dst.storage,
         (filling){.copy = true,
                   .staged = c->route == FY_WORD_staged,
                   .through_host = c->route == FY_WORD_host,
                   .up = c->dir == FY_WORD_h2d,
                   .bytes = known(c->bytes),
                   .from_device = from,
                   .to_device = to});
}

static void add_op(where *w, const fy_event *e)
{
    fy_use one;
    for (size_t i = 0; fy_event_use(e, e->is.op.out, i, &one); i++) {
        write_into(w, e, one.storage);
        fill(w, e, e->is.op.id, one.storage, (filling){0});
    }
}

static void add_complete(where *w, const fy_event *e)
{
    const fy_ev_complete *c = &e->is.complete;
    int at = id_map_find(&w->work_ids, c->id);
    if (c->end > w->total) w->total = c->end;
    if (at < 0 || w->fillings.all[at].done != NEVER) return;
    for (uint64_t seq = w->fillings.all[at].seq; at < w->fillings.count && w->fillings.all[at].seq == seq; at++) {
        filling *f = &w->fillings.all[at];
        f->done = e->seq;
        f->start = c->start;
        f->end = c->end > c->start ? c->end : c->start;
        f->wire = c->wire == FY_ABSENT ? f->end - f->start : known(c->wire);
        f->wire_up = known(c->wire_up);
        f->staging = known(c->staging);
    }
}

/* ---- the cards ---- */

static int64_t number_in(const cJSON *o, const char *key)
{
    const cJSON *n = cJSON_GetObjectItemCaseSensitive(o, key);
    return cJSON_IsNumber(n) && n->valuedouble > 0 && n->valuedouble < 9e15 ? (int64_t)n->valuedouble : 0;
}

static void add_session(where *w, const fy_event *e)
{
    fy_bytes text = fy_event_bytes(e, e->is.session.devices);
    cJSON *all = e->is.session.devices ? cJSON_ParseWithLength(text.data, text.size) : NULL;
    const cJSON *one;
    int i = 0;
    cJSON_ArrayForEach(one, all)
    {
        const cJSON *model = cJSON_GetObjectItemCaseSensitive(one, "model");
        const char *name = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(one, "name"));
        bool is_own = !name || !strncmp(name, "cpu", 3) || !strncmp(name, "cuda:", 5);
        if (i <= MOST_CARDS)
            w->cards[i] =
                (card){.latency = number_in(model, "bus_latency"), .chunk = number_in(model, "staging_chunk")};
        if (i <= MOST_CARDS && !is_own) snprintf(w->cards[i].name, sizeof w->cards[i].name, "%.15s", name);
        i++;
    }
    cJSON_Delete(all);
}

/* ---- all ---- */

void where_add(void *to, const fy_event *e)
{
    where *w = to;
    int64_t last = w->times.count ? w->times.all[w->times.count - 1] : 0;
    steps_add(w->steps, e);
    PUSH(w, times, e->t > last ? e->t : last);
    if (e->t > w->total) w->total = e->t;
    switch ((fy_kind)e->kind) {
    case FY_KIND_session: add_session(w, e); break;
    case FY_KIND_alloc: add_alloc(w, e); break;
    case FY_KIND_free: add_free(w, e); break;
    case FY_KIND_tensor: add_tensor(w, e); break;
    case FY_KIND_name: add_name(w, e); break;
    case FY_KIND_drop: add_drop(w, e); break;
    case FY_KIND_copy: add_copy(w, e); break;
    case FY_KIND_op: add_op(w, e); break;
    case FY_KIND_host_write: write_into(w, e, e->is.host_write.storage); break;
    case FY_KIND_complete: add_complete(w, e); break;
    case FY_KIND_error: w->stopped = true; break;
    case FY_KIND_end:
        w->ended = true;
        w->stopped = w->stopped && e->is.end.status != 0;
        break;
    default: break;
    }
}

const steps *where_steps(const where *w) { return w->steps; }

where *where_begin(void)
{
    where *w = memory_zeroed(1, sizeof *w, "a log");
    w->steps = steps_begin();
    return w;
}

void where_free(where *w)
{
    if (!w) return;
    id_map *const maps[] = {&w->handle_ids, &w->storage_ids, &w->work_ids, &w->name_ids, &w->variable_ids};
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++) id_map_free(maps[i]);
    for (int i = 0; i < w->names.count; i++) free(w->names.all[i]);
    steps_free(w->steps);
    free(w->handles.all), free(w->storages.all), free(w->versions.all), free(w->fillings.all), free(w->names.all);
    free(w->dims.all), free(w->times.all), free(w->revs);
    free(w);
}
