/* What a run must show: the right numbers, computed by the card, from one copy. grade.h has the whole API. */
#include "grade.h"

static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i] = 2 * x.data[i];
    return check_values(g, "y", want, x.ndim, x.shape);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return; /* the checks below need an answer */
    check_numbers(g);
    check_ran_on_card(g, "y", "x");
    check_copies(g, "one-copy", FY_WORD_h2d, 1, false);
    check_answer_on_card(g, "y");
}

const lesson_check lesson_check_NN = {"NN-name", judge};
