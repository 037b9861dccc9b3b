/* Lesson 23: memory is freed while another stream reads it, and reused only when that stream is done. */
#include "grade.h"

/* x * x, or 3 x. */
static bool check_numbers(grading *g, const char *answer, bool square)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i] = x.data[i] * (square ? x.data[i] : 3);
    return check_values(g, answer, want, x.ndim, x.shape);
}

static bool check_reuse(grading *g)
{
    const char *name = "not-reused-too-early";
    const fy_event *race = shows_misconception(g, "freed-is-safe-to-reuse");
    if (!race || race->kind != FY_KIND_data_race) return check_understood(g, name, "freed-is-safe-to-reuse");
    const trace *run = grade_trace(g);
    uint64_t a = race->is.data_race.a - 1, count = (uint64_t)run->count; /* a seq plus 1 */
    const fy_event *earlier = a < count ? &run->events[a] : race;
    return check(g, name, false, race, "memory that waits for the other stream", "memory reused at once",
                 grade_say(g,
                           "Line %d writes its result into memory that was freed, and the other stream may still read "
                           "the old tensor there, for line %d. Before fy_free, tell Ferry which other stream uses the "
                           "tensor.",
                           grade_line(race), grade_line(earlier)));
}

/* The copy home has a stream of its own, and the work stays in the default one. */
static bool check_streams(grading *g)
{
    const char *name = "copy-beside-the-work", *want = "the copy in a second stream, the work in the default one";
    const fy_event *triple = grade_answer(g, "triple").event;
    const fy_event *copy = next_event(g, NULL, copy, is->dir == FY_WORD_d2h);
    const fy_event *off = next_event(g, NULL, op, is->stream > 0 && leads_to(g, it, triple));
    if (!copy)
        return check(g, name, false, grade_answer(g, "home").event, want, "no copy",
                     "Nothing was copied back to the CPU: send square home in the stream copies.");
    if (copy->is.copy.stream == 0)
        return check(g, name, false, copy, want, "the copy in the default stream",
                     grade_say(g,
                               "The default stream does %s, and the work behind it waits for the bus. Send square home "
                               "in the stream copies.",
                               grade_where(g, copy)));
    if (off)
        return check(g, name, false, off, want, "work in another stream",
                     grade_say(g,
                               "%s ran in stream %lld. The work on triple belongs in the default stream, where it goes "
                               "on during the copy.",
                               grade_where(g, off), (long long)off->is.op.stream));
    return check(g, name, true, copy, want, want, "The copy home was beside the work.");
}

/* The default stream waits for nothing. */
static bool check_work_goes_on(grading *g)
{
    const char *name = "the-work-goes-on", *want = "no wait of the default stream";
    const fy_event *wait = next_event(g, NULL, event_wait, is->stream == 0);
    return check(
        g, name, !wait, wait, want, wait ? "the default stream waits" : want,
        wait ? grade_say(g,
                         "At line %d the default stream waits for the copy. The work needs nothing from it: only "
                         "the memory of square has to wait.",
                         grade_line(wait))
             : "The work went on during the copy.");
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "home") || !check_answered(g, "triple")) return;
    if (!check_reuse(g) || !check_ordered(g)) return;
    int64_t bytes = (4 * grade_given(g, "x").count + 511) / 512 * 512;
    check_numbers(g, "home", true);
    check_numbers(g, "triple", false);
    check_ran_on_card(g, "home", "x");
    check_ran_on_card(g, "triple", "x");
    check_computed(g, "home", "mul", 1);
    check_computed(g, "triple", "mul", 1);
    check_streams(g);
    check_peak(g, "two-at-once", 1, 2 * bytes);
    check_waits(g, "the-cpu-waits-once", 1);
    check_work_goes_on(g);
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "one-copy-back", FY_WORD_d2h, 1, true);
}

const lesson_check lesson_check_23 = {"23-reuse", judge};
