/* The album: pixels cross the bus as bytes, the program waits only for the result, and no picture is handled alone. */
#include "grade.h"

static bool check_numbers(grading *g)
{
    grade_array pixels = grade_given(g, "pixels");
    int64_t pictures = pixels.shape[0], each = pixels.shape[1];
    double *want = pixels.ndim == 2 ? grade_numbers(g, pictures) : NULL, album = 0;
    for (int64_t i = 0; want && i < pixels.count; i++) {
        want[i / each] += pixels.data[i] / (double)each;
        album += pixels.data[i] / (double)pixels.count;
    }
    for (int64_t i = 0; want && i < pictures; i++) want[i] -= album;
    return check_values(g, "brighter", want, 1, &pictures);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "brighter")) return;
    grade_array pixels = grade_given(g, "pixels");
    check_numbers(g);
    check_bytes(g, "few-bytes-there", FY_WORD_h2d, pixels.count);
    check_ran_on_card(g, "brighter", "pixels");
    check_computed(g, "brighter", "", 3);
    check_answer_at_home(g, "brighter");
    check_waits(g, "few-waits", 1);
    check_bytes(g, "few-bytes-back", FY_WORD_d2h, 4 * pixels.shape[0]);
    check_time(g, "in-time", 60000);
}

const lesson_check lesson_check_c2 = {"c2-album", judge};
