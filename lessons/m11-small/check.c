/* Myth 11: "Small data may be better on the CPU." */
#include "grade.h"

/* From the call to the result, without the work that was queued before. */
static double nanoseconds(grading *g, const fy_event *op)
{
    const fy_event *done = completion_of(g, op->is.op.id);
    double work = done && is_on_card(op->is.op.device) ? (double)(done->is.complete.end - done->is.complete.start) : 0;
    return (double)op->is.op.held + work;
}

/* Work on about as many numbers as x has. */
static bool is_small(grading *g, const fy_event *op)
{
    enum { BYTES_A_NUMBER = 64, STEPS_A_NUMBER = 64 };
    const int64_t numbers = grade_given(g, "x").count;
    return op->is.op.bytes <= BYTES_A_NUMBER * numbers && op->is.op.flops <= STEPS_A_NUMBER * numbers;
}

static bool is_of_x(const grading *g, const fy_event *op)
{
    fy_use out;
    return fy_event_use(op, op->is.op.out, 0, &out) && storage_comes_from(g, out.storage, given_storage(g, "x"));
}

/* The same operation, of as many numbers, on a card: of x, if there is such a one. */
static const fy_event *twin_on_card(grading *g, const fy_event *op)
{
    const char *name = grade_text(g, op, op->is.op.name);
    const fy_event *any = NULL;
    each_event(g, e, op)
    {
        const fy_ev_op *is = &e->is.op;
        if (!is_on_card(is->device) || is->flops != op->is.op.flops || is->bytes != op->is.op.bytes ||
            !fy_event_is(e, is->name, name))
            continue;
        if (is_of_x(g, e)) return e;
        any = any ? any : e;
    }
    return any;
}

static evidence compare(grading *g, const fy_event *here, const fy_event *there)
{
    const double cpu = nanoseconds(g, here), card = nanoseconds(g, there);
    const fy_event *at = is_of_x(g, there) ? here : there; /* what has to be of x */
    const char *what = grade_say(g, "%s took %.1f µs on the CPU, and the same work at line %d %.1f µs on the card",
                                 grade_where(g, here), cpu / 1e3, grade_line(there), card / 1e3);
    return cpu < card ? shows_true(at, what) : shows_false(at, what);
}

static evidence find(grading *g)
{
    const fy_event *here = next_event(g, NULL, op, is->device == 0 && is_small(g, it) && twin_on_card(g, it));
    if (here) return compare(g, here, twin_on_card(g, here));
    const fy_event *large = next_event(g, NULL, op, is->device == 0 && twin_on_card(g, it));
    if (large)
        return shows_nothing(large, grade_say(g,
                                              "%s has a twin on the card, but it is much more work than x's few "
                                              "numbers: the statement is about small data.",
                                              grade_where(g, large)));
    const fy_event *alone = next_event(g, NULL, op, is_of_x(g, it));
    if (alone)
        return shows_nothing(alone, grade_say(g, "%s ran on one of the two, and there is nothing to compare it with.",
                                              grade_where(g, alone)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "the same operation on the CPU and on the card, of x or a part of it")) return;
    check_uses_given(g, e.at, "x");
    check_small(g, 8);
    check_finished(g);
}

const lesson_check lesson_check_m11 = {"m11-small", judge};
