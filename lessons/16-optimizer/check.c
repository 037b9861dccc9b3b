/* Lesson 16: the module is on the card before the first step, which makes the optimizer's state. */
#include "grade.h"

#include <string.h>

enum { STEPS = 4 };

/* Gradient descent with momentum on the mean of (x w - y)^2. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), y = grade_given(g, "y"), w = grade_given(g, "w");
    int64_t rows = x.shape[0], n = w.shape[0], shape[2] = {n, 1};
    bool fit = x.ndim == 2 && x.shape[1] == n && y.count == rows && w.count == n;
    double *want = fit ? grade_numbers(g, n) : NULL, *momentum = fit ? grade_numbers(g, n) : NULL;
    for (int64_t k = 0; want && k < n; k++) want[k] = w.data[k];
    for (int step = 0; want && step < STEPS; step++) {
        double *gradient = grade_numbers(g, n);
        for (int64_t i = 0; i < rows; i++) {
            double error = -y.data[i];
            for (int64_t k = 0; k < n; k++) error += x.data[i * n + k] * want[k];
            for (int64_t k = 0; k < n; k++) gradient[k] += 2 * error * x.data[i * n + k] / (double)rows;
        }
        for (int64_t k = 0; k < n; k++) {
            momentum[k] = 0.9 * momentum[k] + gradient[k];
            want[k] -= 0.01 * momentum[k];
        }
    }
    return check_values(g, "w", want, 2, shape);
}

/* Did fy_step fail for state that the first one made on another device? */
static bool check_state(grading *g)
{
    const char *name = "state-with-its-parameter", *want = "parameters and state on one device";
    const fy_event *error = next_event(g, NULL, error, fy_event_is(it, is->code, "device_mismatch"));
    const fy_event *state = next_event(g, NULL, state, true);
    bool in_step = error && !strncmp(grade_text(g, error, error->is.error.written), "fy_step(", 8);
    if (!in_step || !state) return check(g, name, true, state, want, want, "No step found state on another device.");
    const fy_event *made = storage_birth(g, state->is.state.storage);
    const char *where = made ? grade_device(g, made->is.alloc.device) : "another device";
    return check(g, name, false, error, want, grade_say(g, "state on %s", where),
                 grade_say(g,
                           "fy_step at line %d failed: the optimizer's momentum was made by the first step, at line "
                           "%d, on %s. The parameters were moved after that, and the state stayed there.",
                           grade_line(error), grade_line(state), where));
}

static void judge(grading *g)
{
    if (!check_state(g) || !check_same_device(g) || !check_answered(g, "w")) return;
    check_numbers(g);
    check_ran_on_card(g, "w", "w");
    check_computed(g, "w", "matmul add", 8 * STEPS);
    check_understood(g, "first-step-after-the-move", "optimizer-at-any-time");
    check_copies(g, "copies-to-card", FY_WORD_h2d, 3, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_answer_on_card(g, "w");
}

const lesson_check lesson_check_16 = {"16-optimizer", judge};
