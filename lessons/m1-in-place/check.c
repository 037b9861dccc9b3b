/* Myth 1: "An in-place operation brings a tensor on the card back to the CPU." */
#include "grade.h"

/* The tensor that an op wrote again: a first write makes version 1. */
static bool writes_again(const fy_event *op, fy_use *to)
{
    for (size_t i = 0; fy_event_use(op, op->is.op.out, i, to); i++)
        if (to->version > 1) return true;
    return false;
}

/* fy_copy_ into a tensor that has values. */
static const fy_event *copied_over(const grading *g, bool on_card)
{
    return next_event(g, NULL, copy, is->dst.version > 1 && storage_is_on_card(g, is->dst.storage) == on_card);
}

static evidence find(grading *g)
{
    const fy_event *over = copied_over(g, true), *at_home = copied_over(g, false), *anew = NULL;
    fy_use to;
    each_event(g, op, op)
    {
        if (!writes_again(op, &to)) {
            if (is_on_card(op->is.op.device) && !anew) anew = op;
        } else if (!storage_is_on_card(g, to.storage)) {
            at_home = op;
        } else if (is_on_card(op->is.op.device)) {
            return shows_false(
                op, grade_say(g,
                              "the operation at line %d wrote into a tensor in VRAM, ran on the card, and its "
                              "result is where the tensor was: in VRAM",
                              grade_line(op)));
        } else {
            return shows_true(op,
                              grade_say(g, "the operation at line %d wrote into a tensor in VRAM, and ran on the CPU",
                                        grade_line(op)));
        }
    }
    if (over)
        return shows_false(over, grade_say(g,
                                           "fy_copy_ at line %d wrote into a tensor in VRAM, and the tensor is still "
                                           "there",
                                           grade_line(over)));
    if (at_home)
        return shows_nothing(at_home, grade_say(g,
                                                "The tensor that was changed in place at line %d was in CPU RAM "
                                                "already: nothing could be brought back.",
                                                grade_line(at_home)));
    if (anew)
        return shows_nothing(anew, grade_say(g, "%s wrote its result into a new tensor, so it did not work in place.",
                                             grade_where(g, anew)));
    return shows_nothing(NULL, NULL);
}

/* What an operation like fy_zero_ replaces, it does not read: then the copy that brought it tells where it is from. */
static const fy_event *source_of(const grading *g, const fy_event *e)
{
    fy_use in, to;
    bool reads = e->kind != FY_KIND_op || fy_event_use(e, e->is.op.in, 0, &in);
    if (reads || !fy_event_use(e, e->is.op.out, 0, &to)) return e;
    const fy_event *copy = next_event(g, NULL, copy, is->dst.storage == to.storage && it->seq < e->seq);
    return copy ? copy : e;
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "a tensor in VRAM that is changed in place")) return;
    check_uses_given(g, source_of(g, e.at), "x");
    check_small(g, 4);
    check_finished(g);
}

const lesson_check lesson_check_m1 = {"m1-in-place", judge};
