/* Lesson 3: the work stays on the card; one copy there, one back, and no more bytes than needed. */
#include "grade.h"

/* Five iterations of h = relu(h / 2 + 1). */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) {
        want[i] = x.data[i];
        for (int step = 0; step < 5; step++) want[i] = want[i] > -2 ? want[i] / 2 + 1 : 0;
    }
    return check_values(g, "h", want, x.ndim, x.shape);
}

/* Both directions together, including the copies of fy_print and fy_item. */
static void check_bytes(grading *g)
{
    double bytes = 0, limit = 2.0 * 4 * (double)grade_given(g, "x").count;
    const fy_event *over = NULL;
    each_event(g, c, copy)
    {
        bool crosses = is_on_card(c->is.copy.src.device) != is_on_card(c->is.copy.dst.device);
        bytes += crosses ? (double)c->is.copy.bytes : 0;
        if (!over && bytes > limit) over = c;
    }
    check(g, "few-bytes", !over, over, grade_say(g, "%.0f bytes on the bus allowed", limit),
          grade_say(g, "%.0f bytes on the bus", bytes),
          grade_say(g, "Bytes on the bus: %.0f. The limit is %.0f: x to the card and the result back.", bytes, limit));
    check_is_limit(g, "bytes on the bus", limit, bytes);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "h")) return;
    check_numbers(g);
    check_ran_on_card(g, "h", "x");
    check_computed(g, "h", "relu", 15); /* five iterations of three */
    check_answer_at_home(g, "h");
    check_copies(g, "copies-to-card", FY_WORD_h2d, 1, true);
    check_copies(g, "copies-back", FY_WORD_d2h, 1, true);
    check_bytes(g);
}

const lesson_check lesson_check_03 = {"03-round-trip", judge};
