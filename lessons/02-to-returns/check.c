/* Lesson 2: the program uses the copies that fy_to returns; nothing is copied twice. */
#include "grade.h"

/* relu(a x b), in double: the inputs are multiples of 1/64, so float32 sums are exact too. */
static bool check_numbers(grading *g)
{
    grade_array a = grade_given(g, "mat1"), b = grade_given(g, "mat2");
    int64_t n = a.shape[0], k = a.shape[1], m = b.shape[1], shape[2] = {n, m};
    bool fit = a.ndim == 2 && b.ndim == 2 && b.shape[0] == k;
    double *want = fit ? grade_numbers(g, n * m) : NULL;
    for (int64_t at = 0; want && at < n * m; at++) {
        double sum = 0;
        for (int64_t i = 0; i < k; i++) sum += a.data[at / m * k + i] * b.data[i * m + at % m];
        want[at] = sum > 0 ? sum : 0;
    }
    return check_values(g, "y", want, 2, shape);
}

static bool check_no_unused_copies(grading *g)
{
    const char *name = "no-unused-copies", *want = "every copy used";
    const fy_event *c = next_event(g, NULL, copy, !copy_is_used(g, it));
    if (!c) return check(g, name, true, NULL, want, want, "Every copy was used.");
    return check(g, name, false, c, want, "an unused copy",
                 grade_say(g, "Nothing reads the result of %s: fy_to returned it, and the program did not use it.",
                           grade_where(g, c)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_ran_on_card(g, "y", "mat1");
    check_computed(g, "y", "matmul relu", 2);
    check_no_unused_copies(g);
    check_copies(g, "copies-in-budget", FY_WORD_h2d, 2, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, false);
    check_copies(g, "nothing-copied-twice", FY_WORD_d2d, 0, false);
    check_answer_on_card(g, "y");
}

const lesson_check lesson_check_02 = {"02-to-returns", judge};
