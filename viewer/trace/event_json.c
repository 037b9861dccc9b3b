/* event_json.c: parses a line's fields into the kind's record by the schema's table. Words become numbers; strings and
 * lists go into the arena. Each value is validated as it is read; the first error is kept, and parsing continues. */
#include "event_json.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json_scan.h"
#include "log_format.h"
#include "record_fields.h"

/* ---- values: parsed and validated ------------------------------------------------------------------------------ */

static const double exact = 9007199254740992.0; /* 2^53; doubles represent all integers up to it */

static bool is_whole(json v, double least, double most, double *n)
{
    if (!json_is_number(v)) return false;
    *n = json_number(v);
    return *n >= least && *n <= most && *n == floor(*n);
}

static bool read_integer(json v, double least, int64_t *to)
{
    double n = 0;
    bool ok = is_whole(v, -exact, exact, &n);
    *to = ok ? (int64_t)n : FY_ABSENT;
    return ok && n >= least;
}

static bool read_count(json v, double least, uint32_t *to)
{
    double n = 0;
    bool ok = is_whole(v, least, UINT32_MAX, &n);
    *to = ok ? (uint32_t)n : 0;
    return ok;
}

static bool read_seq(json v, uint64_t *to)
{
    int64_t n;
    bool ok = read_integer(v, 0, &n);
    *to = ok ? (uint64_t)n + 1 : 0;
    return ok;
}

static bool read_real(json v, double *to)
{
    static const struct {
        const char *word;
        double is;
    } words[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
    *to = NAN;
    if (json_type(v) == '"')
        for (size_t i = 0; i < 3; i++)
            if (json_is(v, words[i].word)) return *to = words[i].is, true;
    if (json_is_number(v)) *to = json_number(v);
    return json_is_number(v);
}

/* A string's content: in the line itself, or unescaped in the arena's scratch buffer. */
static bool read_text(event_arena *a, json v, fy_bytes *to)
{
    *to = (fy_bytes){"", 0};
    if (json_type(v) != '"') return false;
    if (!json_has_escapes(v)) return *to = (fy_bytes){v.at + 1, v.size - 2}, true;
    char *text = event_arena_scratch(a, v.size);
    size_t n;
    if (!json_unescape(v, text, &n)) return false;
    *to = (fy_bytes){text, strnlen(text, n)};
    return true;
}

static bool is(fy_bytes text, const char *word)
{
    return text.size == strlen(word) && !memcmp(text.data, word, text.size);
}

static bool starts(fy_bytes text, const char *with)
{
    return text.size >= strlen(with) && !memcmp(text.data, with, strlen(with));
}

static bool read_address(event_arena *a, json v, uint64_t *to)
{
    fy_bytes text;
    *to = 0;
    if (!read_text(a, v, &text) || !starts(text, "0x") || text.size == 2 || text.size > 18) return false;
    for (size_t i = 2; i < text.size; i++) {
        const char *digits = "0123456789abcdef", *at = strchr(digits, text.data[i]);
        if (!at) return *to = 0, false;
        *to = *to << 4 | (uint64_t)(at - digits);
    }
    return true;
}

/* One of Ferry's, or of the session's. */
static bool read_device(event_arena *a, json v, uint8_t *to)
{
    fy_bytes text;
    *to = FY_NO_DEVICE;
    if (!read_text(a, v, &text)) return false;
    if (is(text, "cpu")) return *to = 0, true;
    int place = event_arena_device(a, text);
    if (place >= 0) return *to = (uint8_t)place, true;
    if (!starts(text, "cuda:") || text.size == 5 || text.size > 8) return false;
    unsigned n = 0;
    for (size_t i = 5; i < text.size; n = 10 * n + (unsigned)(text.data[i++] - '0'))
        if (text.data[i] < '0' || text.data[i] > '9') return false;
    if (n < FY_NO_DEVICE - 1) *to = (uint8_t)(n + 1);
    return true;
}

static bool read_word(event_arena *a, json v, uint8_t *to)
{
    fy_bytes text;
    *to = FY_WORD_none;
    if (!read_text(a, v, &text) || !text.size) return false;
    for (unsigned i = 1; i < FY_WORD_COUNT; i++)
        if (*text.data == *fy_word_name(i) && is(text, fy_word_name(i))) return *to = (uint8_t)i, true;
    return false;
}

/* ---- objects and lists ------------------------------------------------------------------------------------------- */

/* The state of parsing one object. */
typedef struct reading {
    event_arena *a;
    fy_event *e;      /* NULL: a nested object */
    unsigned common;  /* bit set: which common fields have been seen */
    fy_bytes name;    /* of the first invalid field */
    const char *what; /* the error; NULL: none */
} reading;

static void set_error(reading *r, fy_bytes name, const char *what)
{
    if (!r->what) r->name = name, r->what = what;
}

static fy_bytes bare(json key) { return (fy_bytes){key.at + 1, key.size - 2}; }
static fy_bytes named(const char *name) { return (fy_bytes){name, strlen(name)}; }

/* Types of this file only: a count that is required, and calls. */
#define VERSION ((fy_type)(FY_TYPE_SIDE + 1))
#define CALLS_OF ((fy_type)(FY_TYPE_SIDE + 2))

static const fy_field use_fields[] = {
    {"tensor", "", "", FY_TYPE_ID, offsetof(fy_use, tensor)},
    {"storage", "", "", FY_TYPE_ID, offsetof(fy_use, storage)},
    {"version", "", "", VERSION, offsetof(fy_use, version)},
    {0},
};
static const fy_field side_fields[] = {
    {"tensor", "", "", FY_TYPE_ID, offsetof(fy_side, tensor)},
    {"storage", "", "", FY_TYPE_ID, offsetof(fy_side, storage)},
    {"device", "", "", FY_TYPE_DEV, offsetof(fy_side, device)},
    {"mem", "", "", FY_TYPE_ENUM, offsetof(fy_side, mem)},
    {"addr", "", "", FY_TYPE_ADDR, offsetof(fy_side, addr)},
    {"version", "", "", VERSION, offsetof(fy_side, version)},
    {0},
};

static const char *requirement(unsigned type)
{
    static const char *const rules[] = {
        [FY_TYPE_INT] = "must be an integer",
        [FY_TYPE_OPT] = "must be an integer",
        [FY_TYPE_ID] = "must be a number from 1",
        [FY_TYPE_SEQ] = "must be the seq of an event",
        [FY_TYPE_BOOL] = "must be true or false",
        [FY_TYPE_FLAG] = "must be true or absent",
        [FY_TYPE_ADDR] = "must be an address, \"0x...\"",
        [FY_TYPE_REAL] = "must be a number, \"nan\", \"inf\" or \"-inf\"",
        [FY_TYPE_DEV] = "must be a device, \"cpu\" or \"cuda:0\"",
        [FY_TYPE_ENUM] = "must be a word of the schema; `ferry schema` lists them",
        [FY_TYPE_STR] = "must be a string",
        [FY_TYPE_DIMS] = "must be a list of integers",
        [FY_TYPE_IDS] = "must be a list of numbers",
        [FY_TYPE_NUMS] = "must be a list of numbers, \"nan\", \"inf\" or \"-inf\"",
        [FY_TYPE_REFS] = "must be a list of {tensor, storage, version}",
        [FY_TYPE_JSON] = "must be a list or an object",
        [FY_TYPE_DIM3] = "must be three numbers",
        [FY_TYPE_SIDE] = "must be {tensor, storage, device, mem, addr, version}",
        [VERSION] = "must be an integer from 0",
        [CALLS_OF] = "must be a list of calls: {id, in, region, name, args, file, line, fn}",
    };
    return rules[type];
}

static bool read_value(event_arena *a, unsigned type, json v, unsigned char *to);

/* The index of a field, searched from `from` on because lines are written in the table's order; -1: none. */
static int field_named(const fy_field *fields, json key, int from)
{
    for (int i = from; fields[i].name; i++)
        if (json_is(key, fields[i].name)) return i;
    for (int i = 0; i < from; i++)
        if (json_is(key, fields[i].name)) return i;
    return -1;
}

static bool read_common(reading *r, json key, json v);

/* What others add to an event is theirs: its line keeps it. */
static bool is_own_field(json key)
{
    fy_bytes name = bare(key);
    return name.size > 2 && !memcmp(name.data, "x_", 2);
}

/* Parses an object that may have only these fields, each once; of a repeated field the first counts. */
static void read_object(reading *r, const fy_field *fields, json object, unsigned char *to)
{
    json key, item;
    uint64_t seen = 0;
    for (int i, next = 0; json_next(&object, &key, &item);) {
        if ((i = field_named(fields, key, next)) < 0) {
            bool is_known = is_own_field(key) || (r->e && read_common(r, key, item));
            if (!is_known) set_error(r, bare(key), "is not in the schema");
            continue;
        }
        next = fields[i + 1].name ? i + 1 : 0;
        if (seen >> i & 1) set_error(r, bare(key), "occurs twice");
        else if (!read_value(r->a, fields[i].type, item, to + fields[i].offset))
            set_error(r, bare(key), requirement(fields[i].type));
        seen |= (uint64_t)1 << i;
    }
    for (int i = 0; fields[i].name; i++) {
        unsigned type = fields[i].type;
        bool required = type == FY_TYPE_INT || type == FY_TYPE_BOOL || type == FY_TYPE_REAL || type == VERSION;
        if (required && !(seen >> i & 1)) set_error(r, named(fields[i].name), "is missing");
    }
}

static bool read_parts(event_arena *a, const fy_field *fields, json object, void *to)
{
    reading r = {.a = a};
    if (json_type(object) != '{') return false;
    read_object(&r, fields, object, to);
    return !r.what;
}

static bool read_element(event_arena *a, fy_type type, json v, unsigned char *to)
{
    union {
        int64_t dim;
        uint32_t id;
        double num;
        fy_use use;
    } is = {0};
    bool ok = type == FY_TYPE_DIMS   ? read_integer(v, -exact, &is.dim)
              : type == FY_TYPE_IDS  ? read_count(v, 0, &is.id)
              : type == FY_TYPE_NUMS ? read_real(v, &is.num)
                                     : read_parts(a, use_fields, v, &is.use);
    memcpy(to, &is, fy_element_size(type));
    return ok;
}

static bool read_list(event_arena *a, fy_type type, json v, fy_ref *to)
{
    size_t step = fy_element_size(type), size = 0;
    bool ok = json_type(v) == '[';
    *to = 0;
    if (!ok) return false;
    unsigned char *all = (unsigned char *)event_arena_scratch(a, json_count(v) * step);
    for (json item; json_next(&v, NULL, &item); size += step) ok &= read_element(a, type, item, all + size);
    *to = event_arena_put(a, all, size);
    return ok;
}

static bool read_dim3(json v, unsigned char *to)
{
    uint32_t n[3] = {0};
    bool ok = json_type(v) == '[';
    int k = 0;
    for (json item; json_type(v) && json_type(v) != '{' && json_next(&v, NULL, &item); k++)
        ok &= k < 3 && read_count(item, 0, &n[k]);
    memcpy(to, n, sizeof n);
    return ok && k == 3;
}

static bool read_string(event_arena *a, json v, fy_ref *to)
{
    fy_bytes text;
    bool ok = read_text(a, v, &text);
    *to = ok ? event_arena_put(a, text.data, text.size) : 0;
    return ok;
}

static bool read_json(event_arena *a, json v, fy_ref *to)
{
    bool ok = json_type(v) == '[' || json_type(v) == '{';
    *to = ok ? event_arena_put(a, v.at, v.size) : 0;
    return ok;
}

#define READ(type_, call) \
    { \
        type_ n; \
        bool ok = call; \
        memcpy(to, &n, sizeof n); \
        return ok; \
    }

static bool read_value(event_arena *a, unsigned type, json v, unsigned char *to)
{
    switch (type) {
    case FY_TYPE_INT:
    case FY_TYPE_OPT: READ(int64_t, read_integer(v, -exact, &n))
    case FY_TYPE_ID: READ(uint32_t, read_count(v, 1, &n))
    case VERSION: READ(uint32_t, read_count(v, 0, &n))
    case FY_TYPE_SEQ: READ(uint64_t, read_seq(v, &n))
    case FY_TYPE_BOOL: *to = json_type(v) == 't'; return *to || json_type(v) == 'f';
    case FY_TYPE_FLAG: return (*to = json_type(v) == 't');
    case FY_TYPE_ADDR: READ(uint64_t, read_address(a, v, &n))
    case FY_TYPE_REAL: READ(double, read_real(v, &n))
    case FY_TYPE_DEV: return read_device(a, v, to);
    case FY_TYPE_ENUM: return read_word(a, v, to);
    case FY_TYPE_STR: READ(fy_ref, read_string(a, v, &n))
    case FY_TYPE_JSON: READ(fy_ref, read_json(a, v, &n))
    case FY_TYPE_DIM3: return read_dim3(v, to);
    case FY_TYPE_SIDE: {
        fy_side n = {.device = FY_NO_DEVICE};
        bool ok = read_parts(a, side_fields, v, &n);
        memcpy(to, &n, sizeof n);
        return ok;
    }
    default: READ(fy_ref, read_list(a, (fy_type)type, v, &n))
    }
}

/* ---- one event --------------------------------------------------------------------------------------------------- */

/* Sets all fields to absent. */
static void set_absent(const fy_field *f, unsigned char *record)
{
    for (; f->name; f++) {
        unsigned char *to = record + f->offset;
        if (f->type == FY_TYPE_INT || f->type == FY_TYPE_OPT) memcpy(to, &(int64_t){FY_ABSENT}, sizeof(int64_t));
        if (f->type == FY_TYPE_REAL) memcpy(to, &(double){NAN}, sizeof(double));
        if (f->type == FY_TYPE_DEV) *to = FY_NO_DEVICE;
        if (f->type == FY_TYPE_SIDE) to[offsetof(fy_side, device)] = FY_NO_DEVICE;
    }
}

/* ---- calls ------------------------------------------------------------------------------------------------------- */

/* A call as its JSON has it. What is left out is the parent's: the call site, or its parts. */
typedef struct told_call {
    uint32_t id, in, of;
    int64_t th, number, turns, line;
    fy_ref name, args, file, fn;
    uint8_t region;
} told_call;

static bool read_call_field(event_arena *a, told_call *c, json key, json v)
{
    if (json_is(key, "id")) return read_count(v, 1, &c->id);
    if (json_is(key, "in")) return read_count(v, 1, &c->in);
    if (json_is(key, "th")) return read_integer(v, 0, &c->th);
    if (json_is(key, "region")) return read_word(a, v, &c->region);
    if (json_is(key, "name")) return read_string(a, v, &c->name);
    if (json_is(key, "args")) return read_string(a, v, &c->args);
    if (json_is(key, "file")) return read_string(a, v, &c->file);
    if (json_is(key, "line")) return read_integer(v, 0, &c->line) && c->line <= UINT32_MAX;
    if (json_is(key, "fn")) return read_string(a, v, &c->fn);
    if (json_is(key, "stack")) return json_type(v) == '['; /* the call sites outside of it: for who draws them */
    if (json_is(key, "turns")) return read_integer(v, -exact, &c->turns);
    if (json_is(key, "of")) return read_count(v, 1, &c->of);
    static const char *const numbers[] = {"turn", "node", "batch", "item"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (json_is(key, numbers[i])) return read_integer(v, -exact, &c->number);
    return false;
}

static fy_ref site_of(event_arena *a, const told_call *c, fy_ref parents)
{
    fy_site_entry site = {.file = c->file, .fn = c->fn, .line = (uint32_t)c->line, .call = c->name, .args = c->args};
    return c->file ? event_arena_put(a, &site, sizeof site) : parents;
}

/* Its name is its own where it has its parent's call site; else it is what the site has. */
static void add_call(event_arena *a, const told_call *c, unsigned th)
{
    const fy_log *log = event_arena_log(a);
    fy_call_entry parent = {0}, call = {.id = c->id,
                                        .parent = c->in ? event_arena_call(a, c->in) : 0,
                                        .th = (uint16_t)(c->th >= 0 ? c->th : th),
                                        .region = c->region,
                                        .number = c->number,
                                        .of = c->turns};
    if (call.parent) fy_log_call(log, call.parent, &parent);
    call.site = site_of(a, c, parent.site);
    if (!c->file) call.name = c->name;
    if (c->of) call.of = event_arena_call(a, c->of);
    event_arena_add_call(a, &call);
}

static bool read_calls(event_arena *a, json list, unsigned th)
{
    bool ok = json_type(list) == '[';
    event_arena_keep_begin(a);
    for (json one, key, item; ok && json_next(&list, NULL, &one);) {
        told_call c = {.th = -1, .number = FY_ABSENT, .turns = FY_ABSENT};
        ok = json_type(one) == '{';
        while (ok && json_next(&one, &key, &item)) ok = read_call_field(a, &c, key, item);
        ok = ok && c.id;
        if (ok) add_call(a, &c, th);
    }
    event_arena_keep_end(a);
    return ok;
}

enum { SEQ, TIME, KIND, THREAD, CALLS, CALL };
static const char *const common[] = {"seq", "t", "kind", "th", "calls", "call"};

/* Parses a field that all events have. false: it is none of those. */
static bool read_common(reading *r, json key, json v)
{
    static const uint8_t types[] = {VERSION, FY_TYPE_INT, FY_TYPE_STR, VERSION, CALLS_OF, FY_TYPE_ID};
    fy_event *e = r->e;
    uint32_t call = 0;
    int64_t n = 0;
    bool ok = true;
    unsigned i = 0;
    while (i <= CALL && !json_is(key, common[i])) i++;
    if (i > CALL) return false;
    if (r->common & 1u << i) return set_error(r, bare(key), "occurs twice"), true;
    r->common |= 1u << i;
    if (i == CALLS) ok = read_calls(r->a, v, e->th);
    else if (i == CALL) ok = read_count(v, 1, &call);
    else if (i != KIND) ok = read_integer(v, i == SEQ || i == THREAD ? 0 : -exact, &n);
    if (i == SEQ) e->seq = (uint64_t)(n == FY_ABSENT ? -1 : n);
    if (i == TIME && n != FY_ABSENT) e->t = n;
    if (i == THREAD && n >= 0 && n <= UINT16_MAX) e->th = (uint16_t)n;
    if (i == CALL) e->call = event_arena_call(r->a, call);
    if (!ok) set_error(r, bare(key), requirement(types[i]));
    return true;
}

static uint8_t kind_named(fy_bytes name)
{
    for (unsigned k = 1; name.size && k < FY_KIND_COUNT; k++)
        if (*name.data == *fy_kind_name(k) && is(name, fy_kind_name(k))) return (uint8_t)k;
    return FY_KIND_unpublished;
}

/* Devices of kinds that Ferry does not make: later events name them. */
static void add_devices(event_arena *a, const fy_event *e)
{
    fy_bytes list = fy_event_bytes(e, e->is.session.devices), name;
    json all = json_of(list.data, list.size), one;
    for (int place = 0; list.size && place < FY_NO_DEVICE && json_next(&all, NULL, &one); place++) {
        bool is_named = json_type(one) == '{' && read_text(a, json_member(one, "name"), &name) && name.size;
        if (is_named && place && !is(name, "cpu") && !starts(name, "cuda:")) event_arena_add_device(a, name, place);
    }
}

line_says event_of_line(event_arena *a, const char *line, size_t size, fy_event *e, char *wrong, size_t room)
{
    *wrong = 0;
    *e = (fy_event){.log = event_arena_log(a), .seq = UINT64_MAX};
    while (size && strchr(" \t\r\n", line[size - 1])) size--;
    if (!fy_json_is_well_formed(line, size)) return snprintf(wrong, room, "this is not JSON"), LINE_NO_JSON;
    json object = json_of(line, size);
    if (json_type(object) != '{') return snprintf(wrong, room, "this is not a JSON object"), LINE_NO_OBJECT;

    fy_bytes kind;
    reading r = {.a = a, .e = e};
    if (!read_text(a, json_member(object, "kind"), &kind)) kind = (fy_bytes){NULL, 0};
    e->kind = kind_named(kind);
    if (!e->kind) { /* only the common fields are parsed */
        if (!kind.data) snprintf(wrong, room, "an event must be an object with a \"kind\"");
        else
            snprintf(wrong, room, "there is no kind of event \"%.*s\"; `ferry schema` lists them",
                     kind.size < 60 ? (int)kind.size : 60, kind.data);
        for (json key, item; json_next(&object, &key, &item);) read_common(&r, key, item);
        return LINE_NO_EVENT;
    }

    set_absent(fy_kind_fields(e->kind), (unsigned char *)&e->is);
    read_object(&r, fy_kind_fields(e->kind), object, (unsigned char *)&e->is);
    if (e->kind == FY_KIND_session) add_devices(a, e);
    fy_event_set_call(e, e->call);
    for (unsigned i = SEQ; i <= THREAD; i++)
        if (!(r.common & 1u << i)) set_error(&r, named(common[i]), "is missing");
    if (!r.what) return LINE_EVENT;
    snprintf(wrong, room, "%s: \"%.*s\" %s", fy_kind_name(e->kind), r.name.size < 80 ? (int)r.name.size : 80,
             r.name.data, r.what);
    return LINE_LOOSE;
}
