/* Lesson 17: the sum is on the card, keeps no graph, and costs no waits. */
#include "grade.h"

#include <math.h>

enum { STEPS = 6 };

/* One step of gradient descent on the mean of (x w - y)^2; returns the mean of |x w - y| before it. */
static double train(grading *g, grade_array x, grade_array y, double *w)
{
    int64_t rows = x.shape[0], n = x.shape[1];
    double *gradient = grade_numbers(g, n), off = 0;
    for (int64_t i = 0; i < rows; i++) {
        double error = -y.data[i];
        for (int64_t k = 0; k < n; k++) error += x.data[i * n + k] * w[k];
        for (int64_t k = 0; k < n; k++) gradient[k] += 2 * error * x.data[i * n + k] / (double)rows;
        off += fabs(error) / (double)rows;
    }
    for (int64_t k = 0; k < n; k++) w[k] -= 0.01 * gradient[k];
    return off;
}

static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), y = grade_given(g, "y"), start = grade_given(g, "w");
    int64_t shape[1] = {0}; /* none: one number */
    bool fit = x.ndim == 2 && x.shape[1] == start.count && y.count == x.shape[0];
    double *w = fit ? grade_numbers(g, start.count) : NULL, *want = w ? grade_numbers(g, 1) : NULL;
    for (int64_t k = 0; w && k < start.count; k++) w[k] = start.data[k];
    for (int step = 0; want && step < STEPS; step++) *want += train(g, x, y, w);
    return check_values(g, "total", want, 0, shape);
}

static bool check_no_graph(grading *g)
{
    const char *name = "sum-without-a-graph", *want = "total keeps no graph";
    const fy_event *e = shows_misconception(g, "sum-of-losses-is-a-number");
    if (!e) return check(g, name, true, grade_answer(g, "total").event, want, want, "total keeps no graph.");
    return check(g, name, false, e, want, "total keeps the graph of every step",
                 grade_say(g,
                           "What is added to total at line %d was computed from w, so the sum keeps the graph of every "
                           "step, and the tensors in VRAM that the graph holds. Add a number that has no graph.",
                           grade_line(e)));
}

/* Bytes of a block of VRAM for float32 values: a multiple of 512. */
static int64_t block(grade_array a) { return (4 * a.count + 511) / 512 * 512; }

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "total")) return;
    check_numbers(g);
    check_waits(g, "never-waits", 0);
    check_ran_on_card(g, "total", "x");
    check_computed(g, "total", "matmul abs mean add", 10 * STEPS);
    check_no_graph(g);
    /* x, y, w, its gradient, and total */
    int64_t left = block(grade_given(g, "x")) + block(grade_given(g, "y")) + 2 * block(grade_given(g, "w")) + 512;
    check_left(g, "nothing-left-of-a-step", 1, "total", left);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 3, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_answer_on_card(g, "total");
}

const lesson_check lesson_check_17 = {"17-sum-of-losses", judge};
