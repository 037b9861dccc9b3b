/* Lesson 8: what is only needed at the end is added up on the card and read once. */
#include "grade.h"

/* The sum of x after each of ten steps x = relu(x / 2 + 1/4). */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, 1) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) {
        double value = x.data[i];
        for (int step = 0; step < 10; step++) {
            value = value > -0.5 ? value / 2 + 0.25 : 0;
            *want += value;
        }
    }
    return check_values(g, "total", want, 0, NULL);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "total")) return;
    check_numbers(g);
    check_understood(g, "read-once", "item-is-free");
    check_ran_on_card(g, "total", "x");
    check_computed(g, "total", "relu sum", 40); /* ten steps of three, and ten sums */
    check_waits(g, "waits", 1);
    check_copies(g, "copies-back", FY_WORD_d2h, 1, true);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 1, false);
}

const lesson_check lesson_check_08 = {"08-item", judge};
