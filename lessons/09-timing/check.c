/* Lesson 9: the card is idle at the first reading of the clock, has done the loop at the second, and waits for nothing
 * between. */
#include "grade.h"

/* Eight steps x = relu(x / 2 + 1/4). */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) {
        want[i] = x.data[i];
        for (int step = 0; step < 8; step++) want[i] = want[i] > -0.5 ? want[i] / 2 + 0.25 : 0;
    }
    return check_values(g, "x", want, x.ndim, x.shape);
}

static double between(const fy_event *begin, const fy_event *end)
{
    return (double)end->is.mark.now - (double)begin->is.mark.now;
}

/* The two readings of the clock whose difference was submitted; else the last two. */
static bool find_readings(grading *g, const fy_event **begin, const fy_event **end)
{
    grade_array took = grade_answer(g, "took");
    *begin = *end = NULL;
    each_event(g, m, mark)
    {
        if (m->is.mark.now == FY_ABSENT) continue;
        *begin = *end;
        *end = m;
    }
    if (!took.data || !took.count) return *begin != NULL;
    const fy_event *from = next_event(g, NULL, mark, is->now != FY_ABSENT);
    each_event(g, to, mark) /* the clock only goes forward: so does `from` */
    {
        if (to->is.mark.now == FY_ABSENT) continue;
        while (from != to && between(from, to) > took.data[0]) from = next_event(g, from, mark, is->now != FY_ABSENT);
        if (from != to && between(from, to) == took.data[0]) *begin = from, *end = to;
    }
    return *begin != NULL;
}

/* An operation on a card, queued before the reading of the clock and not complete by then. */
static const fy_event *still_runs(grading *g, const fy_event *reading)
{
    each_event(g, op, op)
    {
        if (op->seq > reading->seq) break;
        const fy_event *done = is_on_card(op->is.op.device) ? completion_of(g, op->is.op.id) : NULL;
        if (done && done->is.complete.end > reading->is.mark.now) return op;
    }
    return NULL;
}

/* Without other work before the loop, the first reading has nothing to wait for. */
static bool check_warmed_up(grading *g, const fy_event *begin)
{
    const char *want = "8 operations of the warm-up before the first reading";
    const fy_event *x = grade_answer(g, "x").event;
    int n = count_events(
        g, op, computes_as(it, "mul") && is_on_card(is->device) && it->seq < begin->seq && !leads_to(g, it, x));
    return check(g, "warm-up-is-there", n >= 8, begin, want, grade_say(g, "%d", n),
                 n >= 8 ? "The warm-up was queued before the clock was read."
                        : grade_say(g,
                                    "Before the clock is read at line %d, the card gets %d operations of the warm-up, "
                                    "and the file has 8: leave the part outside the marks as it was.",
                                    grade_line(begin), n));
}

static bool check_idle(grading *g, const char *name, const fy_event *reading, const char *want)
{
    const fy_event *op = still_runs(g, reading);
    if (!op) return check(g, name, true, reading, want, want, "The card had done all that was queued.");
    return check(
        g, name, false, reading, want, grade_say(g, "%s was not done", grade_where(g, op)),
        grade_say(g,
                  "When the clock was read at line %d, the card had not done %s, which was queued before: wait "
                  "for the card first, then read the clock.",
                  grade_line(reading), grade_where(g, op)));
}

static bool check_loop_between(grading *g, const fy_event *begin, const fy_event *end)
{
    const char *want = "24 operations between the two readings";
    const fy_event *x = grade_answer(g, "x").event;
    int n =
        count_events(g, op, is_on_card(is->device) && it->seq > begin->seq && it->seq < end->seq && leads_to(g, it, x));
    return check(g, "whole-loop", n >= 24, begin, want, grade_say(g, "%d", n),
                 grade_say(g,
                           "Operations on x between the readings of the clock at lines %d and %d: %d. The loop has 8 "
                           "steps of 3.",
                           grade_line(begin), grade_line(end), n));
}

static bool check_took(grading *g, const fy_event *begin, const fy_event *end)
{
    grade_array took = grade_answer(g, "took");
    double ns = between(begin, end), got = took.data && took.count ? took.data[0] : -1;
    return check(
        g, "took", got == ns, took.event, grade_say(g, "%.0f ns", ns), grade_say(g, "%.0f ns", got),
        grade_say(g,
                  "The time that was submitted is %.0f ns; between the last two readings of the clock, at lines "
                  "%d and %d, there are %.0f ns.",
                  got, grade_line(begin), grade_line(end), ns));
}

static void judge(grading *g)
{
    const fy_event *begin, *end;
    if (!check_same_device(g) || !check_answered(g, "x") || !check_answered(g, "took")) return;
    check_numbers(g);
    if (!find_readings(g, &begin, &end)) {
        check(g, "two-readings", false, grade_answer(g, "took").event, "two calls of fy_now", "fewer",
              "The time is the difference of two readings of the clock: call fy_now before the loop and after it.");
        return;
    }
    check_understood(g, "waited-for-the-loop", "call-returned-is-done");
    check_ran_on_card(g, "x", "x");
    check_warmed_up(g, begin);
    check_idle(g, "idle-at-the-end", end, "nothing queued at the second reading");
    check_idle(g, "idle-at-the-start", begin, "nothing queued at the first reading");
    check_loop_between(g, begin, end);
    check_took(g, begin, end);
    check_waits(g, "waits", 2);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
}

const lesson_check lesson_check_09 = {"09-timing", judge};
