/* The till: all arithmetic on the card; two copies there, one back, and no byte more than the inputs and the answer. */
#include "grade.h"

static bool check_numbers(grading *g)
{
    grade_array sold = grade_given(g, "sold"), prices = grade_given(g, "prices");
    int64_t days = sold.shape[0], articles = sold.shape[1];
    double *want = sold.ndim == 2 && prices.count == articles ? grade_numbers(g, days) : NULL;
    for (int64_t i = 0; want && i < days; i++) {
        double taken = 0;
        for (int64_t k = 0; k < articles; k++) taken += sold.data[i * articles + k] * prices.data[k];
        want[i] = 0.75 * taken > 2 ? 0.75 * taken - 2 : 0;
    }
    return check_values(g, "left", want, 1, &days);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "left")) return;
    check_numbers(g);
    check_ran_on_card(g, "left", "sold");
    check_computed(g, "left", "", 3);
    check_answer_at_home(g, "left");
    check_copies(g, "copies-to-card", FY_WORD_h2d, 2, true);
    check_copies(g, "copies-back", FY_WORD_d2h, 1, true);
    grade_array sold = grade_given(g, "sold"), prices = grade_given(g, "prices");
    check_bytes(g, "few-bytes", FY_WORD_none, 4 * (sold.count + prices.count + sold.shape[0]));
}

const lesson_check lesson_check_c1 = {"c1-till", judge};
