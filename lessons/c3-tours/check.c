/* The tours: tables of all pairs, of which the card may hold two at once, and none when the answer is handed in. */
#include "grade.h"

enum { SPARE = 16384 }; /* bytes for the tours, the answer and other small tensors */

static bool check_numbers(grading *g)
{
    grade_array tours = grade_given(g, "tours");
    int64_t count = tours.shape[0], points = tours.shape[1];
    double *want = tours.ndim == 2 ? grade_numbers(g, count) : NULL;
    for (int64_t i = 0; want && i < tours.count; i++)
        for (int64_t k = i / points * points; k < (i / points + 1) * points; k++) {
            double climb = tours.data[i] - tours.data[k];
            want[i / points] += climb > 0 ? climb * climb / (double)(points * points) : 0;
        }
    return check_values(g, "effort", want, 1, &count);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "effort")) return;
    int64_t points = grade_given(g, "tours").shape[1];
    check_numbers(g);
    check_ran_on_card(g, "effort", "tours");
    check_computed(g, "effort", "", 1);
    check_answer_on_card(g, "effort");
    check_copies(g, "one-copy", FY_WORD_h2d, 1, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_peak(g, "two-tables-at-once", 1, 2 * 4 * points * points + SPARE);
    check_left(g, "no-table-left", 1, "effort", SPARE);
}

const lesson_check lesson_check_c3 = {"c3-tours", judge};
