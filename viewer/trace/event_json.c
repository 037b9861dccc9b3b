/* event_json.c: a line's fields into the kind's record, by the schema's table: words become numbers, texts and lists go
 * into an arena that looks like a log's. */
#include "event_json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "log_format.h"
#include "memory.h"
#include "record_fields.h"

struct json_arena {
    fy_log log; /* of an arena alone */
    size_t used;
};

enum { UNIT = 8, FIRST = UNIT /* no entry has reference 0 */ };

/* References count units, and their last bit means something else. */
static const size_t most_bytes = (size_t)(FY_REF_PAIRED - 1) * UNIT;

json_arena *json_arena_make(void)
{
    json_arena *a = memory_zeroed(1, sizeof *a, "events");
    a->used = FIRST;
    return a;
}

void json_arena_empty(json_arena *a) { a->used = FIRST; }

void json_arena_free(json_arena *a)
{
    if (a) free(a->log.arena);
    free(a);
}

/* Room for an entry, which may move all others: nobody keeps a pointer into the arena while it is filled. */
static void *room_for(json_arena *a, size_t size, fy_ref *ref)
{
    size_t from = a->used, bytes = sizeof(fy_entry) + (size + UNIT - 1) / UNIT * UNIT;
    *ref = 0;
    if (size > UINT32_MAX - UNIT || bytes > most_bytes - from) return NULL;
    if (from + bytes > a->log.arena_bytes) {
        a->log.arena_bytes = 2 * (from + bytes);
        a->log.arena = memory_grown(a->log.arena, a->log.arena_bytes, 1, "events");
    }
    fy_entry entry = {(uint32_t)size, (uint32_t)size ^ FY_ENTRY_MARK};
    memcpy(a->log.arena + from, &entry, sizeof entry);
    a->used = from + bytes;
    *ref = (fy_ref)(from / UNIT);
    return a->log.arena + from + sizeof entry;
}

static fy_ref bytes_into(json_arena *a, const char *bytes, size_t size)
{
    fy_ref ref;
    void *to = room_for(a, size, &ref);
    if (to) memcpy(to, bytes, size);
    return ref;
}

/* ---- values ---- */

static bool is_whole(const cJSON *v, double least, double most)
{
    return cJSON_IsNumber(v) && v->valuedouble >= least && v->valuedouble <= most &&
           v->valuedouble == floor(v->valuedouble);
}

static int64_t integer(const cJSON *v)
{
    double most = 9007199254740992.0; /* 2^53; beyond it a double is not every integer */
    return is_whole(v, -most, most) ? (int64_t)v->valuedouble : FY_ABSENT;
}

static uint32_t count(const cJSON *v) { return is_whole(v, 0, UINT32_MAX) ? (uint32_t)v->valuedouble : 0; }

static uint64_t seq_plus_one(const cJSON *v)
{
    int64_t n = integer(v);
    return n < 0 ? 0 : (uint64_t)n + 1;
}

static double real(const cJSON *v)
{
    if (cJSON_IsNumber(v)) return v->valuedouble;
    if (!cJSON_IsString(v)) return NAN;
    return !strcmp(v->valuestring, "inf") ? INFINITY : !strcmp(v->valuestring, "-inf") ? -INFINITY : NAN;
}

static uint64_t address(const cJSON *v) { return cJSON_IsString(v) ? strtoull(v->valuestring, NULL, 16) : 0; }

static uint8_t device(const cJSON *v)
{
    const char *name = cJSON_IsString(v) ? v->valuestring : "";
    if (!strcmp(name, "cpu")) return 0;
    if (strncmp(name, "cuda:", 5)) return FY_NO_DEVICE;
    char *end;
    unsigned long n = strtoul(name + 5, &end, 10);
    return name[5] && !*end && n < FY_NO_DEVICE - 1 ? (uint8_t)(n + 1) : FY_NO_DEVICE;
}

static uint8_t word(const cJSON *v)
{
    const char *s = cJSON_IsString(v) ? v->valuestring : "";
    for (unsigned i = 1; *s && i < FY_WORD_COUNT; i++)
        if (*s == *fy_word_name(i) && !strcmp(s, fy_word_name(i))) return (uint8_t)i;
    return FY_WORD_none;
}

static const cJSON *part(const cJSON *v, const char *name) { return cJSON_GetObjectItemCaseSensitive(v, name); }

static fy_use use(const cJSON *v)
{
    return (fy_use){count(part(v, "tensor")), count(part(v, "storage")), count(part(v, "version"))};
}

static fy_side side(const cJSON *v)
{
    return (fy_side){.addr = address(part(v, "addr")),
                     .tensor = count(part(v, "tensor")),
                     .storage = count(part(v, "storage")),
                     .version = count(part(v, "version")),
                     .device = device(part(v, "device")),
                     .mem = word(part(v, "mem"))};
}

/* ---- what goes into the arena ---- */

static fy_ref text(json_arena *a, const cJSON *v)
{
    return cJSON_IsString(v) ? bytes_into(a, v->valuestring, strlen(v->valuestring)) : 0;
}

static fy_ref json(json_arena *a, const cJSON *v)
{
    char *printed = cJSON_IsArray(v) || cJSON_IsObject(v) ? cJSON_PrintUnformatted(v) : NULL;
    fy_ref ref = printed ? bytes_into(a, printed, strlen(printed)) : 0;
    cJSON_free(printed);
    return ref;
}

static void put_element(fy_type type, const cJSON *v, unsigned char *to)
{
    switch (type) {
    case FY_TYPE_DIMS: memcpy(to, &(int64_t){integer(v)}, sizeof(int64_t)); return;
    case FY_TYPE_IDS: memcpy(to, &(uint32_t){count(v)}, sizeof(uint32_t)); return;
    case FY_TYPE_NUMS: memcpy(to, &(double){real(v)}, sizeof(double)); return;
    default: memcpy(to, &(fy_use[]){use(v)}, sizeof(fy_use));
    }
}

static fy_ref list(json_arena *a, fy_type type, const cJSON *v)
{
    fy_ref ref;
    size_t step = fy_element_size(type);
    if (!cJSON_IsArray(v)) return 0;
    unsigned char *to = room_for(a, (size_t)cJSON_GetArraySize(v) * step, &ref);
    for (const cJSON *i = v->child; to && i; i = i->next, to += step) put_element(type, i, to);
    return ref;
}

static void put_dim3(const cJSON *v, unsigned char *to)
{
    uint32_t n[3] = {0};
    const cJSON *i = cJSON_IsArray(v) ? v->child : NULL;
    for (int k = 0; i && k < 3; k++, i = i->next) n[k] = count(i);
    memcpy(to, n, sizeof n);
}

#define PUT(type, value) memcpy(to, &(type){value}, sizeof(type))

/* v is NULL where the line does not have the field. */
static void put_field(json_arena *a, fy_type type, const cJSON *v, unsigned char *to)
{
    switch (type) {
    case FY_TYPE_INT:
    case FY_TYPE_OPT: PUT(int64_t, integer(v)); return;
    case FY_TYPE_ID: PUT(uint32_t, count(v)); return;
    case FY_TYPE_SEQ: PUT(uint64_t, seq_plus_one(v)); return;
    case FY_TYPE_BOOL:
    case FY_TYPE_FLAG: *to = cJSON_IsTrue(v) != 0; return;
    case FY_TYPE_ADDR: PUT(uint64_t, address(v)); return;
    case FY_TYPE_REAL: PUT(double, real(v)); return;
    case FY_TYPE_DEV: *to = device(v); return;
    case FY_TYPE_ENUM: *to = word(v); return;
    case FY_TYPE_STR: PUT(fy_ref, text(a, v)); return;
    case FY_TYPE_JSON: PUT(fy_ref, json(a, v)); return;
    case FY_TYPE_DIM3: put_dim3(v, to); return;
    case FY_TYPE_SIDE: memcpy(to, &(fy_side[]){side(v)}, sizeof(fy_side)); return;
    default: PUT(fy_ref, list(a, type, v));
    }
}

/* ---- one event ---- */

static uint8_t kind_of(const cJSON *v)
{
    const char *s = cJSON_IsString(v) ? v->valuestring : "";
    for (unsigned k = 1; *s && k < FY_KIND_COUNT; k++)
        if (*s == *fy_kind_name(k) && !strcmp(s, fy_kind_name(k))) return (uint8_t)k;
    return FY_KIND_unpublished;
}

void event_of_json(json_arena *a, const cJSON *line, fy_event *e)
{
    *e = (fy_event){.log = &a->log, .kind = kind_of(part(line, "kind"))};
    int64_t seq = integer(part(line, "seq")), t = integer(part(line, "t"));
    uint32_t th = count(part(line, "th"));
    e->seq = seq < 0 ? 0 : (uint64_t)seq;
    e->t = t == FY_ABSENT ? 0 : t;
    e->th = th <= UINT16_MAX ? (uint16_t)th : 0;
    e->line = count(part(line, "line"));
    e->file = text(a, part(line, "file"));
    e->fn = text(a, part(line, "fn"));
    unsigned char *record = (unsigned char *)&e->is;
    const fy_field *f = fy_kind_fields(e->kind);
    for (; f && f->name; f++) put_field(a, f->type, part(line, f->name), record + f->offset);
}
