/* Myth 11: "Small data may be better on the CPU." */
#include "grade.h"

/* From the call to the result, without the work that was queued before. */
static double nanoseconds(grading *g, const fy_event *op)
{
    const fy_event *done = completion_of(g, op->is.op.id);
    double work = done && is_on_card(op->is.op.device) ? (double)(done->is.complete.end - done->is.complete.start) : 0;
    return (double)op->is.op.held + work;
}

static bool is_of_size(grading *g, const fy_event *op, int64_t elements)
{
    fy_use out;
    const fy_event *t = fy_event_use(op, op->is.op.out, 0, &out) ? tensor_birth(g, out.tensor) : NULL;
    int64_t count = 1, size;
    for (size_t d = 0; t && fy_event_dim(t, t->is.tensor.shape, d, &size); d++) count *= size;
    return t && count == elements;
}

/* The same operation, of as many numbers, on a card. */
static const fy_event *twin_on_card(grading *g, const fy_event *op)
{
    return next_event(g, NULL, op,
                      is_on_card(is->device) && is->flops == op->is.op.flops && is->bytes == op->is.op.bytes &&
                          fy_event_is(it, is->name, grade_text(g, op, op->is.op.name)));
}

/* An operation on the CPU that also ran on a card, of x's size or of another one. */
static const fy_event *next_pair(grading *g, const fy_event *last, bool of_x)
{
    const int64_t elements = grade_given(g, "x").count;
    return next_event(g, last, op,
                      is->device == 0 && is_of_size(g, it, elements) == of_x && twin_on_card(g, it) != NULL);
}

static evidence find(grading *g)
{
    const fy_event *here = next_pair(g, NULL, true), *other = next_pair(g, NULL, false);
    const fy_event *there = here ? twin_on_card(g, here) : NULL;
    if (here) {
        const double cpu = nanoseconds(g, here), card = nanoseconds(g, there);
        const char *what = grade_say(g, "%s took %.1f µs on the CPU, and the same work at line %d %.1f µs on the card",
                                     grade_where(g, here), cpu / 1e3, grade_line(there), card / 1e3);
        return cpu < card ? shows_true(here, what) : shows_false(here, what);
    }
    if (other)
        return shows_nothing(other, grade_say(g,
                                              "%s has a twin on the card, but it is not of the size of x: the "
                                              "statement is about small data.",
                                              grade_where(g, other)));
    const fy_event *alone = next_event(g, NULL, op, is_of_size(g, it, grade_given(g, "x").count));
    if (alone)
        return shows_nothing(alone, grade_say(g, "%s ran on one of the two, and there is nothing to compare it with.",
                                              grade_where(g, alone)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "the same operation on the CPU and on the card, of tensors of the size of x")) return;
    check_uses_given(g, e.at, "x");
    check_small(g, 3);
    check_finished(g);
}

const lesson_check lesson_check_m11 = {"m11-small", judge};
