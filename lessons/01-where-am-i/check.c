/* Lesson 1: the product runs on the card, the input is copied once, constants are created there. */
#include "grade.h"

/* y = mat1 x w + b with w all 0.5 and b all 1: two equal columns. */
static bool check_numbers(grading *g)
{
    grade_array mat1 = grade_given(g, "mat1");
    int64_t rows = mat1.shape[0], columns = mat1.shape[1], shape[2] = {rows, 2};
    double *want = mat1.ndim == 2 ? grade_numbers(g, 2 * rows) : NULL;
    for (int64_t i = 0; want && i < rows; i++) {
        double sum = 0;
        for (int64_t k = 0; k < columns; k++) sum += 0.5 * mat1.data[i * columns + k];
        want[2 * i] = want[2 * i + 1] = sum + 1;
    }
    return check_values(g, "y", want, 2, shape);
}

/* A copy to the card of what does not come from mat1 is of a constant that could have been created there. */
static bool check_constants(grading *g)
{
    uint32_t mat1 = given_storage(g, "mat1");
    const fy_event *c =
        next_event(g, NULL, copy, is->dir == FY_WORD_h2d && !storage_comes_from(g, is->src.storage, mat1));
    const char *name = "created-on-the-card", *want = "only mat1 crosses the bus";
    if (!c) return check(g, name, true, NULL, want, want, "Nothing but mat1 crossed the bus.");
    const fy_event *alloc = storage_birth(g, c->is.copy.src.storage);
    return check(g, name, false, c, want, grade_where(g, c),
                 grade_say(g,
                           "A tensor created in CPU RAM at line %d was copied over the bus at line %d; create a "
                           "constant like this on the card, with .device.",
                           grade_line(alloc), grade_line(c)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_ran_on_card(g, "y", "mat1");
    check_computed(g, "y", "matmul add", 2);
    check_constants(g);
    check_copies(g, "one-copy", FY_WORD_h2d, 1, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, false);
    check_answer_on_card(g, "y");
}

const lesson_check lesson_check_01 = {"01-where-am-i", judge};
