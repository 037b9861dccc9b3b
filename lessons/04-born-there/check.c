/* Lesson 4: what needs no input is created on the card; only the input crosses the bus. */
#include "grade.h"

/* y = mat1 + column, and 0 from half of the columns on. */
static bool check_numbers(grading *g)
{
    grade_array mat1 = grade_given(g, "mat1");
    int64_t columns = mat1.shape[1];
    double *want = mat1.ndim == 2 ? grade_numbers(g, mat1.count) : NULL;
    for (int64_t i = 0; want && i < mat1.count; i++) {
        int64_t column = i % columns;
        want[i] = column < columns / 2 ? mat1.data[i] + (double)column : 0;
    }
    return check_values(g, "y", want, mat1.ndim, mat1.shape);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_understood(g, "made-there", "made-and-moved-is-made-there");
    check_ran_on_card(g, "y", "mat1");
    check_computed(g, "y", "add where", 2);
    check_copies(g, "one-copy", FY_WORD_h2d, 1, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, false);
    check_answer_on_card(g, "y");
}

const lesson_check lesson_check_04 = {"04-born-there", judge};
