/* claims.c: lessons that put a statement on trial. The learner says "true" or "false", and the run has to show it. */
#include "grading.h"

#include <string.h>

evidence shows_true(const fy_event *at, const char *what) { return (evidence){RUN_SHOWS_TRUE, at, what}; }
evidence shows_false(const fy_event *at, const char *what) { return (evidence){RUN_SHOWS_FALSE, at, what}; }
evidence shows_nothing(const fy_event *at, const char *why) { return (evidence){RUN_SHOWS_NOTHING, at, why}; }

/* ---- storages and tensors of an event ------------------------------------------------------------------------- */

const fy_event *tensor_birth(const grading *g, uint32_t tensor)
{
    return tensor ? next_event(g, NULL, tensor, is->tensor == tensor) : NULL;
}

bool storage_is_on_card(const grading *g, uint32_t storage)
{
    const fy_event *alloc = storage ? storage_birth(g, storage) : NULL;
    return alloc && is_on_card(alloc->is.alloc.device);
}

static bool reads_from(const grading *g, const fy_event *op, uint32_t ancestor)
{
    bool yes = false;
    fy_use u;
    for (size_t i = 0; !yes && fy_event_use(op, op->is.op.in, i, &u); i++)
        yes = storage_comes_from(g, u.storage, ancestor);
    return yes;
}

static bool event_uses(const grading *g, const fy_event *e, uint32_t ancestor)
{
    switch (e->kind) {
    case FY_KIND_op: return reads_from(g, e, ancestor);
    case FY_KIND_copy: return storage_comes_from(g, e->is.copy.src.storage, ancestor);
    case FY_KIND_host_read: return storage_comes_from(g, e->is.host_read.storage, ancestor);
    case FY_KIND_answer: return storage_comes_from(g, e->is.answer.storage, ancestor);
    case FY_KIND_grad: {
        const fy_event *leaf = tensor_birth(g, e->is.grad.leaf);
        return leaf && storage_comes_from(g, leaf->is.tensor.storage, ancestor);
    }
    default: return false;
    }
}

/* ---- the verdict that the learner gives -------------------------------------------------------------------------- */

static bool is_claim(const fy_event *mark)
{
    return fy_event_is(mark, mark->is.mark.text, "true") || fy_event_is(mark, mark->is.mark.text, "false");
}

static const fy_event *the_claim(const grading *g) { return next_event(g, NULL, mark, is_claim(it)); }

/* There is none: what was written in its place, or what stopped the program before it. */
static bool fail_unclaimed(grading *g, const char *want)
{
    const fy_event *other = next_event(g, NULL, mark, is->text != 0), *error = next_event(g, NULL, error, true);
    if (other) {
        const char *text = grade_text(g, other, other->is.mark.text);
        return check(g, "claimed", false, other, want, grade_say(g, "\"%.60s\"", text),
                     grade_say(g,
                               "fy_mark at line %d says \"%.60s\". A verdict is one word: write fy_mark(\"true\") or "
                               "fy_mark(\"false\"). What do you say of the statement?",
                               grade_line(other), text));
    }
    if (error)
        return check(g, "claimed", false, error, want, "no verdict",
                     grade_say(g, "The program stopped at line %d, before any verdict: %s", grade_line(error),
                               grade_text(g, error, error->is.error.message)));
    return check(g, "claimed", false, g->run->events + g->run->count - 1, want, "no verdict",
                 "The run has no verdict. Write fy_mark(\"true\") or fy_mark(\"false\"): what do you say of the "
                 "statement?");
}

static bool check_claimed(grading *g)
{
    const char *want = "one verdict, \"true\" or \"false\"";
    const fy_event *claim = the_claim(g), *second = claim ? next_event(g, claim, mark, is_claim(it)) : NULL;
    if (!claim) return fail_unclaimed(g, want);
    const char *text = grade_text(g, claim, claim->is.mark.text);
    if (second)
        return check(
            g, "claimed", false, second, want, "more than one verdict",
            grade_say(g, "The verdict at line %d is \"%s\", and at line %d there is another, \"%s\": keep one.",
                      grade_line(claim), text, grade_line(second), grade_text(g, second, second->is.mark.text)));
    return check(g, "claimed", true, claim, want, grade_say(g, "\"%s\"", text),
                 grade_say(g, "You say that the statement is %s.", text));
}

/* ---- what the run shows --------------------------------------------------------------------------------------- */

static bool check_shown(grading *g, evidence e, const char *experiment)
{
    const fy_event *error = next_event(g, NULL, error, true);
    if (e.shows != RUN_SHOWS_NOTHING)
        return check(g, "shown", true, e.at, experiment, e.what, grade_say(g, "The run decides it: %s.", e.what));
    if (e.what)
        return check(g, "shown", false, e.at ? e.at : the_claim(g), experiment, "something else",
                     grade_say(g, "%s What decides it: %s.", e.what, experiment));
    if (error)
        return check(g, "shown", false, error, experiment, "a call that failed",
                     grade_say(g, "A call failed at line %d: %s. What decides the statement: %s.", grade_line(error),
                               grade_text(g, error, error->is.error.message), experiment));
    return check(g, "shown", false, the_claim(g), experiment, "nothing",
                 grade_say(g,
                           "A verdict needs proof, and nothing in this run decides the statement. What decides it: "
                           "%s. Write such lines.",
                           experiment));
}

static bool check_claim_holds(grading *g, evidence e)
{
    const fy_event *claim = the_claim(g);
    bool said = fy_event_is(claim, claim->is.mark.text, "true"), shown = e.shows == RUN_SHOWS_TRUE;
    const char *want = shown ? "\"true\", as the run shows" : "\"false\", as the run shows";
    const char *got = said ? "\"true\"" : "\"false\"";
    if (said == shown)
        return check(g, "claim-holds", true, e.at, want, got,
                     grade_say(g, "The statement is %s, and the run shows it.", said ? "true" : "false"));
    return check(g, "claim-holds", false, e.at, want, got,
                 grade_say(g,
                           "You say %s at line %d, and your own run shows the opposite: %s. Look at that event again.",
                           said ? "true" : "false", grade_line(claim), e.what));
}

bool check_claim(grading *g, evidence e, const char *experiment)
{
    return check_claimed(g) && check_shown(g, e, experiment) && check_claim_holds(g, e);
}

/* ---- a small experiment that ends --------------------------------------------------------------------------------- */

bool check_uses_given(grading *g, const fy_event *e, const char *given)
{
    bool pass = e && event_uses(g, e, given_storage(g, given));
    const char *want = grade_say(g, "an experiment with %s", given);
    return check(g, "uses-the-input", pass, e, want, pass ? want : "with something else",
                 pass ? grade_say(g, "The experiment uses %s.", given)
                      : grade_say(g, "The experiment at line %d uses another tensor: make it with the input, %s.",
                                  grade_line(e), given));
}

/* A fill without operands makes a tensor: it is no part of an experiment. */
static bool is_work(const fy_event *e)
{
    return e->kind == FY_KIND_copy || (e->kind == FY_KIND_op && !fy_event_is(e, e->is.op.name, "fill"));
}

bool check_small(grading *g, int most)
{
    int n = 0;
    const fy_event *over = NULL;
    for (const fy_event *e = g->run->events; e < g->run->events + g->run->count; e++)
        if (is_work(e) && ++n == most + 1) over = e;
    const char *words = grade_say(g, "Copies and operations: %d. The limit is %d.", n, most);
    if (over)
        words = grade_say(g,
                          "Copies and operations: %d, and the limit is %d: keep the lines that show it, and no others. "
                          "The first one over it is %s.",
                          n, most, grade_where(g, over));
    bool pass = check(g, "small-experiment", !over, over, grade_say(g, "%d copies and operations allowed", most),
                      grade_say(g, "%d", n), words);
    check_is_limit(g, "copies and operations", most, n);
    return pass;
}

bool check_finished(grading *g)
{
    const char *want = "no call failed, and main ended";
    const fy_event *error = next_event(g, NULL, error, true), *last = g->run->events + g->run->count - 1;
    if (error)
        return check(g, "finished", false, error, want, grade_text(g, error, error->is.error.code),
                     grade_say(g, "The verdict is right, but a call failed at line %d: %s", grade_line(error),
                               grade_text(g, error, error->is.error.message)));
    if (!next_event(g, NULL, end, true))
        return check(g, "finished", false, last, want, "no end of main",
                     "The verdict is right, but the program ended before the end of main.");
    return check(g, "finished", true, NULL, want, want, "No call failed.");
}
