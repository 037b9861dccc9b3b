/* Myth 4: "fy_to always makes a new tensor." */
#include "grade.h"

#include <string.h>

/* Of two names that the same tensor was handed in under: the second answer. */
static const fy_event *answered_again(grading *g)
{
    each_event(g, a, answer)
    {
        const fy_event *b =
            next_event(g, a, answer,
                       is->tensor && is->tensor == a->is.answer.tensor &&
                           strcmp(grade_text(g, it, is->name), grade_text(g, a, a->is.answer.name)) != 0);
        if (b) return b;
    }
    return NULL;
}

static evidence find(grading *g)
{
    const fy_event *again = answered_again(g), *first = next_event(g, NULL, answer, true);
    const fy_event *second = first ? next_event(g, first, answer, true) : NULL, *c = next_event(g, NULL, copy, true);
    if (again && !next_event(g, NULL, same, is->tensor == again->is.answer.tensor))
        return shows_nothing(again, grade_say(g,
                                              "The answer at line %d is the same tensor, but no fy_to returned it: it "
                                              "only has two names.",
                                              grade_line(again)));
    if (again)
        return shows_false(again, grade_say(g,
                                            "the answer at line %d is a tensor that has been handed in under another "
                                            "name, too: the one with the id %u",
                                            grade_line(again), again->is.answer.tensor));
    if (second)
        return shows_nothing(second, grade_say(g,
                                               "The answers at lines %d and %d are two tensors. But one new tensor "
                                               "does not prove \"always\".",
                                               grade_line(first), grade_line(second)));
    if (first)
        return shows_nothing(
            first, grade_say(g, "There is one answer, at line %d, and nothing to compare it with.", grade_line(first)));
    if (c)
        return shows_nothing(c, grade_say(g,
                                          "The fy_to at line %d had something to do, and one new tensor does not prove "
                                          "\"always\".",
                                          grade_line(c)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e,
                     "a fy_to that has nothing to do; what it was given and what it returned, handed in with fy_answer "
                     "under two names"))
        return;
    check_uses_given(g, e.at, "x");
    check_small(g, 3);
    check_finished(g);
}

const lesson_check lesson_check_m4 = {"m4-new-tensor", judge};
