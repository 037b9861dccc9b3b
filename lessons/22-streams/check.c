/* Lesson 22: each stream waits for what it reads of the other; the CPU waits once, at the end. */
#include "grade.h"

/* relu(x) + w. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), w = grade_given(g, "w");
    double *want = x.data && w.count == x.count ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i] = (x.data[i] > 0 ? x.data[i] : 0) + w.data[i];
    return check_values(g, "y", want, x.ndim, x.shape);
}

static int64_t stream_of(const fy_event *e)
{
    return e->kind == FY_KIND_op ? e->is.op.stream : e->kind == FY_KIND_copy ? e->is.copy.stream : 0;
}

static const char *stream_name(grading *g, const fy_event *e)
{
    return stream_of(e) > 0 ? grade_say(g, "stream %lld", (long long)stream_of(e)) : "the default stream";
}

static bool check_waited(grading *g)
{
    const char *name = "streams-wait-for-each-other";
    const fy_event *race = shows_misconception(g, "streams-see-each-other");
    if (!race || race->kind != FY_KIND_data_race) return check_understood(g, name, "streams-see-each-other");
    const trace *run = grade_trace(g);
    uint64_t a = race->is.data_race.a - 1, b = race->is.data_race.b - 1, count = (uint64_t)run->count; /* seq plus 1 */
    const fy_event *earlier = a < count ? &run->events[a] : race, *later = b < count ? &run->events[b] : race;
    return check(g, name, false, race, "the reading stream waits", "no order between the streams",
                 grade_say(g,
                           "Line %d uses in %s what line %d queued in %s, and nothing orders the two. Before line %d, "
                           "the stream that reads has to wait for the one that writes.",
                           grade_line(later), stream_name(g, later), grade_line(earlier), stream_name(g, earlier),
                           grade_line(later)));
}

/* Every copy to page-locked memory or from it did not block, and was in another stream than the work. */
static bool check_beside(grading *g)
{
    const char *name = "copies-beside-the-work", *want = "queued copies in a stream of their own";
    const fy_event *answer = grade_answer(g, "y").event;
    const fy_event *work = next_event(g, NULL, op, computes_as(it, "relu") && leads_to(g, it, answer));
    each_event(g, c, copy)
    {
        bool bus = c->is.copy.dir == FY_WORD_h2d || c->is.copy.dir == FY_WORD_d2h;
        bool first = c->is.copy.src.storage == given_storage(g, "x"); /* not in the learner's part */
        if (!bus || first) continue;
        if (!c->is.copy.was_async)
            return check(g, name, false, c, want, "a copy that blocks",
                         grade_say(g, "The program stood still during %s. Queue it with .non_blocking = true.",
                                   grade_where(g, c)));
        if (work && c->is.copy.stream == work->is.op.stream)
            return check(
                g, name, false, c, want, "a copy in the stream of the work",
                grade_say(g,
                          "%s is in the stream in which relu runs, so they cannot run at the same time. Copies "
                          "belong in the other stream: FY_STREAM(copies) { ... }.",
                          grade_say(g, "T%s", grade_where(g, c) + 1)));
    }
    return check(g, name, true, work, want, want, "The copies were queued beside the work.");
}

/* relu needs nothing of the other stream. */
static bool check_relu_at_once(grading *g)
{
    const char *name = "relu-at-once", *want = "no wait of the work before relu";
    const fy_event *answer = grade_answer(g, "y").event;
    const fy_event *relu = next_event(g, NULL, op, computes_as(it, "relu") && leads_to(g, it, answer));
    const fy_event *wait =
        relu ? next_event(g, NULL, event_wait, is->stream == relu->is.op.stream && it->seq < relu->seq) : NULL;
    if (!wait) return check(g, name, true, relu, want, want, "relu did not wait for w.");
    return check(g, name, false, wait, want, "a wait before relu",
                 grade_say(g,
                           "At line %d the work waits for the copy of w, and relu is queued after that, at line %d: it "
                           "needs x alone, and could run meanwhile. Wait where w is needed.",
                           grade_line(wait), grade_line(relu)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y") || !check_waited(g) || !check_ordered(g)) return;
    check_numbers(g);
    check_computed(g, "y", "relu add", 2);
    check_answer_at_home(g, "y");
    check_beside(g);
    check_relu_at_once(g);
    check_waits(g, "the-cpu-waits-once", 1);
    check_copies(g, "two-copies-there", FY_WORD_h2d, 2, true);
    check_copies(g, "one-copy-back", FY_WORD_d2h, 1, true);
}

const lesson_check lesson_check_22 = {"22-streams", judge};
