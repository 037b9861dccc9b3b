/* Lesson 5: a byte per pixel crosses the bus, each way; the conversions run on the card. */
#include "grade.h"

/* y = 8 - pixel / 2, cut to a whole number. */
static bool check_numbers(grading *g)
{
    grade_array pixels = grade_given(g, "pixels");
    double *want = pixels.data ? grade_numbers(g, pixels.count) : NULL;
    for (int64_t i = 0; want && i < pixels.count; i++) want[i] = (double)((16 - (int)pixels.data[i]) / 2);
    return check_values(g, "y", want, pixels.ndim, pixels.shape);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    int64_t pixels = grade_given(g, "pixels").count;
    check_numbers(g);
    check_understood(g, "converted-on-the-card", "to-picks-the-cheap-order");
    check_ran_on_card(g, "y", "pixels");
    check_computed(g, "y", "", 2);
    check_bytes(g, "few-bytes-there", FY_WORD_h2d, pixels);
    check_bytes(g, "few-bytes-back", FY_WORD_d2h, pixels);
    check_answer_at_home(g, "y");
}

const lesson_check lesson_check_05 = {"05-bytes-on-the-bus", judge};
