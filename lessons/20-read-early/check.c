/* Lesson 20: the CPU waits for copies to it before it reads them; once. */
#include "grade.h"

/* relu(x) + x * x. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i] = (x.data[i] > 0 ? x.data[i] : 0) + x.data[i] * x.data[i];
    return check_values(g, "y", want, x.ndim, x.shape);
}

static bool check_arrived(grading *g)
{
    const char *name = "arrived-before-it-is-read";
    const fy_event *race = shows_misconception(g, "home-copy-is-there-at-once");
    if (!race || race->kind != FY_KIND_data_race) return check_understood(g, name, "home-copy-is-there-at-once");
    const trace *run = grade_trace(g);
    uint64_t a = race->is.data_race.a - 1, count = (uint64_t)run->count; /* a seq plus 1 */
    const fy_event *copy = a < count ? &run->events[a] : race;
    return check(
        g, name, false, race, "a wait between copy and read", "no wait between them",
        grade_say(g,
                  "Line %d queues a copy to CPU RAM, and line %d reads bytes that may not have arrived: nothing "
                  "between the two waits for them. Wait after the last copy, before the CPU reads.",
                  grade_line(copy), grade_line(race)));
}

static bool check_queued(grading *g)
{
    const char *name = "copies-are-queued", *want = "no copy back blocks";
    const fy_event *c = next_event(g, NULL, copy, is->dir == FY_WORD_d2h && !is->was_async);
    if (!c) return check(g, name, true, NULL, want, want, "The copies back did not block.");
    return check(g, name, false, c, want, grade_where(g, c),
                 grade_say(g,
                           "The program stood still during %s. Queue it with .non_blocking = true, and wait once for "
                           "all copies.",
                           grade_where(g, c)));
}

/* A query may happen to be true; it does not wait until it is. */
static bool check_waited(grading *g)
{
    const char *name = "the-cpu-waits", *want = "a wait for the copies";
    const fy_event *query = next_event(g, NULL, query, true), *wait = next_event(g, NULL, sync, true);
    if (wait || !query) return check(g, name, true, wait, want, want, "The CPU waited for the copies.");
    return check(g, name, false, query, want, "a query",
                 grade_say(g,
                           "Line %d asks whether the work is done. It was, this time. The lesson wants a wait: a call "
                           "that returns when the work is done.",
                           grade_line(query)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y") || !check_arrived(g) || !check_ordered(g)) return;
    check_numbers(g);
    check_computed(g, "y", "relu mul", 2);
    check_answer_at_home(g, "y");
    check_queued(g);
    check_waited(g);
    check_waits(g, "one-wait", 1);
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "two-copies-back", FY_WORD_d2h, 2, true);
}

const lesson_check lesson_check_20 = {"20-read-early", judge};
