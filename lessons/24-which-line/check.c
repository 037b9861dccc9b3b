/* Which line: no call is given the number of a row that is not there; the work stays on the card. */
#include "grade.h"

static bool check_numbers(grading *g)
{
    grade_array days = grade_given(g, "days");
    int64_t count = days.shape[0], each = days.shape[1];
    double *want = days.ndim == 2 ? grade_numbers(g, count) : NULL;
    for (int64_t i = 0; want && i < days.count; i++)
        if (days.data[i] > 0) want[count - 1 - i / each] += days.data[i];
    return check_values(g, "y", want, 1, &count);
}

/* The misconception, with the line that caused the error. */
static bool check_cause(grading *g)
{
    const char *name = "the-line-that-caused-it", *want = "the cause is fixed";
    const fy_event *e = shows_misconception(g, "error-names-its-line");
    if (!e) return check(g, name, true, NULL, want, want, "No line reports an error that another one caused.");
    uint64_t cause = e->is.error.caused_by - 1; /* a seq plus 1 */
    const trace *run = grade_trace(g);
    const fy_event *op = cause < (uint64_t)run->count ? &run->events[cause] : e;
    return check(g, name, false, e, want, "an error told later",
                 grade_say(g,
                           "Line %d reports an error, and did not cause it: %s was queued before, and the card found, "
                           "while it did that work, a row number that the table does not have. Find out where "
                           "this number comes from, and fix it there.",
                           grade_line(e), grade_where(g, op)));
}

/* The row numbers need no input: there is no copy of days to compute them with, as check_ran_on_card would say. */
static bool check_made_there(grading *g)
{
    const fy_event *answer = grade_answer(g, "y").event;
    fy_use in, out;
    const fy_event *off =
        next_event(g, NULL, op, !is_on_card(is->device) && leads_to(g, it, answer) && fy_event_use(it, is->in, 0, &in));
    bool makes = off && fy_event_use(off, off->is.op.out, 0, &out);
    if (!makes || storage_comes_from(g, out.storage, given_storage(g, "days")))
        return check_ran_on_card(g, "y", "days");
    return check(g, "ran-on-the-card", false, off, "every operation on the card",
                 grade_say(g, "%s ran on the CPU", grade_where(g, off)),
                 grade_say(g,
                           "%s ran on the CPU, on a tensor that was created there. The row numbers need no input: "
                           "create them on the card, with .device = \"cuda\".",
                           grade_where(g, off)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_cause(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_made_there(g);
    check_computed(g, "y", "index_select relu sum", 3);
    check_answer_at_home(g, "y");
    check_copies(g, "one-copy-back", FY_WORD_d2h, 1, true);
    check_waits(g, "one-wait", 1);
}

const lesson_check lesson_check_24 = {"24-which-line", judge};
