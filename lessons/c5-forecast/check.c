/* The forecast: the readings travel while the card computes, and nothing is read before it is there. */
#include "grade.h"
#include <math.h>

enum { STEPS = 4, MOST_NS = 560000 };

static bool check_numbers(grading *g)
{
    grade_array s = grade_given(g, "start"), w = grade_given(g, "weights"), r = grade_given(g, "readings");
    int64_t n = s.shape[0], each = r.shape[1];
    bool fit = s.ndim == 2 && w.count == n * n && s.count == n * n && r.ndim == 2 && r.shape[0] == n;
    double *now = fit ? grade_numbers(g, n * n) : NULL, *next = fit ? grade_numbers(g, n * n) : NULL;
    double *want = now && next ? grade_numbers(g, n) : NULL;
    for (int64_t i = 0; want && i < n * n; i++) now[i] = s.data[i];
    for (int step = 0; want && step < STEPS; step++) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < n; j++) {
                double sum = 0;
                for (int64_t k = 0; k < n; k++) sum += now[i * n + k] * w.data[k * n + j];
                next[i * n + j] = tanh(0.05 * sum);
            }
        double *last = now;
        now = next, next = last;
    }
    for (int64_t i = 0; want && i < n * n; i++) want[i / n] += now[i] / (double)n;
    for (int64_t i = 0; want && i < r.count; i++) want[i / each] += r.data[i] / (double)each;
    return check_values(g, "forecast", want, 1, &n);
}

/* Page-locking copies on the CPU, which is no arithmetic. */
static bool check_arithmetic(grading *g)
{
    const char *name = "all-arithmetic-on-the-card", *want = "every operation on the card";
    const fy_event *a = grade_answer(g, "forecast").event;
    const fy_event *off =
        next_event(g, NULL, op, leads_to(g, it, a) && !is_on_card(is->device) && !fy_event_is(it, is->name, "clone"));
    if (!off) return check(g, name, true, a, want, want, "The card did all of the arithmetic.");
    return check(g, name, false, off, want, "one on the CPU",
                 grade_say(g, "%s ran on the CPU; the card does all of the arithmetic.", grade_where(g, off)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "forecast")) return;
    if (!check_ordered(g)) return;
    check_numbers(g);
    check_arithmetic(g);
    check_computed(g, "forecast", "matmul", 3 * STEPS);
    check_answer_at_home(g, "forecast");
    check_copies(g, "three-copies", FY_WORD_h2d, 3, true);
    check_copies(g, "one-copy-back", FY_WORD_d2h, 1, true);
    check_time(g, "in-time", MOST_NS);
}

const lesson_check lesson_check_c5 = {"c5-forecast", judge};
