/* Lesson 27: steps of training with the right values, in little time, with few waits and copies, and with nothing of a
 * step left. */
#include "grade.h"

#include <math.h>

enum { STEPS = 12, BATCHES = 4, MOST_US = 4200 };

typedef struct problem {
    grade_array x, y, w, scale;
    int64_t rows, in, out; /* rows: of a batch */
    bool fits;
} problem;

static problem problem_of(grading *g)
{
    problem p = {
        grade_given(g, "x"), grade_given(g, "y"), grade_given(g, "w"), grade_given(g, "scale"), 0, 0, 0, false};
    p.rows = p.x.shape[0] / BATCHES;
    p.in = p.w.shape[0];
    p.out = p.w.shape[1];
    p.fits = p.x.ndim == 2 && p.y.ndim == 2 && p.w.ndim == 2 && p.x.shape[1] == p.in && p.y.shape[0] == p.x.shape[0] &&
             p.y.shape[1] == p.out && p.scale.count == p.in && p.rows * BATCHES == p.x.shape[0];
    return p;
}

/* One row of a batch: adds its part of the gradient; returns the sum of its distances. */
static double train_row(const problem *p, int64_t row, const double *w, double *error, double *gradient)
{
    const double *x = &p->x.data[row * p->in], count = (double)(p->rows * p->out);
    double off = 0;
    for (int64_t o = 0; o < p->out; o++) error[o] = -p->y.data[row * p->out + o];
    for (int64_t k = 0; k < p->in; k++) {
        const double scaled = x[k] * p->scale.data[k], *weights = &w[k * p->out];
        for (int64_t o = 0; o < p->out; o++) error[o] += scaled * weights[o];
    }
    for (int64_t o = 0; o < p->out; o++) off += fabs(error[o]);
    for (int64_t k = 0; k < p->in; k++) {
        const double scaled = 2 * x[k] * p->scale.data[k] / count;
        for (int64_t o = 0; o < p->out; o++) gradient[k * p->out + o] += scaled * error[o];
    }
    return off;
}

/* One step with w, on the mean of the squares; returns the mean distance before it. */
static double train(grading *g, const problem *p, int step, double *w)
{
    double *gradient = grade_numbers(g, p->in * p->out), *error = grade_numbers(g, p->out), off = 0;
    for (int64_t row = 0; row < p->rows; row++) off += train_row(p, step % BATCHES * p->rows + row, w, error, gradient);
    for (int64_t i = 0; i < p->in * p->out; i++) w[i] -= 0.02 * gradient[i];
    return off / (double)(p->rows * p->out);
}

static bool check_weights(grading *g, const problem *p, const double *want)
{
    const char *name = "right-weights", *expected = "the weights after 12 steps";
    grade_array w = grade_answer(g, "w");
    int64_t where;
    if (arrays_close(w.data, w.count, want, p->in * p->out, 1e-5, 1e-5, &where))
        return check(g, name, true, w.event, expected, expected, "The weights after the last step are right.");
    return check(g, name, false, w.event, expected, "other weights",
                 grade_say(g,
                           "The weights that line %d submits are not those after %d steps: with the same values, the "
                           "sum can be right and the last step missing.",
                           grade_line(w.event), STEPS));
}

static void check_numbers(grading *g, const problem *p)
{
    int64_t shape[1] = {0}; /* none: one number */
    double *want = p->fits ? grade_numbers(g, 1) : NULL, *w = p->fits ? grade_numbers(g, p->in * p->out) : NULL;
    for (int64_t i = 0; w && i < p->in * p->out; i++) w[i] = p->w.data[i];
    for (int step = 0; want && step < STEPS; step++) *want += train(g, p, step, w);
    check_values(g, "off", want, 0, shape);
    if (w) check_weights(g, p, w);
}

/* Bytes of a block of VRAM for float32 values: a multiple of 512. */
static int64_t block(int64_t count) { return (4 * count + 511) / 512 * 512; }

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "off") || !check_answered(g, "w")) return;
    if (!check_ordered(g)) return;
    problem p = problem_of(g);
    check_numbers(g, &p);
    bool uses_card = next_event(g, NULL, op, is_on_card(is->device)) != NULL;
    if (!uses_card) check_ran_on_card(g, "off", "x"); /* explains more than the counts do */
    check_waits(g, "few-waits", 2);
    check_copies(g, "copies-to-card", FY_WORD_h2d, STEPS + 3, false);
    check_copies(g, "copies-back", FY_WORD_d2h, 2, true);
    /* all wanted values, w and its gradient, the scale, and the sum */
    int64_t left = block(p.y.count) + 2 * block(p.w.count) + block(p.scale.count) + block(1);
    check_left(g, "nothing-left-of-a-step", 1, "off", left);
    if (uses_card) check_ran_on_card(g, "off", "x");
    check_computed(g, "off", "matmul mul abs", 10 * STEPS);
    check_time(g, "in-time", MOST_US * 1000); /* last: the others say what takes it */
}

const lesson_check lesson_check_27 = {"27-training-step", judge};
