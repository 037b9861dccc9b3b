/* event_reader.c: slots to typed events. A record is valid if its words are in the schema and its references lead to
 * entries of the arena. An invalid one reads as `lost`, as it does in JSON lines (format.c). */
#include "event_reader.h"

#include "log_format.h"
#include "record_fields.h"

_Static_assert(FY_KIND_COUNT <= UINT8_MAX, "an event's kind is a byte");

static void lose(fy_event *e, uint64_t seq, const fy_log *log)
{
    *e = (fy_event){.seq = seq, .kind = FY_KIND_lost, .log = log};
}

/* ---- validation ---- */

static bool reference_is_valid(const fy_log *log, const fy_field *f, const unsigned char *p)
{
    fy_ref ref;
    size_t size = 0;
    memcpy(&ref, p, sizeof ref);
    if (!ref) return true;
    const char *bytes = fy_log_bytes(log, ref, &size);
    if (!bytes || size % fy_element_size(f->type)) return false;
    return f->type != FY_TYPE_JSON || fy_json_is_well_formed(bytes, size);
}

static bool record_is_valid(const fy_log *log, unsigned kind, const void *record)
{
    for (const fy_field *f = fy_kind_fields(kind); f->name; f++) {
        const unsigned char *p = (const unsigned char *)record + f->offset;
        bool ok = true;
        if (f->type == FY_TYPE_ENUM) ok = *p < FY_WORD_COUNT;
        else if (f->type == FY_TYPE_SIDE) ok = p[offsetof(fy_side, mem)] < FY_WORD_COUNT;
        else if (fy_type_refers(f->type)) ok = reference_is_valid(log, f, p);
        if (!ok) return false;
    }
    return true;
}

bool fy_event_set_call(fy_event *e, fy_ref ref)
{
    fy_call_entry call, of;
    fy_site_entry site, other;
    if (!ref) return true;
    if (!fy_log_placed_call(e->log, ref, &call, &site)) return false;
    bool runs_node = e->kind == FY_KIND_graph && e->is.graph.what == FY_WORD_run && call.of > 0;
    if (runs_node && fy_log_placed_call(e->log, (fy_ref)call.of, &of, &other)) site = other;
    e->call = ref;
    e->file = site.file;
    e->line = site.line;
    e->fn = site.fn;
    return true;
}

/* ---- reading ---- */

static void read_slot(const fy_log *log, uint64_t seq, fy_event *e)
{
    uint16_t kind;
    const fy_slot *slot = fy_log_slot(log, seq, &kind);
    if (slot && kind < FY_KIND_COUNT) {
        *e = (fy_event){.seq = seq, .t = slot->t, .kind = (uint8_t)kind, .th = slot->th, .log = log};
        if (fy_log_record(log, seq, kind, &e->is) && record_is_valid(log, kind, &e->is) &&
            fy_event_set_call(e, slot->call))
            return;
    }
    lose(e, seq, log);
}

/* What was read while the file was truncated may contain zeros from missing pages, so it is read again. */
bool fy_event_next(fy_log *log, uint64_t *cursor, fy_event *e)
{
    enum { TRIES = 4 };
    for (int i = 0; i < TRIES; i++) {
        uint32_t cuts = log->cuts;
        bool here = *cursor < fy_log_count(log);
        fy_slot_state arrival = here ? fy_log_arrival(log, *cursor) : FY_LATER;
        if (arrival == FY_NEVER && fy_log_is_damaged_from(log, *cursor)) arrival = FY_LATER;
        if (arrival == FY_HERE) read_slot(log, *cursor, e);
        else if (arrival == FY_NEVER) lose(e, *cursor, log);
        fy_log_check_size(log);
        if (cuts != log->cuts) continue;
        *cursor += arrival != FY_LATER;
        return arrival != FY_LATER;
    }
    return false;
}

/* ---- what references lead to ---- */

fy_bytes fy_event_bytes(const fy_event *e, fy_ref ref)
{
    size_t size = 0;
    const char *data = ref ? fy_log_bytes(e->log, ref, &size) : NULL;
    return data ? (fy_bytes){data, size} : (fy_bytes){"", 0};
}

bool fy_event_is(const fy_event *e, fy_ref ref, const char *text)
{
    fy_bytes is = fy_event_bytes(e, ref);
    return is.size == strlen(text) && !memcmp(is.data, text, is.size);
}

fy_word fy_event_dtype(const fy_event *e, fy_ref name)
{
    for (fy_word word = FY_WORD_float32; name && word <= FY_WORD_bool; word++)
        if (fy_event_is(e, name, fy_word_name(word))) return word;
    return FY_WORD_none;
}

static bool element(const fy_event *e, fy_ref list, size_t i, void *to, size_t size)
{
    fy_bytes all = fy_event_bytes(e, list);
    if (i >= all.size / size) return false;
    memcpy(to, all.data + i * size, size);
    return true;
}

bool fy_event_dim(const fy_event *e, fy_ref dims, size_t i, int64_t *dim)
{
    return element(e, dims, i, dim, sizeof *dim);
}

bool fy_event_id(const fy_event *e, fy_ref ids, size_t i, uint32_t *id) { return element(e, ids, i, id, sizeof *id); }

bool fy_event_use(const fy_event *e, fy_ref refs, size_t i, fy_use *use)
{
    return element(e, refs, i, use, sizeof *use);
}
