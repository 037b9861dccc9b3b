/* event_query.c: queries over a log: events by kind and field, regenerated inputs, answers, and the data flow between
 * them. The log is untrusted: a field of the wrong type reads as missing, a number out of range as -1. */
#include "grading.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lesson_io.h"
#include "memory.h"
#include "misconceptions.h"

/* ---- events ----------------------------------------------------------------------------------- */

const fy_event *event_of_kind(const grading *g, const fy_event *last, fy_kind kind)
{
    for (int64_t i = last ? last - g->run->events + 1 : 0; i < g->run->count; i++)
        if (g->run->events[i].kind == kind) return &g->run->events[i];
    return NULL;
}

bool is_on_card(uint8_t device) { return device && device != FY_NO_DEVICE; }

const fy_event *storage_birth(const grading *g, uint32_t storage)
{
    return next_event(g, NULL, alloc, is->storage == storage);
}

const fy_event *completion_of(grading *g, uint32_t id)
{
    if (!g->completions) { /* all at once: lessons compare each copy with each operation */
        g->completion_room = 4 * (size_t)g->run->count + 1024; /* ids are given in sequence: a larger one is invalid */
        g->completions = grade_keep(g, g->completion_room * sizeof(const fy_event *));
        each_event(g, e, complete)
        {
            uint32_t of = e->is.complete.id;
            if (of && of < g->completion_room && !g->completions[of]) g->completions[of] = e;
        }
    }
    return id < g->completion_room ? g->completions[id] : NULL;
}

uint32_t given_storage(const grading *g, const char *name)
{
    const fy_event *e = next_event(g, NULL, given, fy_event_is(it, is->name, name));
    return e ? e->is.given.storage : 0;
}

/* ---- inputs and answers ----------------------------------------------------------------------- */

enum { MOST_ELEMENTS = 1 << 24 }; /* of an input: a larger one is not allocated */

grade_array grade_given(grading *g, const char *name)
{
    grade_array a = {.event = next_event(g, NULL, given, fy_event_is(it, is->name, name))};
    fy_dtype dtype;
    fy_shape shape;
    if (!g->given || !fy_given_spec(g->given, name, &dtype, &shape)) return a;
    int64_t n = 1;
    for (int i = 0; i < shape.ndim; i++) {
        if (shape.dims[i] < 0 || shape.dims[i] > MOST_ELEMENTS) return a;
        n *= shape.dims[i];
        if (n > MOST_ELEMENTS) return a;
    }
    double *data = grade_numbers(g, n);
    fy_given_values(g->seed, name, dtype, n, data);
    a.data = data;
    a.count = n;
    a.ndim = shape.ndim;
    memcpy(a.shape, shape.dims, sizeof a.shape);
    a.dtype = fy_dtype_word(dtype);
    return a;
}

double *grade_numbers(grading *g, int64_t n)
{
    return n < 0 || n > MOST_ELEMENTS ? NULL : grade_keep(g, (size_t)(n + 1) * sizeof(double));
}

grade_array grade_answer(grading *g, const char *name)
{
    grade_array a = {.device = FY_NO_DEVICE};
    each_event(g, e, answer) if (fy_event_is(e, e->is.answer.name, name)) a.event = e;
    if (!a.event) return a;
    a.device = a.event->is.answer.device;

    uint32_t id = a.event->is.answer.tensor;
    const fy_event *created = next_event(g, NULL, tensor, is->tensor == id);
    if (created) {
        a.dtype = fy_event_dtype(created, created->is.tensor.dtype);
        for (int64_t dim; a.ndim < 8 && fy_event_dim(created, created->is.tensor.shape, (size_t)a.ndim, &dim);)
            a.shape[a.ndim++] = dim < 0 ? -1 : dim;
    }

    const fy_event *values = next_event(g, a.event, values, is->tensor == id && !is->work);
    if (!values || !values->is.values.data || values->is.values.first > 0) return a; /* absent, or only a part */
    fy_bytes list = fy_event_bytes(values, values->is.values.data);
    double *data = grade_keep(g, list.size + sizeof *data);
    memcpy(data, list.data, list.size);
    a.data = data;
    a.count = (int64_t)(list.size / sizeof *data);
    return a;
}

bool arrays_close(const double *a, int64_t na, const double *b, int64_t nb, double rtol, double atol, int64_t *where)
{
    *where = -1;
    if (!a || !b || na != nb) return false;
    for (*where = 0; *where < na; ++*where) {
        double x = a[*where], y = b[*where];
        bool same = isinf(x) || isinf(y) ? x == y : fabs(x - y) <= atol + rtol * fabs(y);
        if (!same) return false; /* comparisons with NaN are false */
    }
    *where = -1;
    return true;
}

/* ---- misconceptions --------------------------------------------------------------------------- */

const fy_event *shows_misconception(grading *g, const char *name)
{
    const misconception *m = misconception_named(name);
    if (!m) {
        fprintf(stderr, "ferry: a check asks for the misconception '%s', which has no signature\n", name);
        exit(1);
    }
    if (!g->found) {
        g->found = grade_keep(g, sizeof *g->found);
        findings_of_run(g->found, g->run);
    }
    int64_t seq = m->signature(g->found);
    return seq >= 0 && seq < g->run->count ? &g->run->events[seq] : NULL;
}

/* ---- data flow --------------------------------------------------------------------------------- */

/* A set of storage ids. Ids are allocated in sequence, so that one beyond the log's size is invalid: it is never a
 * member, nor is 0. */
typedef struct id_set {
    bool *in; /* by id */
    size_t capacity;
} id_set;

static id_set set_make(const grading *g)
{
    id_set s = {.capacity = 4 * (size_t)g->run->count + 1024};
    s.in = memory_zeroed(s.capacity, 1, "grading");
    return s;
}

static void set_add(id_set *s, uint32_t id)
{
    if (id && id < s->capacity) s->in[id] = true;
}

static bool set_has(const id_set *s, uint32_t id) { return id && id < s->capacity && s->in[id]; }

static void set_add_uses(id_set *s, const fy_event *op, fy_ref list)
{
    fy_use u;
    for (size_t i = 0; fy_event_use(op, list, i, &u); i++) set_add(s, u.storage);
}

static size_t use_count(const fy_event *op, fy_ref list)
{
    size_t n = 0;
    for (fy_use u; fy_event_use(op, list, n, &u); n++) {
    }
    return n;
}

/* If op wrote into the set, adds what it read for that: a launch of a list computes each output from as many inputs, in
 * the order of the outputs. Returns whether it did. */
static bool step_back_op(const fy_event *op, id_set *s)
{
    const fy_ev_op *is = &op->is.op;
    size_t outs = use_count(op, is->out), each = outs ? use_count(op, is->in) / outs : 0;
    bool wrote = false;
    fy_use u;
    for (size_t i = 0; fy_event_use(op, is->out, i, &u); i++) {
        if (!set_has(s, u.storage)) continue;
        wrote = true;
        for (size_t k = i * each; k < (i + 1) * each && fy_event_use(op, is->in, k, &u); k++) set_add(s, u.storage);
    }
    return wrote;
}

/* If e wrote into the set, adds what it read. Returns whether e accessed the set. */
static bool step_back(const fy_event *e, id_set *s)
{
    switch (e->kind) {
    case FY_KIND_op: return step_back_op(e, s);
    case FY_KIND_copy:
        if (!set_has(s, e->is.copy.dst.storage)) return false;
        set_add(s, e->is.copy.src.storage);
        return true;
    /* the program itself accessed the bytes */
    case FY_KIND_host_read: return set_has(s, e->is.host_read.storage);
    case FY_KIND_host_write: return set_has(s, e->is.host_write.storage);
    default: return false;
    }
}

static bool comes_from(const grading *g, uint32_t storage, int64_t until, uint32_t ancestor)
{
    id_set s = set_make(g);
    set_add(&s, storage);
    while (until-- > 0) step_back(&g->run->events[until], &s);
    bool yes = set_has(&s, ancestor);
    free(s.in);
    return yes;
}

bool storage_comes_from(const grading *g, uint32_t storage, uint32_t ancestor)
{
    return comes_from(g, storage, g->run->count, ancestor);
}

bool answer_comes_from(const grading *g, const fy_event *answer, uint32_t ancestor)
{
    return answer && comes_from(g, answer->is.answer.storage, (int64_t)answer->seq, ancestor);
}

bool leads_to(grading *g, const fy_event *event, const fy_event *answer)
{
    if (!event || !answer) return false;
    if (g->lineage_of != answer) { /* marks all contributing events at once: lessons ask about many of them */
        id_set s = set_make(g);
        g->lineage = grade_keep(g, (size_t)g->run->count + 1);
        g->lineage_of = answer;
        set_add(&s, answer->is.answer.storage);
        for (uint64_t i = answer->seq; i-- > 0;) g->lineage[i] = step_back(&g->run->events[i], &s);
        free(s.in);
    }
    return g->lineage[event->seq];
}

bool is_look(const fy_event *copy)
{
    fy_word why = copy->is.copy.why;
    return why == FY_WORD_print || why == FY_WORD_item || why == FY_WORD_size;
}

/* For a pass from the last event to the first: s holds the storages that are read later. Adds what e reads; returns
 * whether e is a copy into s. */
static bool add_reads(const fy_event *e, id_set *s)
{
    if (e->kind == FY_KIND_op) set_add_uses(s, e, e->is.op.in);
    if (e->kind == FY_KIND_host_read) set_add(s, e->is.host_read.storage);
    if (e->kind == FY_KIND_answer) set_add(s, e->is.answer.storage);
    if (e->kind != FY_KIND_copy) return false;
    bool used = set_has(s, e->is.copy.dst.storage);
    if (used || is_look(e)) set_add(s, e->is.copy.src.storage);
    return used;
}

bool copy_is_used(grading *g, const fy_event *copy)
{
    if (!g->used) {
        id_set s = set_make(g);
        g->used = grade_keep(g, (size_t)g->run->count + 1);
        for (int64_t i = g->run->count; i-- > 0;) g->used[i] = add_reads(&g->run->events[i], &s);
        free(s.in);
    }
    return g->used[copy->seq] || is_look(copy); /* a look has no destination tensor: the program read it */
}
