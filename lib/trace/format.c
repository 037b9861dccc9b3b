/* format.c: the one formatter: slots to JSON lines. Which fields a kind has, and in which order they
 * are printed, comes from schema.h alone. A record that cannot be right reads as `lost`. */
#include <stdio.h>

#include "event.h"
#include "log.h"
#include "log_format.h"
#include "text.h"

#define TYPES(T) \
    T(INT) T(OPT) T(ID) T(SEQ) T(BOOL) T(FLAG) T(ADDR) T(REAL) T(DEV) T(ENUM) T(STR) T(DIMS) T(IDS) T(NUMS) \
    T(REFS) T(JSON) T(DIM3) T(SIDE)

typedef enum type {
#define T(type) TYPE_##type,
    TYPES(T)
#undef T
} type;

typedef struct field {
    const char *name, *type_name, *doc;
    type type;
    size_t offset;
} field;

/* fields_alloc[], fields_copy[] ...; each ends with a NULL name. */
#define KIND(kind, doc) static const field fields_##kind[] = {
#define FIELD(kind, type, name, doc) {#name, #type, doc, TYPE_##type, offsetof(fy_ev_##kind, name)},
#define END(kind) {NULL, NULL, NULL, TYPE_INT, 0}};
FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END

static const struct kind {
    const char *name, *doc;
    const field *fields;
    size_t size;
} kinds[FY_KIND_COUNT] = {
#define KIND(kind, doc) [FY_KIND_##kind] = {#kind, doc, fields_##kind, sizeof(fy_ev_##kind)},
#define FIELD(kind, type, name, doc)
#define END(kind)
    FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
};

static const char *const words[FY_WORD_COUNT] = {
#define W(word) #word,
    FY_WORDS(W)
#undef W
};

const char *fy_word_name(unsigned word) { return word < FY_WORD_COUNT ? words[word] : NULL; }
const char *fy_kind_name(unsigned kind) { return kind && kind < FY_KIND_COUNT ? kinds[kind].name : NULL; }

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
    if (value) quoted(out, name, words[value]);
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

static bool side(fy_text *out, const char *name, fy_side s)
{
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
static void element(fy_text *out, type kind, const unsigned char *p)
{
    union { int64_t dim; uint32_t id; double num; fy_use use; } v;
    switch (kind) {
    case TYPE_DIMS: memcpy(&v.dim, p, 8); fy_text_int(out, v.dim); return;
    case TYPE_IDS: memcpy(&v.id, p, 4); fy_text_int(out, v.id); return;
    case TYPE_NUMS: memcpy(&v.num, p, 8); fy_text_real(out, v.num); return;
    default:
        memcpy(&v.use, p, sizeof v.use);
        fy_text_add(out, "{", 1);
        id(out, "tensor", v.use.tensor);
        id(out, "storage", v.use.storage);
        number(out, "version", v.use.version);
        fy_text_add(out, "}", 1);
    }
}

static size_t element_size(type kind)
{
    return kind == TYPE_IDS ? sizeof(uint32_t) : kind == TYPE_REFS ? sizeof(fy_use) : 8;
}

/* A field whose value lies in the arena. */
static bool referred(const fy_log *log, fy_text *out, const field *f, fy_ref ref)
{
    size_t size = 0, step = element_size(f->type);
    if (!ref) return true;
    const char *bytes = fy_log_bytes(log, ref, &size);
    if (!bytes) return false;
    if (f->type == TYPE_JSON && !fy_json_is_well_formed(bytes, size)) return false;
    key(out, f->name);
    if (f->type == TYPE_STR) {
        fy_text_json(out, bytes, size);
    } else if (f->type == TYPE_JSON) {
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

static bool print(const fy_log *log, fy_text *out, const field *f, const unsigned char *p)
{
    switch (f->type) {
    case TYPE_INT: number(out, f->name, AS(int64_t)); return true;
    case TYPE_OPT:
        if (AS(int64_t) != FY_ABSENT) number(out, f->name, AS(int64_t));
        return true;
    case TYPE_ID: id(out, f->name, AS(uint32_t)); return true;
    case TYPE_SEQ:
        if (AS(uint64_t)) number(out, f->name, (int64_t)(AS(uint64_t) - 1));
        return true;
    case TYPE_BOOL: key(out, f->name); fy_text_str(out, *p ? "true" : "false"); return true;
    case TYPE_FLAG:
        if (*p) key(out, f->name), fy_text_str(out, "true");
        return true;
    case TYPE_ADDR: address(out, f->name, AS(uint64_t)); return true;
    case TYPE_REAL: key(out, f->name); fy_text_real(out, AS(double)); return true;
    case TYPE_DEV: device(out, f->name, *p); return true;
    case TYPE_ENUM: return word(out, f->name, *p);
    case TYPE_DIM3: dim3(out, f->name, p); return true;
    case TYPE_SIDE: return side(out, f->name, AS(fy_side));
    default: return referred(log, out, f, AS(fy_ref));
    }
}

/* ---- one event ---- */

static void opening(fy_text *out, uint64_t seq, int64_t t, const char *kind, unsigned th)
{
    fy_text_add(out, "{", 1);
    number(out, "seq", (int64_t)seq);
    number(out, "t", t);
    quoted(out, "kind", kind);
    number(out, "th", th);
}

static bool text_field(const fy_log *log, fy_text *out, const char *name, fy_ref ref)
{
    return referred(log, out, &(field){.name = name, .type = TYPE_STR}, ref);
}

static bool place(const fy_log *log, fy_text *out, fy_ref site)
{
    fy_site_entry entry;
    size_t size;
    if (!site) return true;
    const void *bytes = fy_log_bytes(log, site, &size);
    if (!bytes || size != sizeof entry) return false;
    memcpy(&entry, bytes, sizeof entry);
    if (!text_field(log, out, "file", entry.file)) return false;
    number(out, "line", entry.line);
    return text_field(log, out, "fn", entry.fn);
}

static bool fields(const fy_log *log, fy_text *out, const struct kind *k, const unsigned char *record)
{
    for (const field *f = k->fields; f->name; f++)
        if (!print(log, out, f, record + f->offset)) return false;
    return true;
}

void fy_format_lost(uint64_t seq, fy_text *out)
{
    opening(out, seq, 0, "lost", 0);
    fy_text_add(out, "}\n", 2);
}

void fy_format(const fy_log *log, uint64_t seq, const fy_slot *slot, uint16_t kind, fy_text *out)
{
    size_t start = out->size;
    if (kind && kind < FY_KIND_COUNT) {
        const struct kind *k = &kinds[kind];
        opening(out, seq, slot->t, k->name, slot->th);
        unsigned char record[FY_RECORD_MOST];
        if (place(log, out, slot->site) && fy_log_record(log, seq, kind, record) && fields(log, out, k, record)) {
            fy_text_add(out, "}\n", 2);
            return;
        }
        out->size = start;
    }
    fy_format_lost(seq, out);
}

/* ---- the schema itself ---- */

static uint64_t mix(uint64_t hash, const char *s)
{
    do hash = (hash ^ (unsigned char)*s) * 1099511628211u;
    while (*s++);
    return hash;
}

uint64_t fy_layout_hash(void)
{
    uint64_t hash = 14695981039346656037u;
    for (int w = 0; w < FY_WORD_COUNT; w++) hash = mix(hash, words[w]);
    for (int k = 1; k < FY_KIND_COUNT; k++) {
        hash = mix(hash, kinds[k].name) ^ kinds[k].size;
        for (const field *f = kinds[k].fields; f->name; f++)
            hash = mix(mix(hash, f->name), f->type_name) ^ f->offset;
    }
    return hash;
}

void fy_schema_json(fy_text *out)
{
    fy_text_add(out, "{", 1);
    for (int k = 1; k < FY_KIND_COUNT; k++) {
        key(out, kinds[k].name);
        fy_text_add(out, "{", 1);
        quoted(out, "doc", kinds[k].doc);
        key(out, "fields");
        fy_text_add(out, "[", 1);
        for (const field *f = kinds[k].fields; f->name; f++) {
            fy_text_str(out, f == kinds[k].fields ? "{" : ",{");
            quoted(out, "name", f->name);
            quoted(out, "type", f->type_name);
            quoted(out, "doc", f->doc);
            fy_text_add(out, "}", 1);
        }
        fy_text_str(out, "]}");
    }
    fy_text_add(out, "}", 1);
}
