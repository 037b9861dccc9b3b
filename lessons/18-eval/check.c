/* Lesson 18: evaluation with dropout off, and with no graph recorded. */
#include "grade.h"

#include <math.h>

/* tanh(x w1) w2 */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), w1 = grade_given(g, "w1"), w2 = grade_given(g, "w2");
    int64_t rows = x.shape[0], in = x.shape[1], hidden = w1.shape[1], out = w2.shape[1], shape[2] = {rows, out};
    bool fit = x.ndim == 2 && w1.ndim == 2 && w2.ndim == 2 && w1.shape[0] == in && w2.shape[0] == hidden;
    double *want = fit ? grade_numbers(g, rows * out) : NULL;
    for (int64_t at = 0; want && at < rows * hidden; at++) {
        int64_t i = at / hidden, h = at % hidden;
        double sum = 0;
        for (int64_t k = 0; k < in; k++) sum += x.data[i * in + k] * w1.data[k * hidden + h];
        for (int64_t k = 0; k < out; k++) want[i * out + k] += tanh(sum) * w2.data[h * out + k];
    }
    return check_values(g, "scores", want, 2, shape);
}

/* Was the module in evaluation when its scores were computed? Without dropout in `forward` nothing else would tell. */
static bool check_mode(grading *g, const char *name)
{
    const char *want = "fy_eval before the call";
    const fy_event *scores = grade_answer(g, "scores").event, *product = NULL, *last = NULL;
    each_event(g, e, op)
    {
        if (leads_to(g, e, scores)) product = e;
    }
    each_event(g, e, mode)
    {
        if (product && e->seq < product->seq && fy_event_is(e, e->is.mode.mode, "training")) last = e;
    }
    if (last && !last->is.mode.on) return true;
    check(g, name, false, last ? last : product, want, last ? "fy_train" : "no fy_eval",
          "The module computed the scores in training, as a new module is: say fy_eval(net) before it is called.");
    return false;
}

static bool check_evaluates(grading *g)
{
    const char *name = "dropout-is-off", *want = "no dropout";
    const fy_event *e = next_event(g, NULL, op, fy_event_is(it, is->name, "bernoulli"));
    if (!e && !check_mode(g, name)) return false;
    if (!e) return check(g, name, true, grade_answer(g, "scores").event, want, want, "Dropout was off.");
    return check(g, name, false, e, want, "dropout",
                 grade_say(g,
                           "fy_dropout at line %d set half of the results to 0: the module was in training, as a new "
                           "module is. FY_NO_GRAD does not change that.",
                           grade_line(e)));
}

static bool check_nothing_saved(grading *g)
{
    const char *name = "saves-nothing", *want = "no graph";
    const fy_event *belief = shows_misconception(g, "eval-stops-saving");
    const fy_event *e = next_event(g, NULL, graph, is->what == FY_WORD_make && !fy_event_is(it, is->op, "leaf"));
    if (!e && !belief)
        return check(g, name, true, grade_answer(g, "scores").event, want, want, "Nothing was recorded.");
    const char *op = e ? grade_text(g, e, e->is.graph.op) : "an operation";
    return check(
        g, name, false, e ? e : belief, want, "a graph",
        grade_say(g,
                  "fy_%s at line %d was recorded in a graph, which keeps in VRAM what gradients would need, and "
                  "nobody wants any. fy_eval does not stop that: it changes what dropout does.",
                  op, grade_line(e ? e : belief)));
}

/* Bytes of a block of VRAM for float32 values: a multiple of 512. */
static int64_t block(int64_t count) { return (4 * count + 511) / 512 * 512; }

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "scores")) return;
    check_evaluates(g);
    check_numbers(g);
    check_ran_on_card(g, "scores", "x");
    check_computed(g, "scores", "matmul tanh", 3);
    check_nothing_saved(g);
    grade_array x = grade_given(g, "x"), w1 = grade_given(g, "w1"), w2 = grade_given(g, "w2");
    int64_t left = block(x.count) + block(w1.count) + block(w2.count) + block(x.shape[0] * w2.shape[1]);
    check_left(g, "little-left", 1, "scores", left);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 3, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_answer_on_card(g, "scores");
}

const lesson_check lesson_check_18 = {"18-eval", judge};
