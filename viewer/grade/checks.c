/* checks.c: the checks that lessons share, and how messages describe an event. */
#include "grading.h"

#include <stdlib.h>
#include <string.h>

#include "log_format.h"
#include "record_fields.h"

const char *grade_text(grading *g, const fy_event *e, fy_ref text)
{
    char *clean = utf8_copy(fy_event_bytes(e, text));
    const char *copy = grade_say(g, "%s", clean);
    free(clean);
    return copy;
}

const char *grade_device(grading *g, uint8_t device)
{
    char name[16] = "";
    if (device != FY_NO_DEVICE) fy_device_name(device, name);
    return grade_say(g, "%s", name);
}

int grade_line(const fy_event *e) { return e && e->line && e->line < 1000000 ? (int)e->line : -1; }

static const char *at_line(grading *g, const fy_event *e)
{
    return e->line ? grade_say(g, " at line %u", e->line) : "";
}

/* fy_clone, fy_copy_, fy_cat, fy_stack, fy_pin_memory: elements are put elsewhere, and nothing is computed. */
static bool is_clone(const fy_event *op, fy_use *out)
{
    return fy_event_is(op, op->is.op.name, "clone") && fy_event_use(op, op->is.op.out, 0, out);
}

/* Which call the clone is: fy_clone and fy_pin_memory make the tensor that they fill. */
static const char *clone_call(const grading *g, const fy_event *op, const fy_use *out)
{
    const fy_event *made = tensor_birth(g, out->tensor), *alloc = storage_birth(g, out->storage);
    if (out->version > 1 || (made && made->line != op->line)) return "fy_copy_";
    return alloc && alloc->is.alloc.mem == FY_WORD_pinned ? "fy_pin_memory" : "fy_clone";
}

const char *grade_where(grading *g, const fy_event *e)
{
    const fy_ev_copy *copy = &e->is.copy;
    if (e->kind == FY_KIND_op) { /* fill and cast are not calls that a learner wrote */
        fy_use out;
        const char *op = grade_text(g, e, e->is.op.name), *call = !strcmp(op, "fill")   ? "the tensor created"
                                                                  : !strcmp(op, "cast") ? "the dtype conversion"
                                                                  : is_clone(e, &out)   ? clone_call(g, e, &out)
                                                                                        : grade_say(g, "fy_%s", op);
        return grade_say(g, "%s%s", call, at_line(g, e));
    }
    if (e->kind == FY_KIND_copy)
        return grade_say(g, "the copy%s (%lld bytes from %s to %s)", at_line(g, e), (long long)copy->bytes,
                         grade_device(g, copy->src.device), grade_device(g, copy->dst.device));
    if (e->kind == FY_KIND_mark && e->is.mark.now != FY_ABSENT) return grade_say(g, "fy_now%s", at_line(g, e));
    if (e->kind == FY_KIND_alloc)
        return grade_say(g, "the %sallocation%s (%lld bytes on %s)",
                         e->is.alloc.mem == FY_WORD_pinned ? "page-locked " : "", at_line(g, e),
                         (long long)e->is.alloc.bytes, grade_device(g, e->is.alloc.device));
    const char *what = e->kind == FY_KIND_sync         ? "wait"
                       : e->kind == FY_KIND_error      ? "error"
                       : e->kind == FY_KIND_host_read  ? "read"
                       : e->kind == FY_KIND_host_write ? "write"
                       : e->kind == FY_KIND_answer     ? "answer"
                                                       : grade_say(g, "%s event", fy_kind_name(e->kind));
    return grade_say(g, "the %s%s", what, at_line(g, e));
}

bool check_same_device(grading *g)
{
    const fy_event *e = next_event(g, NULL, error, fy_event_is(it, is->code, "device_mismatch"));
    if (!e)
        return check(g, "same-device", true, NULL, "operands on one device", "operands on one device",
                     "Every call had its tensors on one device.");
    const char *call = e->is.error.written ? grade_text(g, e, e->is.error.written) : "A call";
    return check(g, "same-device", false, e, "operands on one device", "operands on two devices",
                 grade_say(g,
                           "%s%s was given tensors on two devices, and Ferry copies nothing on its own: copy "
                           "one to the other's device with fy_to, or create both on the same device.",
                           call, at_line(g, e)));
}

/* ". The last Ferry call that finished was on line 13." */
static const char *last_call(grading *g)
{
    for (int i = g->run->count; i-- > 0;)
        if (g->run->events[i].line)
            return grade_say(g, " The last Ferry call that finished was on line %u.", g->run->events[i].line);
    return "";
}

/* Reports why there is no answer, or why the run did not end after it: the most specific cause first. */
static bool fail_unanswered(grading *g, const char *want, const char *name, bool answered)
{
    const fy_event *error = next_event(g, NULL, error, true);
    const fy_event *other = next_event(g, NULL, answer, true);
    const fy_event *full = next_event(g, NULL, log_full, true);
    const fy_event *end = next_event(g, NULL, end, true);
    if (error) {
        const char *hint = grade_text(g, error, error->is.error.hint);
        return check(g, name, false, error, want, grade_text(g, error, error->is.error.code),
                     grade_say(g, "The program stopped%s: %s%s%s", at_line(g, error),
                               grade_text(g, error, error->is.error.message), *hint ? "; fix: " : "", hint));
    }
    if (full)
        return check(g, name, false, full, want, "a full log",
                     "The program filled the log of its lesson: is there an endless loop?");
    if (!end) {
        const fy_event *last = &g->run->events[g->run->count - 1];
        return check(
            g, name, false, last, want, answered ? "no end of main" : "no fy_answer",
            grade_say(g, "Your program ended before %s.%s", answered ? "the end of main" : "fy_answer", last_call(g)));
    }
    if (other) {
        const char *submitted = grade_text(g, other, other->is.answer.name);
        return check(g, name, false, other, want, grade_say(g, "answer \"%s\"", submitted),
                     grade_say(g, "An answer named \"%s\" was submitted%s; the lesson asks for %s.", submitted,
                               at_line(g, other), want));
    }
    return check(g, name, false, NULL, want, "nothing",
                 grade_say(g, "The program ended without submitting a result: add %s.", want));
}

bool check_answered(grading *g, const char *answer)
{
    const char *want = grade_say(g, "fy_answer(\"%s\", ...)", answer);
    grade_array a = grade_answer(g, answer);
    const fy_event *end = next_event(g, NULL, end, true);
    if (!a.event || !end) return fail_unanswered(g, want, "answered", a.event != NULL);
    if (!a.data)
        return check(
            g, "answered", false, a.event, want, "an answer without values",
            grade_say(g, "The answer submitted%s is too large to be recorded; the lesson needs all of its values.",
                      at_line(g, a.event)));
    return check(g, "answered", true, a.event, want, want, "The result was submitted.");
}

static const char *shape_text(grading *g, int ndim, const int64_t *shape)
{
    const char *s = "(";
    for (int i = 0; i < ndim; i++) s = grade_say(g, "%s%s%lld", s, i ? ", " : "", (long long)shape[i]);
    return grade_say(g, "%s)", s);
}

/* "y[2][1]" for the element at a row-major index. */
static const char *element_text(grading *g, const char *name, int ndim, const int64_t *shape, int64_t index)
{
    const char *s = "";
    for (int i = ndim - 1; i >= 0; i--) {
        s = grade_say(g, "[%lld]%s", (long long)(index % shape[i]), s);
        index /= shape[i];
    }
    return grade_say(g, "%s%s", name, s);
}

bool check_values(grading *g, const char *answer, const double *want, int ndim, const int64_t *shape)
{
    const char *name = "right-numbers";
    grade_array a = grade_answer(g, answer);
    if (!want)
        return check(g, name, false, a.event, "other inputs", "these inputs",
                     "The run was started with inputs that this lesson does not expect: start it with `ferry run`.");
    if (a.ndim != ndim || (ndim && memcmp(a.shape, shape, (size_t)ndim * sizeof *shape) != 0))
        return check(g, name, false, a.event, shape_text(g, ndim, shape), shape_text(g, a.ndim, a.shape),
                     grade_say(g, "%s has shape %s; with this input it must have %s.", answer,
                               shape_text(g, a.ndim, a.shape), shape_text(g, ndim, shape)));
    int64_t count = 1, where;
    for (int i = 0; i < ndim; i++) count *= shape[i];
    if (arrays_close(a.data, a.count, want, count, 1e-5, 1e-5, &where))
        return check(g, name, true, a.event, "the right values", "the right values", "The numbers are right.");
    if (where < 0)
        return check(
            g, name, false, a.event, grade_say(g, "%lld values", (long long)count),
            grade_say(g, "%lld values", (long long)a.count),
            grade_say(g, "%s was submitted with only a part of its values: it is too large to be recorded.", answer));
    const char *element = element_text(g, answer, ndim, shape, where);
    return check(g, name, false, a.event, grade_say(g, "%s = %g", element, want[where]),
                 grade_say(g, "%s = %g", element, a.data[where]),
                 grade_say(g, "Wrong values: %s is %g and must be %g.", element, a.data[where], want[where]));
}

static bool has_operands(const fy_event *op)
{
    fy_use first;
    return fy_event_use(op, op->is.op.in, 0, &first);
}

/* Why the op found its operands on the CPU: the input was never copied, or the copy was not used. */
static const char *why_off_card(grading *g, const fy_event *op, const char *given)
{
    uint32_t storage = given_storage(g, given);
    const fy_event *copy = next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage == storage);
    const char *where = grade_where(g, op), *device = grade_device(g, op->is.op.device);
    if (!copy)
        return grade_say(g, "%s was never copied to the card: %s ran on %s, and the lesson wants it on the card.",
                         given, where, device);
    if (!copy_is_used(g, copy))
        return grade_say(g,
                         "%s ran on %s: the copy of %s made at line %u was never used. A copy leaves the original "
                         "where it is: compute with what the copy returned.",
                         where, device, given, copy->line);
    return grade_say(g, "%s ran on %s, although a copy of %s is on the card: compute with that copy.", where, device,
                     given);
}

bool check_ran_on_card(grading *g, const char *answer, const char *given)
{
    const char *name = "ran-on-the-card", *want = "every operation on the card";
    const fy_event *a = grade_answer(g, answer).event;
    fy_use out;
    const fy_event *off = next_event(
        g, NULL, op, has_operands(it) && leads_to(g, it, a) && !is_on_card(is->device) && !is_clone(it, &out));
    if (off)
        return check(g, name, false, off, want,
                     grade_say(g, "%s ran on %s", grade_where(g, off), grade_device(g, off->is.op.device)),
                     why_off_card(g, off, given));
    if (!answer_comes_from(g, a, given_storage(g, given)))
        return check(g, name, false, a, grade_say(g, "%s computed from %s", answer, given),
                     grade_say(g, "%s was not computed from %s", answer, given),
                     grade_say(g,
                               "No copy and no operation leads from %s to %s: compute %s from it, on the "
                               "card.",
                               given, answer, answer));
    return check(g, name, true, a, want, want, "Every operation ran on the card.");
}

/* What computes the same as an operation that a lesson names: a relu may be a maximum, two operations may be one. */
static const struct {
    const char *op, *others[7];
} stand_ins[] = {
    {"relu", {"clamp", "clamp_min", "maximum", "where"}},
    {"abs", {"relu", "clamp_min", "maximum", "where"}},
    {"add", {"sub", "lerp", "addcmul", "addcdiv", "addmm"}},
    {"sub", {"add", "lerp", "addcmul", "addcdiv"}},
    {"mul", {"div", "pow", "lerp", "addcmul", "add", "sub"}},
    {"mean", {"sum"}},
    {"sum", {"mean", "matmul"}},
    {"matmul", {"addmm"}},
};

bool computes_as(const fy_event *e, const char *op)
{
    bool yes = fy_event_is(e, e->is.op.name, op);
    for (size_t i = 0; i < sizeof stand_ins / sizeof *stand_ins; i++)
        for (int k = 0; !strcmp(stand_ins[i].op, op) && stand_ins[i].others[k]; k++)
            yes |= fy_event_is(e, e->is.op.name, stand_ins[i].others[k]);
    return yes;
}

/* Operations with operands that ran on a card and contributed to the answer; op NULL: of any name. */
static int count_card_ops(grading *g, const fy_event *answer, const char *op)
{
    return count_events(
        g, op, (!op || computes_as(it, op)) && has_operands(it) && is_on_card(is->device) && leads_to(g, it, answer));
}

static bool is_raw(fy_word via) { return via == FY_WORD_data || via == FY_WORD_blob || via == FY_WORD_load; }

/* The first call that gave the program a way to bytes that contributed to the answer, on which C may work unlogged: a
 * pointer of fy_data, memory of its own (fy_from_blob), a file. */
static const fy_event *raw_access(grading *g, const fy_event *answer)
{
    const fy_event *read = next_event(g, NULL, host_read, is->via == FY_WORD_data && leads_to(g, it, answer));
    const fy_event *write = next_event(g, NULL, host_write, is_raw(is->via) && leads_to(g, it, answer));
    return !read || (write && write->seq < read->seq) ? write : read;
}

static bool fail_raw(grading *g, const char *name, const fy_event *raw, const char *answer)
{
    fy_word via = raw->kind == FY_KIND_host_write ? raw->is.host_write.via : FY_WORD_data;
    const char *at = at_line(g, raw), *call = grade_say(g, "fy_data%s", at), *why;
    if (via == FY_WORD_load) {
        call = grade_say(g, "a tensor loaded from a file%s", at);
        why = grade_say(g, "%s is computed from %s: nothing shows that the card computed what is in it", answer, call);
    } else if (via == FY_WORD_blob) {
        call = grade_say(g, "fy_from_blob%s", at);
        why = grade_say(g,
                        "%s made a tensor of the program's own memory, and %s is computed from it; what C does there "
                        "does not run on the card",
                        call, answer);
    } else {
        why = grade_say(g,
                        "%s returned a pointer to bytes that %s is computed from; what C does through it does not run "
                        "on the card",
                        call, answer);
    }
    return check(g, name, false, raw, via == FY_WORD_load ? "no file" : "no raw pointer", call,
                 grade_say(g, "%s. Compute with fy_ calls, and inspect with fy_print.", why));
}

/* The first operation of `ops` that did not run on a card for the answer; NULL: all did. */
static const char *missing_op(grading *g, const fy_event *answer, const char *ops)
{
    for (const char *p = ops; *p; p += strspn(p, " ")) {
        size_t n = strcspn(p, " ");
        const char *op = grade_say(g, "%.*s", (int)n, p);
        if (!count_card_ops(g, answer, op)) return op;
        p += n;
    }
    return NULL;
}

bool check_computed(grading *g, const char *answer, const char *ops, int least)
{
    const char *name = "computed-by-ferry",
               *want = grade_say(g, "%d operations on the card, %s among them", least, ops);
    const fy_event *a = grade_answer(g, answer).event, *raw = raw_access(g, a);
    int n = count_card_ops(g, a, NULL);
    const char *got = grade_say(g, "%d on the card", n), *missing = missing_op(g, a, ops);
    if (raw) return fail_raw(g, name, raw, answer);
    if (missing)
        return check(g, name, false, a, want, got,
                     grade_say(g, "%s was not computed with fy_%s on the card; the lesson wants the card to do that.",
                               answer, missing));
    if (n < least)
        return check(g, name, false, a, want, got,
                     grade_say(g, "%s was computed with %d operation%s on the card; the lesson needs %d.", answer, n,
                               n == 1 ? "" : "s", least));
    return check(g, name, true, a, want, got, "The operations on the card computed the answer.");
}

static const char *copies(grading *g, int n) { return grade_say(g, "%d cop%s", n, n == 1 ? "y" : "ies"); }

bool check_copies(grading *g, const char *name, fy_word dir, int most, bool looks)
{
    int n = 0;
    const fy_event *over = NULL;
    line_list lines = {.text = ""};
    each_event(g, c, copy)
    {
        bool counts = looks || !is_look(c) || c->is.copy.why == FY_WORD_item; /* the program wants its number */
        if (c->is.copy.dir != dir || !counts) continue;
        line_list_add(g, &lines, c);
        if (++n == most + 1) over = c;
    }
    const char *direction = dir == FY_WORD_h2d   ? "to the card"
                            : dir == FY_WORD_d2h ? "back to the CPU"
                            : dir == FY_WORD_p2p ? "from card to card"
                                                 : "within one memory";
    const char *want = grade_say(g, "%s %s allowed", copies(g, most), direction),
               *got = grade_say(g, "%s %s", copies(g, n), direction);
    const char *words = grade_say(g, "Copies %s: %d. The limit is %d.", direction, n, most);
    if (over)
        words = grade_say(g, "Copies %s: %d%s%s, and the limit is %d. The first one over it is %s.", direction, n,
                          lines.listed > 1 ? ", at lines " : "", lines.listed > 1 ? lines.text : "", most,
                          grade_where(g, over));
    bool pass = check(g, name, !over, over, want, got, words);
    check_is_limit(g, grade_say(g, "copies %s", direction), most, n);
    return pass;
}

static bool check_answer_on(grading *g, const char *answer, bool card)
{
    grade_array a = grade_answer(g, answer);
    bool pass = is_on_card(a.device) == card;
    const char *place = card ? "on the card" : "in CPU RAM", *device = grade_device(g, a.device);
    return check(g, card ? "answer-on-the-card" : "answer-on-the-cpu", pass, a.event, card ? "cuda" : "cpu", device,
                 pass ? grade_say(g, "%s was submitted %s.", answer, place)
                      : grade_say(g, "%s was on %s when it was submitted%s; the lesson wants it %s.", answer, device,
                                  at_line(g, a.event), place));
}

bool check_answer_on_card(grading *g, const char *answer) { return check_answer_on(g, answer, true); }
bool check_answer_at_home(grading *g, const char *answer) { return check_answer_on(g, answer, false); }
