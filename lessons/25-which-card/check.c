/* Which card: low on the first card and high on the second, and "cuda" means the first one again at the end. */
#include "grade.h"

enum { FIRST = 1, SECOND = 2 }; /* as devices of the log */

static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *low = x.data ? grade_numbers(g, x.count) : NULL, *high = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; low && high && i < x.count; i++) {
        low[i] = x.data[i] / 2;
        high[i] = x.data[i] > 0 ? x.data[i] : 0;
    }
    return check_values(g, "low", low, x.ndim, x.shape) && check_values(g, "high", high, x.ndim, x.shape);
}

/* The misconception, with the line that chose the card. */
static bool check_current(grading *g)
{
    const char *name = "the-current-card", *want = "\"cuda\" means cuda:0 again";
    const fy_event *e = shows_misconception(g, "cuda-is-cuda-0");
    if (!e) return check(g, name, true, NULL, want, want, "No \"cuda\" names another card than was meant.");
    const fy_event *set = next_event(g, NULL, set_device, is->device > FIRST);
    return check(g, name, false, e, want, "cuda:1 is still current",
                 e->kind == FY_KIND_error
                     ? grade_say(g,
                                 "Line %d made cuda:1 the current card, and it still is at line %d: \"cuda\" names the "
                                 "current card, so this call met tensors of two cards. Say which card you mean, or "
                                 "make the other one current again.",
                                 grade_line(set), grade_line(e))
                     : grade_say(g,
                                 "Line %d made cuda:1 the current card, and it is to the end, although later "
                                 "work is for cuda:0: the next \"cuda\" in this program would name the wrong card.",
                                 grade_line(set)));
}

/* fy_clone, fy_cat, fy_pin_memory put elements elsewhere, and compute nothing. */
static bool computes(const fy_event *op) { return !fy_event_is(op, op->is.op.name, "clone"); }

/* All that leads to the answer ran on the card, and the answer is there. */
static bool check_card(grading *g, const char *name, const char *answer, uint8_t card)
{
    grade_array a = grade_answer(g, answer);
    const char *want = grade_say(g, "%s on %s", answer, grade_device(g, card));
    const fy_event *off = next_event(g, NULL, op, leads_to(g, it, a.event) && is->device != card && computes(it));
    if (off)
        return check(g, name, false, off, want, grade_device(g, off->is.op.device),
                     grade_say(g, "%s ran on %s; the work for %s belongs on %s.", grade_where(g, off),
                               grade_device(g, off->is.op.device), answer, grade_device(g, card)));
    return check(g, name, a.device == card, a.event, want, grade_device(g, a.device),
                 grade_say(g, "%s was on %s when it was submitted, and belongs on %s.", answer,
                           grade_device(g, a.device), grade_device(g, card)));
}

/* Even where no later line of this program says "cuda". */
static bool check_put_back(grading *g)
{
    const char *name = "current-at-the-end", *want = "\"cuda\" means cuda:0 at the end";
    const fy_event *last = NULL;
    each_event(g, set, set_device) last = set;
    if (!last || last->is.set_device.device == FIRST)
        return check(g, name, true, last, want, want, "At the end, \"cuda\" means what it meant at the start.");
    const char *card = grade_device(g, last->is.set_device.device);
    return check(g, name, false, last, want, grade_say(g, "%s is current", card),
                 grade_say(g,
                           "Line %d made %s the current card, and it is to the end: the next \"cuda\" in this program "
                           "would name the wrong card. Make the other one current again.",
                           grade_line(last), card));
}

static void judge(grading *g)
{
    if (!check_current(g) || !check_same_device(g)) return;
    if (!check_answered(g, "low") || !check_answered(g, "high")) return;
    check_numbers(g);
    check_card(g, "low-on-the-first-card", "low", FIRST);
    check_card(g, "high-on-the-second-card", "high", SECOND);
    check_computed(g, "low", "mul", 1);
    check_computed(g, "high", "relu", 1);
    check_copies(g, "two-copies", FY_WORD_h2d, 2, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, false);
    check_put_back(g);
}

const lesson_check lesson_check_25 = {"25-which-card", judge};
