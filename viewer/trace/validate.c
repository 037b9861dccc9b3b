/* validate.c: does an event follow the schema? Which fields a kind has, and what they hold, comes from
 * the same table as the formatter: lib/trace/schema.h. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "event.h"
#include "trace.h"

typedef bool (*judge)(const cJSON *v);

typedef struct field {
    const char *name, *wants;
    judge holds;
    bool always; /* is it there in every event of the kind? */
} field;

/* ---- what a value may be ---- */

static bool is_int(const cJSON *v)
{
    return cJSON_IsNumber(v) && v->valuedouble == floor(v->valuedouble) && fabs(v->valuedouble) <= 9007199254740992.0;
}

static bool is_count(const cJSON *v) { return is_int(v) && v->valuedouble >= 0; }
static bool is_id(const cJSON *v) { return is_int(v) && v->valuedouble >= 1 && v->valuedouble <= UINT32_MAX; }
static bool is_bool(const cJSON *v) { return cJSON_IsBool(v); }
static bool is_true(const cJSON *v) { return cJSON_IsTrue(v); }
static bool is_text(const cJSON *v) { return cJSON_IsString(v); }
static bool is_json(const cJSON *v) { return cJSON_IsArray(v) || cJSON_IsObject(v); }

static bool is_one_of(const cJSON *v, const char *const *words)
{
    if (!cJSON_IsString(v)) return false;
    while (*words && strcmp(*words, v->valuestring)) words++;
    return *words;
}

static bool is_real(const cJSON *v)
{
    return cJSON_IsNumber(v) || is_one_of(v, (const char *const[]){"nan", "inf", "-inf", NULL});
}

static bool is_word(const cJSON *v)
{
#define W(word) #word,
    return is_one_of(v, (const char *const[]){FY_WORDS(W) NULL}) && strcmp(v->valuestring, "none");
#undef W
}

static bool is_address(const cJSON *v)
{
    if (!cJSON_IsString(v) || strncmp(v->valuestring, "0x", 2)) return false;
    size_t digits = strspn(v->valuestring + 2, "0123456789abcdef");
    return digits && digits <= 16 && !v->valuestring[2 + digits];
}

static bool is_device(const cJSON *v)
{
    if (!cJSON_IsString(v)) return false;
    if (!strcmp(v->valuestring, "cpu")) return true;
    if (strncmp(v->valuestring, "cuda:", 5)) return false;
    size_t digits = strspn(v->valuestring + 5, "0123456789");
    return digits && digits <= 3 && !v->valuestring[5 + digits];
}

static bool is_array(const cJSON *v, judge item)
{
    const cJSON *i;
    if (!cJSON_IsArray(v)) return false;
    cJSON_ArrayForEach(i, v)
        if (!item(i)) return false;
    return true;
}

static bool is_dims(const cJSON *v) { return is_array(v, is_int); }
static bool is_ids(const cJSON *v) { return is_array(v, is_count); } /* storages, or seqs: 0 is one */
static bool is_nums(const cJSON *v) { return is_array(v, is_real); }
static bool is_dim3(const cJSON *v) { return is_array(v, is_count) && cJSON_GetArraySize(v) == 3; }

/* An object of these fields alone; those that are `always` are there. NULL, or what is wrong. */
static const char *fault(const cJSON *v, const field *fields, const char **name)
{
    const cJSON *i;
    cJSON_ArrayForEach(i, v) {
        const field *f = fields;
        *name = i->string;
        while (f->name && strcmp(f->name, i->string)) f++;
        if (!f->name) return "is not in the schema";
        if (!f->holds(i)) return f->wants;
        for (const cJSON *again = i->next; again; again = again->next)
            if (!strcmp(again->string, i->string)) return "is there twice";
    }
    for (const field *f = fields; f->name; f++) {
        *name = f->name;
        if (f->always && !cJSON_GetObjectItemCaseSensitive(v, f->name)) return "is missing";
    }
    return NULL;
}

static bool is_use(const cJSON *v)
{
    static const field parts[] = {
        {"tensor", "", is_id, false}, {"storage", "", is_id, false}, {"version", "", is_count, true}, {0}};
    const char *name;
    return cJSON_IsObject(v) && !fault(v, parts, &name);
}

static bool is_refs(const cJSON *v) { return is_array(v, is_use); }

static bool is_side(const cJSON *v)
{
    static const field parts[] = {{"tensor", "", is_id, false},     {"storage", "", is_id, false},
                                  {"device", "", is_device, false}, {"mem", "", is_word, false},
                                  {"addr", "", is_address, false},  {"version", "", is_count, true},
                                  {0}};
    const char *name;
    return cJSON_IsObject(v) && !fault(v, parts, &name);
}

/* ---- the table ---- */

#define RULE_INT "must be an integer", is_int, true
#define RULE_OPT "must be an integer", is_int, false
#define RULE_ID "must be a number from 1", is_id, false
#define RULE_SEQ "must be the seq of an event", is_count, false
#define RULE_BOOL "must be true or false", is_bool, true
#define RULE_FLAG "must be true, or left out", is_true, false
#define RULE_ADDR "must be an address, \"0x...\"", is_address, false
#define RULE_REAL "must be a number, \"nan\", \"inf\" or \"-inf\"", is_real, true
#define RULE_DEV "must be a device, \"cpu\" or \"cuda:0\"", is_device, false
#define RULE_ENUM "must be one of the schema's words", is_word, false
#define RULE_STR "must be a string", is_text, false
#define RULE_DIMS "must be a list of integers", is_dims, false
#define RULE_IDS "must be a list of numbers", is_ids, false
#define RULE_NUMS "must be a list of numbers, \"nan\", \"inf\" or \"-inf\"", is_nums, false
#define RULE_REFS "must be a list of {tensor, storage, version}", is_refs, false
#define RULE_JSON "must be a list or an object", is_json, false
#define RULE_DIM3 "must be three numbers", is_dim3, false
#define RULE_SIDE "must be {tensor, storage, device, mem, addr, version}", is_side, true

#define COMMON \
    {"seq", "must be an integer from 0", is_count, true}, {"t", RULE_INT}, {"kind", RULE_STR}, \
    {"th", "must be an integer from 0", is_count, true}, {"file", RULE_STR}, {"line", RULE_OPT}, {"fn", RULE_STR}

#define KIND(kind, doc) static const field fields_##kind[] = {COMMON,
#define FIELD(kind, type, name, doc) {#name, RULE_##type},
#define END(kind) {0}};
FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END

static const struct kind {
    const char *name;
    const field *fields;
} kinds[] = {
#define KIND(kind, doc) {#kind, fields_##kind},
#define FIELD(kind, type, name, doc)
#define END(kind)
    FY_SCHEMA(KIND, FIELD, END)
#undef KIND
#undef FIELD
#undef END
};

bool event_is_valid(const cJSON *e, char *err, size_t room)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(e, "kind");
    const char *name = "";
    if (!cJSON_IsObject(e) || !cJSON_IsString(kind)) {
        snprintf(err, room, "an event must be an object with a \"kind\"");
        return false;
    }
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        if (strcmp(kinds[k].name, kind->valuestring)) continue;
        const char *what = fault(e, kinds[k].fields, &name);
        if (what) snprintf(err, room, "%s: \"%s\" %s", kinds[k].name, name, what);
        return !what;
    }
    snprintf(err, room, "there is no kind of event \"%.60s\"; `ferry schema` lists them", kind->valuestring);
    return false;
}
