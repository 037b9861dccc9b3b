/* event_query.c: what a log shows: events by kind and field, inputs made again, answers, and the way of
 * the bytes between them. Nothing here believes the log more than it must: a field of the wrong type
 * reads as missing, a number out of range as -1. */
#include "grading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson_io.h"
#include "memory.h"
#include "misconceptions.h"

/* ---- events ----------------------------------------------------------------------------------- */

static bool has_field(const cJSON *e, const char *field, const char *value)
{
    if (!field || !value) return true;
    if (!strcmp(event_text(e, field), value)) return true;
    char number[32];
    snprintf(number, sizeof number, "%lld", (long long)event_int(e, field));
    return event_int(e, field) >= 0 && !strcmp(number, value);
}

const cJSON *next_event(const grading *g, const cJSON *last, const char *kind, const char *field, const char *value)
{
    for (int64_t i = last ? event_seq(last) + 1 : 0; i < g->run->count; i++) {
        const cJSON *e = g->run->events[i];
        if (!strcmp(event_kind(e), kind) && has_field(e, field, value)) return e;
    }
    return NULL;
}

const cJSON *find_event(const grading *g, const char *kind, const char *field, const char *value, int n)
{
    const cJSON *e = NULL;
    do e = next_event(g, e, kind, field, value);
    while (e && n-- > 0);
    return e;
}

int count_events(const grading *g, const char *kind, const char *field, const char *value)
{
    int n = 0;
    for (const cJSON *e = NULL; (e = next_event(g, e, kind, field, value));) n++;
    return n;
}

bool is_on_card(const char *device) { return !strncmp(device, "cuda", 4); }

const cJSON *storage_birth(const grading *g, int64_t storage)
{
    const cJSON *e = NULL;
    do e = next_event(g, e, "alloc", NULL, NULL);
    while (e && event_int(e, "storage") != storage);
    return e;
}

int64_t given_storage(const grading *g, const char *name)
{
    const cJSON *e = find_event(g, "given", "name", name, 0);
    return e ? event_int(e, "storage") : -1;
}

/* ---- inputs and answers ----------------------------------------------------------------------- */

/* A malformed or very large entry in the list of inputs counts as none: nothing is allocated for it. */
static int64_t count_of(int ndim, const int64_t *shape)
{
    int64_t n = 1;
    for (int i = 0; i < ndim; i++) {
        if (shape[i] < 0 || shape[i] > 1 << 24) return -1;
        n *= shape[i];
        if (n > 1 << 24) return -1;
    }
    return n;
}

grade_array grade_given(grading *g, const char *name)
{
    grade_array a = {.dtype = "", .device = "cpu", .event = find_event(g, "given", "name", name, 0)};
    fy_dtype dtype;
    fy_shape shape;
    if (!g->given || !fy_given_spec(g->given, name, &dtype, &shape)) return a;
    int64_t n = count_of(shape.ndim, shape.dims);
    if (n < 0) return a;
    double *data = grade_numbers(g, n);
    fy_given_values(g->seed, name, dtype, n, data);
    a.data = data;
    a.count = n;
    a.ndim = shape.ndim;
    memcpy(a.shape, shape.dims, sizeof a.shape);
    a.dtype = fy_dtype_name(dtype);
    return a;
}

double *grade_numbers(grading *g, int64_t n)
{
    return n < 0 || n > 1 << 24 ? NULL : grade_keep(g, (size_t)(n + 1) * sizeof(double));
}

static double number_of(const cJSON *v)
{
    if (cJSON_IsNumber(v)) return v->valuedouble;
    if (cJSON_IsString(v) && !strcmp(v->valuestring, "inf")) return INFINITY;
    if (cJSON_IsString(v) && !strcmp(v->valuestring, "-inf")) return -INFINITY;
    return NAN;
}

static void read_values(grading *g, grade_array *a, const cJSON *values)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(values, "data");
    if (!cJSON_IsArray(list) || event_int(values, "first") > 0) return;
    int64_t n = 0;
    double *data = grade_keep(g, ((size_t)cJSON_GetArraySize(list) + 1) * sizeof *data);
    for (const cJSON *v = list->child; v; v = v->next) data[n++] = number_of(v);
    a->data = data;
    a->count = n;
}

static void read_shape(const grading *g, grade_array *a)
{
    char id[32];
    snprintf(id, sizeof id, "%lld", (long long)event_int(a->event, "tensor"));
    const cJSON *t = find_event(g, "tensor", "tensor", id, 0);
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(t, "shape");
    a->dtype = event_text(t, "dtype");
    if (!cJSON_IsArray(list)) return;
    for (const cJSON *d = list->child; d && a->ndim < 8; d = d->next)
        a->shape[a->ndim++] = cJSON_IsNumber(d) && fabs(d->valuedouble) < 1e15 ? (int64_t)d->valuedouble : -1;
}

grade_array grade_answer(grading *g, const char *name)
{
    grade_array a = {.dtype = "", .device = ""};
    for (const cJSON *e = NULL; (e = next_event(g, e, "answer", "name", name));) a.event = e;
    if (!a.event) return a;
    a.device = event_text(a.event, "device");
    read_shape(g, &a);
    char id[32];
    snprintf(id, sizeof id, "%lld", (long long)event_int(a.event, "tensor"));
    const cJSON *values = next_event(g, a.event, "values", "tensor", id);
    if (values) read_values(g, &a, values);
    return a;
}

bool arrays_close(const double *a, int64_t na, const double *b, int64_t nb, double rtol, double atol, int64_t *where)
{
    *where = -1;
    if (!a || !b || na != nb) return false;
    for (*where = 0; *where < na; ++*where) {
        double x = a[*where], y = b[*where];
        bool same = isinf(x) || isinf(y) ? x == y : fabs(x - y) <= atol + rtol * fabs(y);
        if (!same) return false; /* a comparison with NaN is false */
    }
    *where = -1;
    return true;
}

/* ---- what the program is built on -------------------------------------------------------------- */

const cJSON *shows_misconception(grading *g, const char *name)
{
    const misconception *m = misconception_named(name);
    if (!m || !m->signature) {
        fprintf(stderr, "ferry: a check asks for the misconception '%s', which has no signature\n", name);
        exit(1);
    }
    if (!g->found) {
        findings *f = grade_keep(g, sizeof *f);
        if (findings_of_events(f, g->run->events, g->run->count)) g->found = f;
    }
    int64_t seq = g->found ? m->signature(g->found) : -1;
    return seq >= 0 && seq < g->run->count ? g->run->events[seq] : NULL;
}

/* ---- the way of the bytes --------------------------------------------------------------------- */

/* A set of storages. Numbers beyond the log's size cannot have been given out; they are left out. */
typedef struct storages {
    bool *in;
    int64_t room;
} storages;

static storages storages_make(const grading *g)
{
    storages s = {.room = 4 * (int64_t)g->run->count + 1024};
    s.in = memory_zeroed((size_t)s.room, 1, "grading");
    return s;
}

static void put(storages *s, int64_t id)
{
    if (id >= 0 && id < s->room) s->in[id] = true;
}

static bool holds(const storages *s, int64_t id) { return id >= 0 && id < s->room && s->in[id]; }

/* Does a list of uses ("in", "out") touch the set? */
static bool uses(const cJSON *op, const char *side, const storages *s)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(op, side);
    for (const cJSON *u = list ? list->child : NULL; u; u = u->next)
        if (holds(s, event_int(u, "storage"))) return true;
    return false;
}

static void put_uses(const cJSON *op, const char *side, storages *s)
{
    const cJSON *list = cJSON_GetObjectItemCaseSensitive(op, side);
    for (const cJSON *u = list ? list->child : NULL; u; u = u->next) put(s, event_int(u, "storage"));
}

/* If e wrote into the set, what it read belongs to the set as well. Did e touch the set? */
static bool step_back(const cJSON *e, storages *s)
{
    bool op = !strcmp(event_kind(e), "op"), copy = !strcmp(event_kind(e), "copy");
    if (op && uses(e, "out", s)) {
        put_uses(e, "in", s);
        return true;
    }
    if (copy && holds(s, event_int(e, "dst.storage"))) {
        put(s, event_int(e, "src.storage"));
        return true;
    }
    bool host = !strcmp(event_kind(e), "host_read") || !strcmp(event_kind(e), "host_write");
    return host && holds(s, event_int(e, "storage")); /* not work of Ferry's, but it had its hands on the bytes */
}

static bool comes_from(const grading *g, int64_t storage, int64_t until, int64_t ancestor)
{
    storages s = storages_make(g);
    put(&s, storage);
    while (until-- > 0) step_back(g->run->events[until], &s);
    bool yes = holds(&s, ancestor);
    free(s.in);
    return yes;
}

bool storage_comes_from(const grading *g, int64_t storage, int64_t ancestor)
{
    return comes_from(g, storage, g->run->count, ancestor);
}

bool answer_comes_from(const grading *g, const cJSON *answer, int64_t ancestor)
{
    return answer && comes_from(g, event_int(answer, "storage"), event_seq(answer), ancestor);
}

/* Mark all events that contributed to the answer, once; a lesson asks for many of them. */
static void trace_lineage(grading *g, const cJSON *answer)
{
    storages s = storages_make(g);
    g->lineage = grade_keep(g, (size_t)g->run->count + 1);
    g->lineage_of = answer;
    put(&s, event_int(answer, "storage"));
    for (int64_t i = event_seq(answer); i-- > 0;) g->lineage[i] = step_back(g->run->events[i], &s);
    free(s.in);
}

bool leads_to(grading *g, const cJSON *event, const cJSON *answer)
{
    if (!event || !answer) return false;
    if (g->lineage_of != answer) trace_lineage(g, answer);
    return g->lineage[event_seq(event)];
}

bool is_look(const char *why) { return !strcmp(why, "print") || !strcmp(why, "item") || !strcmp(why, "size"); }

/* Looking back from the end: which storages will still be read? */
static void note_reads(const cJSON *e, storages *s)
{
    const char *kind = event_kind(e), *why = event_text(e, "why");
    if (!strcmp(kind, "op")) put_uses(e, "in", s);
    if (!strcmp(kind, "host_read") || !strcmp(kind, "answer")) put(s, event_int(e, "storage"));
    if (strcmp(kind, "copy")) return;
    if (is_look(why) || holds(s, event_int(e, "dst.storage"))) put(s, event_int(e, "src.storage"));
}

bool copy_is_used(grading *g, const cJSON *copy)
{
    if (!g->used) {
        storages s = storages_make(g);
        g->used = grade_keep(g, (size_t)g->run->count + 1);
        for (int64_t i = g->run->count; i-- > 0;) {
            g->used[i] = holds(&s, event_int(g->run->events[i], "dst.storage"));
            note_reads(g->run->events[i], &s);
        }
        free(s.in);
    }
    const char *why = event_text(copy, "why"); /* what a program looks at is read, and no tensor of its own */
    return g->used[event_seq(copy)] || is_look(why);
}
