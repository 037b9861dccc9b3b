/* Lesson 14: the leaf is on the card, so its gradient is stored there. */
#include "grade.h"

/* Adds the gradient of mean(relu(x w)): the mean over all rows of x, those with relu's gradient 0 as zeros. */
static void add_gradient(grade_array x, grade_array w, double *to)
{
    int64_t rows = x.shape[0], columns = x.shape[1];
    for (int64_t i = 0; i < rows; i++) {
        double sum = 0;
        for (int64_t k = 0; k < columns; k++) sum += x.data[i * columns + k] * w.data[k];
        for (int64_t k = 0; sum > 0 && k < columns; k++) to[k] += x.data[i * columns + k] / (double)rows;
    }
}

static bool check_numbers(grading *g)
{
    grade_array a = grade_given(g, "first"), b = grade_given(g, "second"), w = grade_given(g, "w");
    int64_t columns = w.shape[0], shape[2] = {columns, 1};
    bool fit =
        a.ndim == 2 && b.ndim == 2 && w.ndim == 2 && w.shape[1] == 1 && a.shape[1] == columns && b.shape[1] == columns;
    double *want = fit ? grade_numbers(g, columns) : NULL;
    if (want) add_gradient(a, w, want), add_gradient(b, w, want);
    return check_values(g, "g", want, 2, shape);
}

/* Did fy_grad find nothing, as w is a result? The error is then that of fy_answer. */
static bool check_gradient_found(grading *g)
{
    const char *name = "gradient-found", *want = "w is a leaf, with a gradient";
    const fy_event *error = next_event(g, NULL, error, true), *grad = next_event(g, NULL, grad, true);
    if (!error || !grad) return check(g, name, true, grad, want, want, "fy_grad found a gradient.");
    const fy_event *leaf = next_event(g, NULL, tensor, is->tensor == grad->is.grad.leaf);
    const char *place = grade_device(g, leaf ? leaf->is.tensor.device : FY_NO_DEVICE);
    return check(g, name, false, error, want, "w is a result, without a gradient",
                 grade_say(g,
                           "fy_grad(w) at line %d is NULL: w was computed from the leaf made at line %d, which is on "
                           "%s, and the gradients were stored there. w itself must be the leaf.",
                           grade_line(error), grade_line(leaf), place));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_gradient_found(g) || !check_answered(g, "g")) return;
    check_numbers(g);
    check_ran_on_card(g, "g", "w");
    check_computed(g, "g", "matmul", 8);
    check_understood(g, "leaf-on-the-card", "moved-leaf-is-the-leaf");
    check_copies(g, "copies-to-card", FY_WORD_h2d, 3, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_answer_on_card(g, "g");
}

const lesson_check lesson_check_14 = {"14-leaf", judge};
