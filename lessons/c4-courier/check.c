/* The courier: twenty steps of gradient descent on the card, without a wait and in the memory of one step. */
#include "grade.h"

enum { STEPS = 20, SPARE = 8192 };

/* Full-batch descent on the mean squared error, from zeros, in double precision. */
static void descend(grade_array x, const double *t, double *w, double *gradient, double *mean_loss)
{
    int64_t n = x.shape[0], k = x.shape[1];
    for (int step = 0; step < STEPS; step++) {
        for (int64_t j = 0; j < k; j++) gradient[j] = 0;
        for (int64_t i = 0; i < n; i++) {
            double off = -t[i];
            for (int64_t j = 0; j < k; j++) off += x.data[i * k + j] * w[j];
            *mean_loss += off * off / (double)n / STEPS;
            for (int64_t j = 0; j < k; j++) gradient[j] += 2 * off * x.data[i * k + j] / (double)n;
        }
        for (int64_t j = 0; j < k; j++) w[j] -= 0.05 * gradient[j];
    }
}

static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "trips"), t = grade_given(g, "minutes");
    bool fit = x.ndim == 2 && t.count == x.shape[0];
    double *w = fit ? grade_numbers(g, x.shape[1]) : NULL, *gradient = fit ? grade_numbers(g, x.shape[1]) : NULL;
    double *loss = w && gradient ? grade_numbers(g, 1) : NULL;
    if (loss) descend(x, t.data, w, gradient, loss);
    return check_values(g, "w", w, 1, &x.shape[1]) && check_values(g, "loss", loss, 0, x.shape);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "w") || !check_answered(g, "loss")) return;
    check_numbers(g);
    check_ran_on_card(g, "w", "trips");
    check_answer_on_card(g, "w");
    check_answer_on_card(g, "loss");
    check_waits(g, "no-wait", 0);
    check_ran_on_card(g, "loss", "trips");
    check_computed(g, "w", "", 2 * STEPS); /* a step has at least a product and a change of w */
    check_computed(g, "loss", "", STEPS);
    check_copies(g, "two-copies", FY_WORD_h2d, 2, true);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    int64_t data = 4 * (grade_given(g, "trips").count + grade_given(g, "minutes").count);
    check_peak(g, "memory-of-one-step", 1, 3 * data + SPARE);
    check_understood(g, "sum-without-a-graph", "sum-of-losses-is-a-number");
}

const lesson_check lesson_check_c4 = {"c4-courier", judge};
