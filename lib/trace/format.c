/* format.c: formats slots as JSON lines. A kind's fields and their order come from schema.h alone (record_fields.c). An
 * invalid record is formatted as `lost`. */
#include <stdio.h>

#include "event.h"
#include "log.h"
#include "log_format.h"
#include "record_fields.h"
#include "text.h"

void fy_device_name(uint8_t device, char name[static 16])
{
    if (device)
        snprintf(name, 16, "cuda:%d", device - 1);
    else
        snprintf(name, 16, "cpu");
}

/* ---- one field ---- */

static void key(fy_text *out, const char *name)
{
    if (out->size && out->data[out->size - 1] != '{') fy_text_add(out, ",", 1);
    fy_text_add(out, "\"", 1);
    fy_text_str(out, name);
    fy_text_add(out, "\":", 2);
}

static void number(fy_text *out, const char *name, int64_t value)
{
    key(out, name);
    fy_text_int(out, value);
}

static void quoted(fy_text *out, const char *name, const char *value)
{
    key(out, name);
    fy_text_json(out, value, strlen(value));
}

static void id(fy_text *out, const char *name, uint32_t value)
{
    if (value) number(out, name, value);
}

static void address(fy_text *out, const char *name, uint64_t value)
{
    if (!value) return;
    key(out, name);
    fy_text_printf(out, "\"0x%llx\"", (unsigned long long)value);
}

static void device(fy_text *out, const char *name, uint8_t value)
{
    char text[16];
    if (value == FY_NO_DEVICE) return;
    fy_device_name(value, text);
    quoted(out, name, text);
}

static bool word(fy_text *out, const char *name, uint8_t value)
{
    if (value >= FY_WORD_COUNT) return false;
    if (value) quoted(out, name, fy_word_name(value));
    return true;
}

static void dim3(fy_text *out, const char *name, const unsigned char *p)
{
    uint32_t n[3];
    memcpy(n, p, sizeof n);
    if (!n[0]) return;
    key(out, name);
    fy_text_printf(out, "[%u,%u,%u]", n[0], n[1], n[2]);
}

/* One end of a copy that its origin does not know is left out. */
static bool side(fy_text *out, const char *name, fy_side s)
{
    if (s.device == FY_NO_DEVICE) return s.mem < FY_WORD_COUNT;
    key(out, name);
    fy_text_add(out, "{", 1);
    id(out, "tensor", s.tensor);
    id(out, "storage", s.storage);
    device(out, "device", s.device);
    if (!word(out, "mem", s.mem)) return false;
    address(out, "addr", s.addr);
    number(out, "version", s.version);
    fy_text_add(out, "}", 1);
    return true;
}

/* One element of an array in the arena; p need not be aligned. */
static void element(fy_text *out, fy_type kind, const unsigned char *p)
{
    union { int64_t dim; uint32_t id; double num; fy_use use; } v;
    switch (kind) {
    case FY_TYPE_DIMS: memcpy(&v.dim, p, 8); fy_text_int(out, v.dim); return;
    case FY_TYPE_IDS: memcpy(&v.id, p, 4); fy_text_int(out, v.id); return;
    case FY_TYPE_NUMS: memcpy(&v.num, p, 8); fy_text_real(out, v.num); return;
    default:
        memcpy(&v.use, p, sizeof v.use);
        fy_text_add(out, "{", 1);
        id(out, "tensor", v.use.tensor);
        id(out, "storage", v.use.storage);
        number(out, "version", v.use.version);
        fy_text_add(out, "}", 1);
    }
}

/* A field whose value is in the arena. */
static bool arena_field(const fy_log *log, fy_text *out, const fy_field *f, fy_ref ref)
{
    size_t size = 0, step = fy_element_size(f->type);
    if (!ref) return true;
    const char *bytes = fy_log_bytes(log, ref, &size);
    if (!bytes) return false;
    if (f->type == FY_TYPE_JSON && !fy_json_is_well_formed(bytes, size)) return false;
    key(out, f->name);
    if (f->type == FY_TYPE_STR) {
        fy_text_json(out, bytes, size);
    } else if (f->type == FY_TYPE_JSON) {
        fy_text_add(out, bytes, size);
    } else {
        if (size % step) return false;
        fy_text_add(out, "[", 1);
        for (size_t i = 0; i < size; i += step) {
            if (i) fy_text_add(out, ",", 1);
            element(out, f->type, (const unsigned char *)bytes + i);
        }
        fy_text_add(out, "]", 1);
    }
    return true;
}

#define AS(type) (__extension__({ type v_; memcpy(&v_, p, sizeof v_); v_; }))

static bool print(const fy_log *log, fy_text *out, const fy_field *f, const unsigned char *p)
{
    switch (f->type) {
    case FY_TYPE_INT: number(out, f->name, AS(int64_t)); return true;
    case FY_TYPE_OPT:
        if (AS(int64_t) != FY_ABSENT) number(out, f->name, AS(int64_t));
        return true;
    case FY_TYPE_ID: id(out, f->name, AS(uint32_t)); return true;
    case FY_TYPE_SEQ:
        if (AS(uint64_t)) number(out, f->name, (int64_t)(AS(uint64_t) - 1));
        return true;
    case FY_TYPE_BOOL: key(out, f->name); fy_text_str(out, *p ? "true" : "false"); return true;
    case FY_TYPE_FLAG:
        if (*p) key(out, f->name), fy_text_str(out, "true");
        return true;
    case FY_TYPE_ADDR: address(out, f->name, AS(uint64_t)); return true;
    case FY_TYPE_REAL: key(out, f->name); fy_text_real(out, AS(double)); return true;
    case FY_TYPE_DEV: device(out, f->name, *p); return true;
    case FY_TYPE_ENUM: return word(out, f->name, *p);
    case FY_TYPE_DIM3: dim3(out, f->name, p); return true;
    case FY_TYPE_SIDE: return side(out, f->name, AS(fy_side));
    default: return arena_field(log, out, f, AS(fy_ref));
    }
}

/* ---- one event ---- */

static void begin_event(fy_text *out, uint64_t seq, int64_t t, const char *kind, unsigned th)
{
    fy_text_add(out, "{", 1);
    number(out, "seq", (int64_t)seq);
    number(out, "t", t);
    quoted(out, "kind", kind);
    number(out, "th", th);
}

static bool text_field(const fy_log *log, fy_text *out, const char *name, fy_ref ref)
{
    return arena_field(log, out, &(fy_field){.name = name, .type = FY_TYPE_STR}, ref);
}

static bool place(const fy_log *log, fy_text *out, const fy_site_entry *site)
{
    if (!text_field(log, out, "file", site->file)) return false;
    number(out, "line", site->line);
    return text_field(log, out, "fn", site->fn);
}

static void numbered(fy_text *out, const char *name, int64_t value)
{
    if (value != FY_ABSENT) number(out, name, value);
}

/* The call whose gradient a node computes. */
static void differentiated(const fy_log *log, fy_text *out, int64_t ref)
{
    fy_call_entry of;
    if (ref > 0 && ref <= UINT32_MAX && fy_log_call(log, (fy_ref)ref, &of)) number(out, "of", of.id);
}

static void region(const fy_log *log, fy_text *out, const fy_call_entry *c)
{
    if (!c->region) return;
    quoted(out, "region", fy_word_name(c->region));
    if (c->region == FY_WORD_loop) numbered(out, "turns", c->of);
    if (c->region == FY_WORD_turn) numbered(out, "turn", c->number);
    if (c->region == FY_WORD_batch) numbered(out, "batch", c->number);
    if (c->region == FY_WORD_item) numbered(out, "item", c->number);
    if (c->region == FY_WORD_gradient) numbered(out, "node", c->number), differentiated(log, out, c->of);
}

/* A call is told by the first event that belongs to it. Its place and what is written there are left out where the
 * program did not write it: a call of the library's and a turn have their parent's. */
static bool tell_call(const fy_log *log, fy_text *out, fy_ref ref, unsigned th)
{
    fy_call_entry c, parent;
    fy_site_entry site;
    if (!fy_log_placed_call(log, ref, &c, &site)) return false;
    bool inside = c.parent && fy_log_call(log, c.parent, &parent), same = inside && !fy_call_is_programs(&c, &parent);
    fy_text_str(out, out->data[out->size - 1] == '[' ? "{" : ",{");
    number(out, "id", c.id);
    if (inside) number(out, "in", parent.id);
    if (c.th != th) number(out, "th", c.th);
    region(log, out, &c);
    if (!text_field(log, out, "name", c.name || same ? c.name : site.call)) return false;
    if (!same && !(text_field(log, out, "args", site.args) && place(log, out, &site))) return false;
    fy_text_add(out, "}", 1);
    return true;
}

/* A damaged one is left out. */
static void tell_calls(const fy_log *log, fy_text *out, const fy_slot *slot)
{
    fy_ref calls[FY_TOLD_MAX], ref = slot->call;
    unsigned n = 0, told = fy_slot_told(slot);
    fy_call_entry c;
    for (; n < told && ref && fy_log_call(log, ref, &c); ref = c.parent) calls[n++] = ref;
    if (!n) return;
    key(out, "calls");
    fy_text_add(out, "[", 1);
    while (n-- > 0) {
        size_t complete = out->size;
        if (!tell_call(log, out, calls[n], slot->th)) out->size = complete;
    }
    fy_text_add(out, "]", 1);
}

static bool call(const fy_log *log, fy_text *out, const fy_slot *slot)
{
    fy_call_entry c;
    fy_site_entry site;
    if (!slot->call) return true;
    if (!fy_log_placed_call(log, slot->call, &c, &site)) return false;
    tell_calls(log, out, slot);
    number(out, "call", c.id);
    return true;
}

void fy_format_lost(uint64_t seq, fy_text *out)
{
    begin_event(out, seq, 0, "lost", 0);
    fy_text_add(out, "}\n", 2);
}

void fy_format(const fy_log *log, uint64_t seq, const fy_slot *slot, uint16_t kind, fy_text *out)
{
    size_t start = out->size;
    bool ok = kind && kind < FY_KIND_COUNT;
    if (ok) {
        unsigned char record[FY_RECORD_MAX];
        begin_event(out, seq, slot->t, fy_kind_name(kind), slot->th);
        ok = call(log, out, slot) && fy_log_record(log, seq, kind, record);
        for (const fy_field *f = fy_kind_fields(kind); ok && f->name; f++) ok = print(log, out, f, record + f->offset);
    }
    if (ok) {
        fy_text_add(out, "}\n", 2);
    } else {
        out->size = start; /* drops what was begun */
        fy_format_lost(seq, out);
    }
}

/* ---- the schema ---- */

static uint64_t mix(uint64_t hash, const char *s)
{
    do hash = (hash ^ (unsigned char)*s) * 1099511628211u;
    while (*s++);
    return hash;
}

uint64_t fy_layout_hash(void)
{
    uint64_t hash = 14695981039346656037u;
    for (unsigned w = 0; w < FY_WORD_COUNT; w++) hash = mix(hash, fy_word_name(w));
    for (unsigned k = 1; k < FY_KIND_COUNT; k++) {
        hash = mix(hash, fy_kind_name(k)) ^ fy_record_size(k);
        for (const fy_field *f = fy_kind_fields(k); f->name; f++)
            hash = mix(mix(hash, f->name), f->type_name) ^ f->offset;
    }
    return hash;
}

void fy_schema_json(fy_text *out)
{
    fy_text_add(out, "{", 1);
    for (unsigned k = 1; k < FY_KIND_COUNT; k++) {
        key(out, fy_kind_name(k));
        fy_text_add(out, "{", 1);
        quoted(out, "doc", fy_kind_doc(k));
        key(out, "fields");
        fy_text_add(out, "[", 1);
        for (const fy_field *f = fy_kind_fields(k); f->name; f++) {
            fy_text_str(out, f == fy_kind_fields(k) ? "{" : ",{");
            quoted(out, "name", f->name);
            quoted(out, "type", f->type_name);
            quoted(out, "doc", f->doc);
            fy_text_add(out, "}", 1);
        }
        fy_text_str(out, "]}");
    }
    fy_text_add(out, "}", 1);
}
