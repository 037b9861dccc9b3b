/* value_replay.c: see value_replay.h. The log is walked once, in the order of the program's calls: where a data race,
 * two threads or a raw pointer may have changed bytes in another order, their values are taken as claimed. */
#include "value_replay.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "dtype.h"
#include "grading.h"
#include "lesson_io.h"
#include "memory.h"
#include "op.h"
#include "record_fields.h"
#include "value_ops.h"

/* A verdict takes a moment. What no answer comes from gets half of the room and of the steps; beyond that its values
 * are taken as claimed. Where there is none for what an answer comes from, the run fails. MOST_APART: between the
 * results of one launch. */
enum { MOST_OF_STORAGE = 1 << 22, MOST_ELEMENTS = 1 << 24, MOST_STEPS = 400000000, MOST_APART = 256, MOST_INPUTS = 3 };

/* A storage's elements, as far as they are known. */
typedef struct bytes {
    element *at; /* NULL: nothing is known */
    int64_t count;
    fy_word dtype;
    uint32_t version;
    int thread;  /* that used it, plus 1; 0: none */
    bool untold; /* its bytes change in ways that the log does not tell */
    bool leads;  /* an answer comes from it */
} bytes;

typedef struct walk {
    grading *g;
    const trace *t;
    uint32_t ids;             /* valid ids are below */
    bytes *storage;           /* by id */
    const fy_event **tensor;  /* by id: its tensor event */
    const fy_event **results; /* by id of the work: the first values event of it */
    int64_t elements, steps;
    bool crowded; /* no room for something that an answer comes from */
    value_replay out;
} walk;

/* ---- what the log says ---- */

static void mark_untold(walk *w, uint32_t storage)
{
    if (storage < w->ids) w->storage[storage].untold = true;
}

static void mark_uses(walk *w, const fy_event *e, fy_ref list)
{
    fy_use u;
    for (size_t i = 0; fy_event_use(e, list, i, &u); i++) mark_untold(w, u.storage);
}

/* Two threads that use the same bytes may have done so in another order than they logged it. */
static void note_thread(walk *w, const fy_event *e, uint32_t storage)
{
    if (storage >= w->ids) return;
    bytes *b = &w->storage[storage];
    if (b->thread && b->thread != e->th + 1) b->untold = true;
    b->thread = e->th + 1;
}

static void note_threads(walk *w, const fy_event *e)
{
    fy_use u;
    if (e->kind == FY_KIND_copy) note_thread(w, e, e->is.copy.src.storage), note_thread(w, e, e->is.copy.dst.storage);
    if (e->kind == FY_KIND_host_write) note_thread(w, e, e->is.host_write.storage);
    if (e->kind != FY_KIND_op) return;
    for (size_t i = 0; fy_event_use(e, e->is.op.in, i, &u); i++) note_thread(w, e, u.storage);
    for (size_t i = 0; fy_event_use(e, e->is.op.out, i, &u); i++) note_thread(w, e, u.storage);
}

/* An access that is part of a race: all that it uses. */
static void mark_racing(walk *w, uint64_t seq_plus_one)
{
    if (!seq_plus_one || seq_plus_one > (uint64_t)w->t->count) return;
    const fy_event *e = &w->t->events[seq_plus_one - 1];
    if (e->kind == FY_KIND_op) mark_uses(w, e, e->is.op.in), mark_uses(w, e, e->is.op.out);
    if (e->kind == FY_KIND_copy) mark_untold(w, e->is.copy.src.storage), mark_untold(w, e->is.copy.dst.storage);
}

static void index_event(walk *w, const fy_event *e)
{
    switch (e->kind) {
    case FY_KIND_tensor:
        if (e->is.tensor.tensor < w->ids) w->tensor[e->is.tensor.tensor] = e;
        break;
    case FY_KIND_values:
        if (e->is.values.work && e->is.values.work < w->ids && !w->results[e->is.values.work])
            w->results[e->is.values.work] = e;
        break;
    case FY_KIND_alloc:
        if (e->is.alloc.mem == FY_WORD_foreign) mark_untold(w, e->is.alloc.storage);
        break;
    case FY_KIND_data_race:
        mark_untold(w, e->is.data_race.storage);
        mark_racing(w, e->is.data_race.a);
        mark_racing(w, e->is.data_race.b);
        break;
    default: break;
    }
}

/* ---- handles: where the elements of a tensor lie in its storage ---- */

typedef struct handle {
    uint32_t storage;
    int64_t offset, stride[8], last; /* last: the highest place of an element */
    bool is_rows;                    /* row-major, without gaps */
    array elements;                  /* at: once they are opened */
    element *copy;                   /* they are copied there, since they are not rows; the caller frees it */
} handle;

static bool is_too_large(walk *w, uint32_t storage)
{
    if (w->storage[storage].leads && !w->storage[storage].untold) w->crowded = true;
    return false;
}

static bool is_empty(const fy_event *tensor)
{
    int64_t size;
    for (size_t d = 0; fy_event_dim(tensor, tensor->is.tensor.shape, d, &size); d++)
        if (size == 0) return true;
    return false;
}

static bool handle_of(walk *w, uint32_t tensor, handle *h)
{
    const fy_event *e = tensor < w->ids ? w->tensor[tensor] : NULL;
    *h = (handle){.elements.count = 1};
    if (!e || e->is.tensor.storage >= w->ids || !e->is.tensor.storage) return false;
    h->storage = e->is.tensor.storage;
    h->last = h->offset = e->is.tensor.offset;
    h->elements.dtype = e->is.tensor.dtype;
    const bool empty = is_empty(e);
    if (h->offset < 0) return false;
    if (h->offset > MOST_OF_STORAGE) return !empty && is_too_large(w, h->storage);
    int n = 0;
    for (int64_t size, stride; fy_event_dim(e, e->is.tensor.shape, (size_t)n, &size); n++) {
        if (n == 8 || size < 0 || !fy_event_dim(e, e->is.tensor.strides, (size_t)n, &stride) || stride < 0)
            return false;
        if (size > MOST_OF_STORAGE || stride > MOST_OF_STORAGE) return !empty && is_too_large(w, h->storage);
        h->elements.shape[n] = size;
        h->stride[n] = stride;
        h->elements.count *= size;
        h->last += size ? (size - 1) * stride : 0;
        if (h->elements.count > MOST_OF_STORAGE || h->last > MOST_OF_STORAGE)
            return !empty && is_too_large(w, h->storage);
    }
    h->elements.ndim = n;
    h->is_rows = true;
    for (int64_t d = n, rows = 1; d-- > 0; rows *= h->elements.shape[d])
        if (h->elements.shape[d] != 1 && h->stride[d] != rows) h->is_rows = false;
    return h->last < MOST_OF_STORAGE || (!empty && is_too_large(w, h->storage));
}

/* Where an element lies, and the next one: row-major. */
typedef struct place {
    int64_t at, index[8];
} place;

static place first_place(const handle *h) { return (place){.at = h->offset}; }

static void next_place(place *p, const handle *h)
{
    for (int d = h->elements.ndim - 1; d >= 0; d--) {
        p->at += h->stride[d];
        if (++p->index[d] < h->elements.shape[d]) return;
        p->at -= h->stride[d] * p->index[d];
        p->index[d] = 0;
    }
}

static void forget(bytes *b)
{
    for (int64_t i = 0; b->at && i < b->count; i++) b->at[i] = unknown_element;
}

/* The storage's elements, with room for the handle's; NULL: too many, or not told by the log. */
static bytes *bytes_of(walk *w, const handle *h)
{
    bytes *b = &w->storage[h->storage];
    if (b->untold) return NULL;
    if (b->at && b->dtype != h->elements.dtype) b->untold = true; /* two dtypes view the same bytes */
    if (b->untold) return NULL;
    int64_t need = h->last + 1;
    if (b->count >= need && b->at) return b;
    if (w->elements + need - b->count > (b->leads ? MOST_ELEMENTS : MOST_ELEMENTS / 2)) {
        w->crowded |= b->leads;
        return NULL;
    }
    b->at = memory_realloc(b->at, (size_t)need, sizeof *b->at, "grading");
    for (int64_t i = b->count; i < need; i++) b->at[i] = unknown_element;
    w->elements += need - b->count;
    b->count = need;
    b->dtype = h->elements.dtype;
    return b;
}

static void copy_elements(const bytes *b, handle *h)
{
    const int64_t count = h->elements.count;
    place p = first_place(h);
    h->elements.at = h->copy = memory_realloc(NULL, (size_t)count + 1, sizeof *h->copy, "grading");
    for (int64_t i = 0; i < count; i++, next_place(&p, h)) h->copy[i] = b ? b->at[p.at] : unknown_element;
}

/* Finds the elements as of a version: in the storage where they are rows, else a copy. Another handle of the same
 * storage that needs more room moves them: then both are made room for first. */
static void open_elements(walk *w, handle *h, uint32_t version)
{
    bytes *b = bytes_of(w, h);
    if (b && b->version != version) forget(b), b->version = version;
    if (b && h->is_rows) h->elements.at = b->at + h->offset;
    else copy_elements(b, h);
}

/* As copies, also where they are rows: something is about to write into the storage. */
static void part_elements(walk *w, handle *h)
{
    if (!h->copy) copy_elements(&w->storage[h->storage], h);
}

static void set_unknown(array *a)
{
    for (int64_t i = 0; i < a->count; i++) a->at[i] = unknown_element;
}

/* For what the next version of the storage holds: they are unknown yet. */
static void open_result(walk *w, handle *h, uint32_t version)
{
    open_elements(w, h, version - 1);
    set_unknown(&h->elements);
}

/* The elements are those of this version. */
static void store_elements(walk *w, handle *h, uint32_t version)
{
    bytes *b = bytes_of(w, h);
    place p = first_place(h);
    if (b) b->version = version;
    for (int64_t i = 0; b && h->copy && i < h->elements.count; i++, next_place(&p, h)) b->at[p.at] = h->copy[i];
    free(h->copy);
}

/* ---- claims ---- */

/* The values event's list; none: it has no list, or not of the first elements. */
static claims claims_of(walk *w, const fy_event *values)
{
    claims c = {0};
    if (!values || !values->is.values.data || values->is.values.first != 0) return c;
    fy_bytes list = fy_event_bytes(values, values->is.values.data);
    double *copy = grade_keep(w->g, list.size + sizeof *copy);
    memcpy(copy, list.data, list.size);
    return (claims){copy, (int64_t)(list.size / sizeof *copy)};
}

static const char *element_name(grading *g, const array *a, int64_t i)
{
    const char *s = "";
    for (int d = a->ndim - 1; d >= 0; d--) {
        s = grade_say(g, "[%lld]%s", (long long)(i % a->shape[d]), s);
        i /= a->shape[d];
    }
    return grade_say(g, "element %s", *s ? s : "[0]");
}

static const char *claim_of(walk *w, const fy_event *e)
{
    grading *g = w->g;
    if (e->kind != FY_KIND_values) return grade_say(g, "%s gave", grade_where(g, e));
    return e->line ? grade_say(g, "the tensor that was read at line %u holds", e->line)
                   : "a tensor that was read holds";
}

static void contradict(walk *w, const fy_event *e, const array *a, int64_t i, double claimed, const char *what)
{
    grading *g = w->g;
    if (w->out.at) return;
    bool known = element_is_known(a->at[i]);
    w->out.at = e;
    w->out.said = grade_say(g, "%.9g", claimed);
    w->out.expected = known ? grade_say(g, "%.9g", a->at[i].is) : "another value";
    w->out.why = known ? grade_say(g, "the log says that %s %.9g in %s, but %s give%s %.9g", claim_of(w, e), claimed,
                                   element_name(g, a, i), what, !strcmp(what, "its inputs") ? "" : "s", a->at[i].is)
                       : grade_say(g, "the log says that %s %.9g in %s, which %s cannot give", claim_of(w, e), claimed,
                                   element_name(g, a, i), what);
}

/* What a list does not show: the least, the largest, and that none is NaN. */
static bool summary_fits(const array *a, const fy_ev_values *is)
{
    double least = INFINITY, largest = -INFINITY, within = 0;
    if (is->count != a->count || is->seen != a->count || !a->count) return true;
    for (int64_t i = 0; i < a->count; i++) { /* an unknown element is within infinity */
        least = a->at[i].is < least ? a->at[i].is : least;
        largest = a->at[i].is > largest ? a->at[i].is : largest;
        within = a->at[i].within > within ? a->at[i].within : within;
    }
    const element low = {least, within}, high = {largest, within};
    const rounding to = rounding_to(a->dtype);
    if (!element_is_known(low) || !element_is_known(high)) return true;
    return is->nan == 0 && element_allows(low, is->min, &to) && element_allows(high, is->max, &to);
}

/* Compares what is known with what is claimed, then takes the claims: they are exact. */
static void settle(walk *w, const fy_event *e, array *a, const claims *said, const fy_event *values, const char *what)
{
    if (values && !summary_fits(a, &values->is.values) && !w->out.at) {
        w->out.at = e;
        w->out.said = grade_say(w->g, "%.9g to %.9g", values->is.values.min, values->is.values.max);
        w->out.expected = "other values";
        w->out.why = grade_say(w->g, "the log says that %s values from %.9g to %.9g, which %s does not give",
                               claim_of(w, e), values->is.values.min, values->is.values.max, what);
    }
    const rounding to = rounding_to(a->dtype);
    for (int64_t i = 0; i < said->count && i < a->count; i++) {
        if (!element_allows(a->at[i], said->at[i], &to)) contradict(w, e, a, i, said->at[i], what);
        bool exact = isfinite(said->at[i]) && fabs(said->at[i]) <= 0x1p53;
        if (exact || a->dtype != FY_WORD_int64)
            a->at[i] = isfinite(said->at[i]) ? (element){said->at[i], 0} : unknown_element;
    }
}

static const fy_event *result_of(const walk *w, uint32_t work, uint32_t tensor)
{
    const fy_event *v = work && work < w->ids ? w->results[work] : NULL;
    const fy_event *end = w->t->events + w->t->count;
    if (v && end - v > MOST_APART) end = v + MOST_APART;
    for (; v && v < end; v++)
        if (v->kind == FY_KIND_values && v->is.values.work == work && v->is.values.tensor == tensor) return v;
    return NULL;
}

/* ---- events ---- */

/* An output whose op is not recomputed. */
static void take_output(walk *w, const fy_event *e, const fy_use *use)
{
    handle h;
    const fy_event *values = result_of(w, e->is.op.id, use->tensor);
    claims said = claims_of(w, values);
    if (use->storage >= w->ids) return;
    if (!handle_of(w, use->tensor, &h) || h.storage != use->storage) {
        forget(&w->storage[use->storage]);
        w->storage[use->storage].version = use->version;
        return;
    }
    open_result(w, &h, use->version);
    settle(w, e, &h.elements, &said, values, "it");
    store_elements(w, &h, use->version);
}

/* in: handles whose elements are found; inputs < 0: the op is not recomputed. */
static void walk_output(walk *w, const fy_event *e, handle *in, int inputs, const fy_use *use)
{
    handle h;
    array *a = &h.elements, from[MOST_INPUTS];
    fy_bytes name = fy_event_bytes(e, e->is.op.name);
    int op = fy_op_named(name.data, name.size);
    const fy_event *values = result_of(w, e->is.op.id, use->tensor);
    claims said = claims_of(w, values);
    int64_t where = 0;
    if (inputs < 0 || !handle_of(w, use->tensor, &h) || h.storage != use->storage) {
        w->out.skipped++;
        take_output(w, e, use);
        return;
    }
    for (int i = 0; i < inputs; i++) {
        if (in[i].storage == h.storage) part_elements(w, &in[i]);
        from[i] = in[i].elements;
    }
    open_result(w, &h, use->version);
    int64_t steps = value_op_steps(op, from, inputs, a);
    bool leads = w->storage[h.storage].leads, affordable = w->steps + steps <= (leads ? MOST_STEPS : MOST_STEPS / 2);
    if (affordable) w->steps += steps;
    else w->crowded |= leads;
    outcome_of_op is = affordable ? value_op(op, from, inputs, &said, a, &where) : OP_UNDECIDED;
    if (is == OP_CONTRADICTS) contradict(w, e, a, where, said.at[where], "its inputs");
    if (is != OP_FITS) set_unknown(a);
    w->out.checked += is != OP_UNDECIDED && said.count > 0;
    w->out.skipped += is == OP_UNDECIDED || !said.count;
    settle(w, e, a, &said, values, "its inputs");
    store_elements(w, &h, use->version);
}

/* A launch of a list, with several results, is not recomputed. */
static void walk_op(walk *w, const fy_event *e)
{
    handle in[MOST_INPUTS];
    int inputs = 0;
    fy_use use, out;
    size_t outs = 0;
    while (fy_event_use(e, e->is.op.out, outs, &out)) outs++;
    bool known = outs == 1;
    for (size_t i = 0; known && fy_event_use(e, e->is.op.in, i, &use); i++) {
        known = i < MOST_INPUTS && handle_of(w, use.tensor, &in[i]) && in[i].storage == use.storage;
        if (known) bytes_of(w, &in[i]), inputs++;
    }
    if (!known) inputs = 0;
    for (int i = 0; i < inputs && fy_event_use(e, e->is.op.in, (size_t)i, &use); i++)
        open_elements(w, &in[i], use.version);
    for (size_t i = 0; i < outs; i++)
        if (fy_event_use(e, e->is.op.out, i, &out)) walk_output(w, e, in, known ? inputs : -1, &out);
    for (int i = 0; i < inputs; i++) free(in[i].copy);
}

static void convert(const array *from, array *to)
{
    const rounding rule = rounding_to(to->dtype);
    if (from->dtype == to->dtype) memcpy(to->at, from->at, (size_t)to->count * sizeof *to->at);
    else
        for (int64_t i = 0; i < to->count; i++) to->at[i] = rounded(from->at[i], &rule);
}

/* Elements in the same order, or a tensor of one element, which is repeated. */
static void walk_copy(walk *w, const fy_event *e)
{
    const fy_ev_copy *is = &e->is.copy;
    handle from, to;
    if (!is->dst.storage || is->dst.storage >= w->ids) return;
    if (!handle_of(w, is->dst.tensor, &to) || to.storage != is->dst.storage) {
        forget(&w->storage[is->dst.storage]);
        w->storage[is->dst.storage].version = is->dst.version;
        return;
    }
    bool known = handle_of(w, is->src.tensor, &from) && from.storage == is->src.storage;
    array *a = &to.elements;
    if (known) {
        open_elements(w, &from, is->src.version);
        if (from.storage == to.storage) part_elements(w, &from);
    }
    open_result(w, &to, is->dst.version);
    known = known && from.elements.count == a->count;
    if (known) convert(&from.elements, a);
    const fy_event *values = result_of(w, is->id, is->dst.tensor);
    claims said = claims_of(w, values);
    bool any = known && a->count && element_is_known(a->at[0]) && said.count;
    w->out.checked += any;
    w->out.skipped += !any;
    settle(w, e, a, &said, values, "its source");
    store_elements(w, &to, is->dst.version);
    free(from.copy);
}

/* The host wrote something that the log tells only by the values that may follow. */
static void walk_host_write(walk *w, const fy_event *e)
{
    uint32_t storage = e->is.host_write.storage;
    if (storage >= w->ids) return;
    forget(&w->storage[storage]);
    w->storage[storage].version = (uint32_t)e->is.host_write.version;
    if (e->is.host_write.via == FY_WORD_data) mark_untold(w, storage); /* the pointer may write from now on */
}

/* An input's values follow from the seed. */
static void walk_given(walk *w, const fy_event *e)
{
    handle h;
    char *name = utf8_copy(fy_event_bytes(e, e->is.given.name));
    grade_array want = grade_given(w->g, name);
    free(name);
    if (!want.data || !handle_of(w, e->is.given.tensor, &h) || h.storage != e->is.given.storage ||
        h.elements.count != want.count || h.elements.dtype != want.dtype)
        return;
    uint32_t version = w->storage[h.storage].version;
    open_elements(w, &h, version);
    for (int64_t i = 0; i < want.count; i++) h.elements.at[i] = (element){want.data[i], 0};
    store_elements(w, &h, version);
}

/* What the host read, wrote or submitted. */
static void walk_seen(walk *w, const fy_event *e)
{
    handle h;
    if (e->is.values.work || !handle_of(w, e->is.values.tensor, &h)) return;
    claims said = claims_of(w, e);
    open_elements(w, &h, (uint32_t)e->is.values.version);
    w->out.checked += h.elements.count && said.count && element_is_known(h.elements.at[0]);
    settle(w, e, &h.elements, &said, e, "what was written before");
    store_elements(w, &h, (uint32_t)e->is.values.version);
}

static void walk_event(walk *w, const fy_event *e)
{
    switch (e->kind) {
    case FY_KIND_op: walk_op(w, e); break;
    case FY_KIND_copy: walk_copy(w, e); break;
    case FY_KIND_host_write: walk_host_write(w, e); break;
    case FY_KIND_host_read:
        if (e->is.host_read.via == FY_WORD_data) mark_untold(w, e->is.host_read.storage);
        break;
    case FY_KIND_given: walk_given(w, e); break;
    case FY_KIND_values: walk_seen(w, e); break;
    case FY_KIND_free:
        if (e->is.free.storage >= w->ids) break;
        w->elements -= w->storage[e->is.free.storage].count;
        free(w->storage[e->is.free.storage].at);
        w->storage[e->is.free.storage] = (bytes){.untold = true};
        break;
    default: break;
    }
}

/* A program that fills the room first would be believed whatever comes later. */
static void refuse_crowded(walk *w, const fy_event *e)
{
    w->out.at = e;
    w->out.crowded = true;
    w->out.said = "too many values";
    w->out.expected = "values that can be computed again";
    w->out.why = grade_say(w->g,
                           "The grader computes again what an answer comes from, and %s is more than it has room for: "
                           "use smaller tensors, and free those that you do not need.",
                           grade_where(w->g, e));
}

value_replay replay_values(grading *g)
{
    walk w = {.g = g, .t = grade_trace(g)};
    size_t leads;
    const bool *answers = storages_of_answers(g, &leads);
    w.ids = 4 * (uint32_t)w.t->count + 1024;
    w.storage = memory_zeroed(w.ids, sizeof *w.storage, "grading");
    w.tensor = memory_zeroed(w.ids, sizeof *w.tensor, "grading");
    w.results = memory_zeroed(w.ids, sizeof *w.results, "grading");
    for (int i = 0; i < w.t->count; i++) index_event(&w, &w.t->events[i]), note_threads(&w, &w.t->events[i]);
    for (uint32_t i = 0; i < w.ids && i < leads; i++) w.storage[i].leads = answers[i];
    for (int i = 0; i < w.t->count && !w.out.at; i++) {
        walk_event(&w, &w.t->events[i]);
        if (w.crowded && !w.out.at) refuse_crowded(&w, &w.t->events[i]);
    }
    for (uint32_t i = 0; i < w.ids; i++) free(w.storage[i].at);
    free(w.storage);
    free(w.tensor);
    free(w.results);
    return w.out;
}
