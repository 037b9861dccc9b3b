/* Lesson 27: eight steps of training with the right values, in little time, with few waits and copies, and with nothing
 * of a step left. */
#include "grade.h"

#include <math.h>

enum { STEPS = 8, BATCHES = 4, MOST_US = 820 };

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

/* One step with w, on the mean of the squares; returns the mean distance before it. */
static double train(grading *g, const problem *p, int step, double *w)
{
    double *gradient = grade_numbers(g, p->in * p->out), off = 0;
    const double count = (double)(p->rows * p->out);
    for (int64_t at = 0; at < p->rows * p->out; at++) {
        int64_t row = step % BATCHES * p->rows + at / p->out, o = at % p->out;
        const double *x = &p->x.data[row * p->in];
        double error = -p->y.data[row * p->out + o];
        for (int64_t k = 0; k < p->in; k++) error += x[k] * p->scale.data[k] * w[k * p->out + o];
        for (int64_t k = 0; k < p->in; k++) gradient[k * p->out + o] += 2 * error * x[k] * p->scale.data[k] / count;
        off += fabs(error) / count;
    }
    for (int64_t i = 0; i < p->in * p->out; i++) w[i] -= 0.02 * gradient[i];
    return off;
}

static bool check_weights(grading *g, const problem *p, const double *want)
{
    const char *name = "right-weights", *expected = "the weights after 8 steps";
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
    problem p = problem_of(g);
    check_numbers(g, &p);
    bool uses_card = next_event(g, NULL, op, is_on_card(is->device)) != NULL;
    if (!uses_card) check_ran_on_card(g, "off", "x"); /* explains more than its time does */
    check_time(g, "in-time", MOST_US * 1000);
    if (uses_card) check_ran_on_card(g, "off", "x");
    check_computed(g, "off", "matmul mul abs", 10 * STEPS);
    check_waits(g, "few-waits", 2);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 4, false);
    check_copies(g, "copies-back", FY_WORD_d2h, 2, true);
    /* the inputs, the gradient of w, and the sum */
    int64_t left = block(p.x.count) + block(p.y.count) + 2 * block(p.w.count) + block(p.scale.count) + block(1);
    check_left(g, "nothing-left-of-a-step", 1, "off", left);
}

const lesson_check lesson_check_27 = {"27-training-step", judge};
