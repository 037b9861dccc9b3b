/* Lesson 7: copies from page-locked memory, in a stream of their own, run while the card works; only the work waits. */
#include "grade.h"

/* y: the columns' sums of relu(x / 2 + 1). */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    int64_t columns = x.shape[1], shape[1] = {columns};
    double *want = x.ndim == 2 && x.shape[0] % 4 == 0 ? grade_numbers(g, columns) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i % columns] += x.data[i] > -2 ? x.data[i] / 2 + 1 : 0;
    return check_values(g, "y", want, 1, shape);
}

/* Does an operation of another stream that leads to the answer run during the copy? */
static bool overlaps(grading *g, const fy_event *copy, const fy_event *answer)
{
    const fy_event *moved = completion_of(g, copy->is.copy.id);
    each_event(g, op, op)
    {
        bool beside = is_on_card(op->is.op.device) && op->is.op.stream != copy->is.copy.stream;
        if (!moved || !beside || !leads_to(g, op, answer)) continue;
        const fy_event *done = completion_of(g, op->is.op.id);
        if (done && done->is.complete.start < moved->is.complete.end &&
            done->is.complete.end > moved->is.complete.start)
            return true;
    }
    return false;
}

static bool check_overlap(grading *g)
{
    const char *name = "copies-beside-work", *want = "3 copies or more while the card works on y";
    const fy_event *answer = grade_answer(g, "y").event, *alone = NULL;
    int n = 0;
    each_event(g, c, copy)
    {
        if (c->is.copy.dir != FY_WORD_h2d) continue;
        if (overlaps(g, c, answer)) n++;
        else if (!alone || n == 0) alone = c;
    }
    const char *got = grade_say(g, "%d", n);
    if (!alone && n < 3)
        return check(g, name, false, answer, want, got,
                     grade_say(g, "Copies to the card: %d, and the lesson wants one for each of the four parts.", n));
    if (n >= 3) return check(g, name, true, NULL, want, got, "The copies ran while the card worked on y.");
    if (!alone) return check(g, name, false, NULL, want, got, "Nothing was copied to the card.");
    return check(
        g, name, false, alone, want, got,
        grade_say(g,
                  "Copies that ran while the card worked on y: %d, and the lesson wants 3. During %s the card did "
                  "nothing that y is computed from: queue the work on one part before the copy of the next.",
                  n, grade_where(g, alone)));
}

static bool check_returns_at_once(grading *g)
{
    const char *name = "copies-return-at-once", *want = "no copy to the card blocks the program";
    const fy_event *c = next_event(g, NULL, copy, is->dir == FY_WORD_h2d && !is->was_async);
    if (!c) return check(g, name, true, NULL, want, want, "No copy to the card blocked the program.");
    return check(g, name, false, c, want, grade_where(g, c),
                 grade_say(g,
                           "The program stood still during %s, where it could have queued the next work: copy with "
                           ".non_blocking = true.",
                           grade_where(g, c)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_ordered(g);
    check_numbers(g);
    check_understood(g, "really-overlaps", "non-blocking-alone-overlaps");
    check_ran_on_card(g, "y", "x");
    check_computed(g, "y", "mul add relu", 13); /* three for each part, three sums at least, and the last one */
    check_returns_at_once(g);
    check_waits(g, "waits", 1);
    check_overlap(g);
    check_bytes(g, "few-bytes", FY_WORD_h2d, 4 * grade_given(g, "x").count);
}

const lesson_check lesson_check_07 = {"07-overlap", judge};
