/* Lesson 21: the source of a queued copy is written again only after a wait; one wait, one box. */
#include "grade.h"

/* relu of the first half, plus the second half. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    int64_t count = x.count / 2, shape[2] = {x.shape[0] / 2, x.shape[1]};
    double *want = x.data && x.ndim == 2 && x.shape[0] % 2 == 0 ? grade_numbers(g, count) : NULL;
    for (int64_t i = 0; want && i < count; i++) want[i] = (x.data[i] > 0 ? x.data[i] : 0) + x.data[count + i];
    return check_values(g, "y", want, 2, shape);
}

static bool check_read(grading *g)
{
    const char *name = "read-before-it-is-written";
    const fy_event *race = shows_misconception(g, "source-is-mine-at-once");
    if (!race || race->kind != FY_KIND_data_race) return check_understood(g, name, "source-is-mine-at-once");
    const trace *run = grade_trace(g);
    uint64_t a = race->is.data_race.a - 1, count = (uint64_t)run->count; /* a seq plus 1 */
    const fy_event *copy = a < count ? &run->events[a] : race;
    return check(g, name, false, race, "a wait between copy and write", "no wait between them",
                 grade_say(g,
                           "Line %d queues a copy to the card, and line %d writes into its source: nothing between the "
                           "two makes sure that the card has read it. Wait there.",
                           grade_line(copy), grade_line(race)));
}

static bool check_queued(grading *g)
{
    const char *name = "copies-are-queued", *want = "no copy to the card blocks";
    const fy_event *c = next_event(g, NULL, copy, is->dir == FY_WORD_h2d && !is->was_async);
    if (!c) return check(g, name, true, NULL, want, want, "The copies to the card did not block.");
    const char *why = c->is.copy.async ? "its source is not page-locked, so .non_blocking has no effect"
                                       : "queue it with .non_blocking = true";
    return check(g, name, false, c, want, grade_where(g, c),
                 grade_say(g, "The program stood still during %s: %s.", grade_where(g, c), why));
}

static bool check_one_box(grading *g)
{
    const char *name = "one-box", *want = "1 page-locked tensor";
    const fy_event *box = next_event(g, NULL, alloc, is->mem == FY_WORD_pinned);
    const fy_event *other = box ? next_event(g, box, alloc, is->mem == FY_WORD_pinned) : NULL;
    int64_t batch = 4 * (grade_given(g, "x").count / 2);
    if (!other && box && box->is.alloc.asked > batch)
        return check(g, name, false, box, "1 page-locked tensor, of one batch", "a larger one",
                     grade_say(g,
                               "Line %d page-locks %lld bytes, and a batch has %lld. The lesson wants a box with room "
                               "for one batch, which is used again for the second.",
                               grade_line(box), (long long)box->is.alloc.asked, (long long)batch));
    if (!other) return check(g, name, true, box, want, want, "There was one page-locked box.");
    return check(g, name, false, other, want, "more than one",
                 grade_say(g,
                           "Line %d makes another page-locked tensor. The lesson wants the one box to be used again.",
                           grade_line(other)));
}

static bool check_fills(grading *g)
{
    const char *name = "filled-twice", *want = "the box is filled twice";
    const fy_event *box = next_event(g, NULL, alloc, is->mem == FY_WORD_pinned), *third = NULL;
    int n = 0;
    fy_use out;
    each_event(g, op, op)
    {
        if (box && fy_event_use(op, op->is.op.out, 0, &out) && out.storage == box->is.alloc.storage && ++n == 3)
            third = op;
    }
    if (!third) return check(g, name, true, NULL, want, want, "The box was filled once for each batch.");
    return check(g, name, false, third, want, grade_say(g, "%d times", n),
                 grade_say(g,
                           "The box was filled %d times, the third time at line %d. There are two batches: fill it "
                           "once for each.",
                           n, grade_line(third)));
}

/* One that the program asks for, as check_waits counts them. */
static bool is_a_wait(fy_word why)
{
    return why != FY_WORD_free && why != FY_WORD_oom && why != FY_WORD_policy && why != FY_WORD_exit;
}

/* A query does not wait, and a loop of queries keeps the CPU busy. */
static bool check_waited(grading *g)
{
    const char *name = "the-cpu-waits", *want = "a wait between the two copies";
    const fy_event *first = next_event(g, NULL, copy, is->dir == FY_WORD_h2d);
    const fy_event *second = first ? next_event(g, first, copy, is->dir == FY_WORD_h2d) : NULL;
    const fy_event *wait = first ? next_event(g, first, sync, is_a_wait(is->why)) : NULL;
    const fy_event *query = first ? next_event(g, first, query, true) : NULL;
    if (wait && second && wait->seq < second->seq)
        return check(g, name, true, wait, want, want, "The CPU waited before it filled the box again.");
    if (query)
        return check(
            g, name, false, query, want, "a query",
            grade_say(g,
                      "Line %d asks whether the work is done, which is no wait. The lesson wants a call that returns "
                      "when the work is done.",
                      grade_line(query)));
    return check(
        g, name, false, second ? second : grade_answer(g, "y").event, want, "no wait between them",
        "Nothing between the two copies to the card waits. The lesson wants the CPU to wait until the card has "
        "read the box, and to fill it again then.");
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y") || !check_read(g) || !check_ordered(g)) return;
    check_numbers(g);
    check_computed(g, "y", "relu add", 2);
    check_answer_on_card(g, "y");
    check_queued(g);
    check_one_box(g);
    check_fills(g);
    check_waited(g);
    check_waits(g, "one-wait", 1);
    check_copies(g, "two-copies-there", FY_WORD_h2d, 2, true);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
}

const lesson_check lesson_check_21 = {"21-write-early", judge};
