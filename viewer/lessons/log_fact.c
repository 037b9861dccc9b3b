/* log_fact.c: see log_fact.h. */
#include "log_fact.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "line_calls.h"
#include "log.h"
#include "memory.h"

enum { CONDITIONS = 6, WORD = 80, QUERY = WORD * (2 * CONDITIONS + 4) };

struct log_facts {
    cJSON **events;
    int count;
};

typedef struct query {
    char what[8], kind[24], field[WORD]; /* field "": none */
    char path[CONDITIONS][WORD], value[CONDITIONS][WORD];
    int conditions;
} query;

log_facts *log_facts_of(const char *lines, size_t size)
{
    log_facts *f = memory_zeroed(1, sizeof *f, "the facts of a run");
    line_calls calls = {0};
    for (const char *at = lines, *end = lines + size; at < end;) {
        const char *newline = memchr(at, '\n', (size_t)(end - at)), *stop = newline ? newline : end;
        cJSON *event = cJSON_ParseWithLength(at, (size_t)(stop - at));
        if (event) {
            line_calls_place(&calls, event);
            f->events = memory_realloc(f->events, (size_t)f->count + 1, sizeof *f->events, "the facts of a run");
            f->events[f->count++] = event;
        }
        at = stop + 1;
    }
    line_calls_free(&calls);
    return f;
}

void log_facts_free(log_facts *f)
{
    if (!f) return;
    for (int i = 0; i < f->count; i++) cJSON_Delete(f->events[i]);
    free(f->events);
    free(f);
}

/* ---- the query ---- */

/* "copy.src.device" from "copy"; false if a word is too long. */
static bool read_word(const char **at, char *out, const char *until)
{
    size_t n = strcspn(*at, until);
    if (n >= WORD) return false;
    memcpy(out, *at, n);
    out[n] = '\0';
    *at += n;
    return true;
}

static bool read_query(query *q, const char *text)
{
    char what[WORD], kind[WORD];
    *q = (query){0};
    if (!read_word(&text, what, " ") || strlen(what) >= sizeof q->what || !*text++) return false;
    if (!read_word(&text, kind, " .") || strlen(kind) >= sizeof q->kind) return false;
    if (*text == '.' && (text++, !read_word(&text, q->field, " "))) return false;
    strcpy(q->what, what);
    strcpy(q->kind, kind);
    while (*text == ' ') {
        text++;
        if (q->conditions == CONDITIONS || !read_word(&text, q->path[q->conditions], "= ") || *text++ != '=')
            return false;
        if (!read_word(&text, q->value[q->conditions++], " ")) return false;
    }
    static const char *const known[] = {"count", "sum", "max", "first", "last"};
    bool is_known = false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) is_known |= !strcmp(known[i], q->what);
    return is_known && *q->kind && (*q->field != '\0') == (strcmp(q->what, "count") != 0);
}

/* ---- the events ---- */

static const cJSON *field_of(const cJSON *event, const char *path)
{
    char name[WORD];
    for (const char *at = path; event && *at; at += *at == '.') {
        if (!read_word(&at, name, ".")) return NULL;
        event = cJSON_IsArray(event) ? cJSON_GetArrayItem(event, atoi(name))
                                     : cJSON_GetObjectItemCaseSensitive(event, name);
    }
    return event;
}

static void value_text(const cJSON *value, char out[WORD])
{
    if (cJSON_IsString(value)) snprintf(out, WORD, "%s", value->valuestring);
    else if (cJSON_IsBool(value)) snprintf(out, WORD, "%s", cJSON_IsTrue(value) ? "true" : "false");
    else if (cJSON_IsNumber(value)) snprintf(out, WORD, "%.15g", value->valuedouble);
    else *out = '\0';
}

static bool has_text(const cJSON *event, const char *path, const char *text)
{
    char have[WORD];
    value_text(field_of(event, path), have);
    return !strcmp(have, text);
}

/* Does a tensor of this name have the id? key: "tensor" or "storage". */
static bool is_named(const log_facts *f, const char *key, double id, const char *name)
{
    for (int i = 0; i < f->count; i++) {
        const cJSON *e = f->events[i], *its = field_of(e, key);
        bool names = has_text(e, "kind", "tensor") || has_text(e, "kind", "name");
        if (names && has_text(e, "name", name) && cJSON_IsNumber(its) &&
            !(its->valuedouble < id || its->valuedouble > id))
            return true;
    }
    return false;
}

static bool fits(const log_facts *f, const query *q, const cJSON *event)
{
    if (!has_text(event, "kind", q->kind)) return false;
    for (int i = 0; i < q->conditions; i++) {
        const char *dot = strrchr(q->path[i], '.'), *last = dot ? dot + 1 : q->path[i];
        const cJSON *value = field_of(event, q->path[i]);
        bool is_id = cJSON_IsNumber(value) && (!strcmp(last, "storage") || !strcmp(last, "tensor"));
        bool same =
            has_text(event, q->path[i], q->value[i]) || (is_id && is_named(f, last, value->valuedouble, q->value[i]));
        if (!same) return false;
    }
    return true;
}

/* Of "A / B" the one before it; returns B, or NULL: it is one query. */
static const char *split_query(const char *text, char first[QUERY])
{
    const char *by = strstr(text, " / ");
    snprintf(first, QUERY, "%.*s", by ? (int)(by - text) : (int)strlen(text), text);
    return by ? by + strlen(" / ") : NULL;
}

static void explain_query(const char *text, char *err, size_t room)
{
    snprintf(err, room, "'%.100s' is no query; write it like: count copy dir=h2d, or: first alloc.bytes storage=x",
             text);
}

/* ---- the schema ---- */

/* Does a value of this type of the schema have what follows in a path: an index, a part, or nothing? */
static bool fits_type(const char *type, const char *rest)
{
    static const char *const parts[] = {"tensor", "storage", "device", "mem", "addr", "version"};
    bool is_list = !strcmp(type, "DIMS") || !strcmp(type, "IDS") || !strcmp(type, "NUMS") || !strcmp(type, "DIM3"),
         is_uses = !strcmp(type, "REFS");
    size_t digits = strspn(rest, "0123456789");
    if (!strcmp(type, "JSON")) return true;
    if (is_list) return digits && !rest[digits];
    if (is_uses && (!digits || rest[digits] != '.')) return false;
    if (is_uses) rest += digits + 1;
    if (!is_uses && strcmp(type, "SIDE") != 0) return !*rest;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strcmp(parts[i], rest)) return true;
    return false;
}

/* path: "dir", "src.device", "in.0.storage", or what every event has. */
static bool has_field(const cJSON *kind, const char *path)
{
    static const char *const common[] = {"line", "t", "fn", "seq", "file", "th"};
    char name[WORD];
    const char *rest = path;
    const cJSON *field;
    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (!strcmp(common[i], path)) return true;
    if (!read_word(&rest, name, ".")) return false;
    rest += *rest == '.';
    cJSON_ArrayForEach(field, cJSON_GetObjectItemCaseSensitive(kind, "fields"))
    {
        const char *is = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(field, "name")),
                   *type = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(field, "type"));
        if (is && type && !strcmp(is, name)) return fits_type(type, rest);
    }
    return false;
}

static bool are_in_schema(const query *q, const cJSON *schema, char *err, size_t room)
{
    const cJSON *kind = cJSON_GetObjectItemCaseSensitive(schema, q->kind);
    const char *unknown = *q->field && !has_field(kind, q->field) ? q->field : NULL;
    for (int i = 0; i < q->conditions && !unknown; i++)
        if (!has_field(kind, q->path[i])) unknown = q->path[i];
    if (!kind) snprintf(err, room, "there is no kind of event '%s': `ferry schema` lists them", q->kind);
    else if (unknown)
        snprintf(err, room, "an event of the kind %s has no '%s': `ferry schema` lists its fields", q->kind, unknown);
    return kind && !unknown;
}

static bool is_one_known(const char *text, char *err, size_t room)
{
    query q;
    fy_text lines = {0};
    if (!read_query(&q, text)) {
        explain_query(text, err, room);
        return false;
    }
    fy_schema_json(&lines);
    cJSON *schema = lines.lost ? NULL : cJSON_ParseWithLength(lines.data, lines.size);
    if (!schema) memory_fail("the schema");
    bool known = are_in_schema(&q, schema, err, room);
    cJSON_Delete(schema);
    free(lines.data);
    return known;
}

bool log_fact_is_known(const char *text, char *err, size_t room)
{
    char first[QUERY];
    const char *second = split_query(text, first);
    return is_one_known(first, err, room) && (!second || is_one_known(second, err, room));
}

/* ---- the answer ---- */

static bool answer_one(const log_facts *f, const char *text, char *out, size_t room, char *err, size_t err_room)
{
    query q;
    double sum = 0, max = 0;
    int count = 0;
    char word[WORD] = "";
    if (!read_query(&q, text)) {
        explain_query(text, err, err_room);
        return false;
    }
    for (int i = 0; i < f->count; i++) {
        if (!fits(f, &q, f->events[i])) continue;
        const cJSON *value = *q.field ? field_of(f->events[i], q.field) : NULL;
        double number = cJSON_IsNumber(value) ? value->valuedouble : 0;
        sum += number;
        if (!count || number > max) max = number;
        if (!count++ || !strcmp(q.what, "last")) value_text(value, word);
    }
    if (!strcmp(q.what, "count")) snprintf(out, room, "%d", count);
    else if (!strcmp(q.what, "sum")) snprintf(out, room, "%.15g", sum);
    else if (!strcmp(q.what, "max")) snprintf(out, room, "%.15g", max);
    else snprintf(out, room, "%s", word);
    return true;
}

static bool is_number(const char *text, double *x)
{
    char *end;
    *x = strtod(text, &end);
    return *text && !*end;
}

bool log_fact(const log_facts *f, const char *text, char *out, size_t room, char *err, size_t err_room)
{
    char first[QUERY], divisor[WORD];
    const char *second = split_query(text, first);
    if (!answer_one(f, first, out, room, err, err_room)) return false;
    if (!second) return true;
    if (!answer_one(f, second, divisor, sizeof divisor, err, err_room)) return false;
    double of, by;
    if (is_number(out, &of) && is_number(divisor, &by) && by > 0) snprintf(out, room, "%.0f", round(of / by));
    else *out = '\0';
    return true;
}

void log_fact_lines(const log_facts *f, const char *text, char *out, size_t room)
{
    enum { MOST = 8 };
    query q, other;
    char first[QUERY];
    const char *second = split_query(text, first);
    const bool one = read_query(&q, first), two = second && read_query(&other, second);
    size_t n = 0;
    int listed = 0;
    *out = '\0';
    for (int i = 0; one && i < f->count && listed <= MOST && n < room; i++) {
        const bool asked = fits(f, &q, f->events[i]) || (two && fits(f, &other, f->events[i]));
        const cJSON *line = asked ? field_of(f->events[i], "line") : NULL;
        if (!cJSON_IsNumber(line)) continue;
        if (++listed > MOST) n += (size_t)snprintf(out + n, room - n, " ...");
        else n += (size_t)snprintf(out + n, room - n, "%s%d", n ? ", " : "", line->valueint);
    }
}
