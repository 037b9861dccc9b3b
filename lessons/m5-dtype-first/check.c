/* Myth 5: "The dtype must be converted before the copy, or the values differ." */
#include "grade.h"

/* The bytes of the first copy to the card that an answer was made from; -1: none. */
static int64_t bytes_there(grading *g, const fy_event *answer)
{
    const fy_event *c = next_event(g, NULL, copy, is->dir == FY_WORD_h2d && leads_to(g, it, answer));
    return c ? c->is.copy.bytes : -1;
}

/* Work that one of the answers was made from, other than conversions and what only puts elements elsewhere: it may
 * change the values, whatever the order. */
static const fy_event *other_work(grading *g, const fy_event *one, const fy_event *other)
{
    return next_event(g, NULL, op,
                      !fy_event_is(it, is->name, "cast") && !fy_event_is(it, is->name, "clone") &&
                          (leads_to(g, it, one) || leads_to(g, it, other)));
}

static evidence compare(grading *g, const fy_event *one, const fy_event *other)
{
    grade_array a = grade_answer(g, grade_text(g, one, one->is.answer.name)),
                b = grade_answer(g, grade_text(g, other, other->is.answer.name)), d = grade_given(g, "d");
    int64_t bytes_a = bytes_there(g, one), bytes_b = bytes_there(g, other), where;
    if (!is_on_card(a.device) || !is_on_card(b.device) || bytes_a < 0 || bytes_b < 0)
        return shows_nothing(other, "The two answers must both be tensors that were copied to the card.");
    if (a.dtype != b.dtype || a.dtype == d.dtype)
        return shows_nothing(other, "The two answers must both be of the same new dtype, or they cannot be compared.");
    if (bytes_a == bytes_b)
        return shows_nothing(other, grade_say(g,
                                              "Both copies to the card carried %lld bytes: that is the same order of "
                                              "the two steps, twice.",
                                              (long long)bytes_a));
    const fy_event *work = other_work(g, one, other);
    if (work)
        return shows_nothing(work, grade_say(g, "%s may change the values as well: compare the two orders alone.",
                                             grade_where(g, work)));
    const char *bytes = grade_say(g, "for the answers at lines %d and %d, %lld and %lld bytes crossed the bus",
                                  grade_line(one), grade_line(other), (long long)bytes_a, (long long)bytes_b);
    if (arrays_close(a.data, a.count, b.data, b.count, 0, 0, &where))
        return shows_false(other, grade_say(g, "%s, in the two orders, and all values are the same", bytes));
    return shows_true(other, grade_say(g, "%s, in the two orders, and the values differ", bytes));
}

static evidence find(grading *g)
{
    const fy_event *first = next_event(g, NULL, answer, true);
    evidence e = shows_nothing(NULL, NULL);
    if (first)
        e = shows_nothing(
            first, grade_say(g, "There is one answer, at line %d, and nothing to compare it with.", grade_line(first)));
    each_event(g, one, answer)
    {
        for (const fy_event *other = one; (other = next_event(g, other, answer, true));) {
            e = compare(g, one, other);
            if (e.shows != RUN_SHOWS_NOTHING) return e;
        }
    }
    return e;
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e,
                     "both orders of the two steps, with d, and the two results on the card handed in with fy_answer "
                     "under two names"))
        return;
    check_uses_given(g, e.at, "d");
    check_small(g, 6);
    check_finished(g);
}

const lesson_check lesson_check_m5 = {"m5-dtype-first", judge};
