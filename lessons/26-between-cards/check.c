/* Between cards: what one card has and the other needs goes there in one copy, past the host. */
#include "grade.h"

enum { FIRST = 1, SECOND = 2 }; /* as devices of the log */

static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i] = x.data[i] > 0 ? x.data[i] / 2 + 1 : 1;
    return check_values(g, "y", want, x.ndim, x.shape);
}

/* The misconception, with both copies of the detour. */
static bool check_direct(grading *g)
{
    const char *name = "from-card-to-card", *want = "a copy from card to card";
    const fy_event *e = shows_misconception(g, "cards-copy-directly");
    if (!e) return check(g, name, true, NULL, want, want, "Nothing went from card to card through the host.");
    const fy_event *away = NULL;
    each_event(g, c, copy) if (c->seq < e->seq && c->is.copy.dst.storage == e->is.copy.src.storage) away = c;
    return check(g, name, false, e, want, "two copies over the bus",
                 grade_say(g,
                           "%lld bytes came to the host at line %d, only to leave for %s at line %d: twice over the "
                           "bus, and your program waited for both. These two cards can copy to each other in one call.",
                           (long long)e->is.copy.bytes, grade_line(away), grade_device(g, e->is.copy.dst.device),
                           grade_line(e)));
}

/* An operation that computes y, and does not only put elements elsewhere. */
static bool computes_y(grading *g, const fy_event *op)
{
    fy_use in;
    return fy_event_use(op, op->is.op.in, 0, &in) && !fy_event_is(op, op->is.op.name, "clone") &&
           leads_to(g, op, grade_answer(g, "y").event);
}

/* A stage ran on its card. op: NULL if it did not run. */
static bool check_stage(grading *g, const char *name, const char *stage, const char *of, const fy_event *op,
                        uint8_t card)
{
    const char *want = grade_say(g, "fy_%s on %s", of, grade_device(g, card));
    if (op && op->is.op.device == card)
        return check(g, name, true, op, want, want, grade_say(g, "The %s stage ran on its card.", stage));
    return check(g, name, false, op ? op : grade_answer(g, "y").event, want, "not there",
                 op ? grade_say(g, "%s ran on %s; the %s stage is the %s card's.", grade_where(g, op),
                                grade_device(g, op->is.op.device), stage, card == FIRST ? "first" : "second")
                    : grade_say(g, "The %s stage, fy_%s, did not run.", stage, of));
}

/* relu, however it is written; nothing of that name ran elsewhere. */
static bool check_middle(grading *g)
{
    const fy_event *here =
        next_event(g, NULL, op, computes_as(it, "relu") && is->device == SECOND && computes_y(g, it));
    const char *of = here ? grade_text(g, here, here->is.op.name) : "relu";
    const fy_event *off =
        next_event(g, NULL, op, fy_event_is(it, is->name, of) && is->device != SECOND && computes_y(g, it));
    return check_stage(g, "both-cards-work", "middle", "relu", off ? off : here, SECOND);
}

static void check_ends(grading *g)
{
    const fy_event *first = next_event(g, NULL, op, computes_y(g, it)), *last = NULL;
    each_event(g, op, op) if (computes_y(g, op)) last = op;
    check_stage(g, "first-stage-on-its-card", "first", "mul", first, FIRST);
    check_stage(g, "last-stage-on-its-card", "last", "add", last, FIRST);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_direct(g);
    check_ran_on_card(g, "y", "x");
    check_middle(g);
    check_computed(g, "y", "mul relu add", 3);
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "one-copy-back", FY_WORD_d2h, 1, true);
    check_copies(g, "two-copies-between-cards", FY_WORD_p2p, 2, true);
    check_bytes(g, "few-bytes", FY_WORD_none, 2 * 4 * grade_given(g, "x").count);
    check_ends(g);
}

const lesson_check lesson_check_26 = {"26-between-cards", judge};
