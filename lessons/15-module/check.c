/* Lesson 15: the constant is registered, so fy_module_to moves it, once. */
#include "grade.h"

/* Three times the gradient of mean(relu((x - mean) * factor)) with respect to factor. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), factor = grade_given(g, "factor"), mean = grade_given(g, "mean");
    int64_t n = factor.count, rows = x.shape[0];
    double *want = x.ndim == 2 && x.shape[1] == n && mean.count == n ? grade_numbers(g, n) : NULL;
    for (int64_t i = 0; want && i < rows * n; i++) {
        double centered = x.data[i] - mean.data[i % n];
        if (centered * factor.data[i % n] > 0) want[i % n] += 3 * centered / (double)(rows * n);
    }
    return check_values(g, "g", want, 1, &n);
}

/* The copy to the card of the input `name`; NULL: none. */
static const fy_event *copy_of(grading *g, const char *name)
{
    uint32_t from = given_storage(g, name);
    return next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage == from);
}

/* fy_module_to puts what it copied in the place of what was registered. */
static bool is_moved(const grading *g, const fy_event *copy)
{
    return next_event(g, copy, drop, is->why == FY_WORD_data && is->tensor == copy->is.copy.src.tensor);
}

static bool check_moved_with_module(grading *g)
{
    const char *name = "moved-with-its-module", *want = "fy_module_to moves mean";
    const fy_event *mean = copy_of(g, "mean");
    if (!mean)
        return check(g, name, false, grade_answer(g, "g").event, want, "not copied",
                     "mean never crossed the bus, so it was not moved with its module.");
    if (is_moved(g, mean)) return check_understood(g, name, "all-follow-their-module");
    return check(g, name, false, mean, want, grade_where(g, mean),
                 grade_say(g,
                           "mean crossed the bus at line %d by a copy of its own, and not with its module. Register it "
                           "as it is, in CPU RAM, and copy it nowhere: fy_module_to moves what was registered before.",
                           grade_line(mean)));
}

/* Every leaf has a gradient stored: mean must not be one. */
static bool check_constant(grading *g)
{
    const char *name = "mean-is-constant", *want = "only factor has a gradient";
    const fy_event *first = next_event(g, NULL, grad, true);
    const fy_event *other = first ? next_event(g, first, grad, is->leaf != first->is.grad.leaf) : NULL;
    if (!other) return check(g, name, true, first, want, want, "Only factor has a gradient.");
    return check(g, name, false, other, want, "two tensors have one",
                 grade_say(g,
                           "fy_backward at line %d stored gradients in two tensors of the module. A parameter is "
                           "trained: an optimizer would change mean. There is a call that registers a constant.",
                           grade_line(other)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "g")) return;
    check_numbers(g);
    check_ran_on_card(g, "g", "x");
    check_computed(g, "g", "sub mul", 18); /* three passes of six */
    check_moved_with_module(g);
    check_constant(g);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 3, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_answer_on_card(g, "g");
}

const lesson_check lesson_check_15 = {"15-module", judge};
