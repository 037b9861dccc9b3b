/* Lesson 10: what was copied back is freed on the card before the next result needs room there. */
#include "grade.h"

/* relu(x), or x * x. */
static bool check_numbers(grading *g, const char *answer, bool square)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++)
        want[i] = square ? x.data[i] * x.data[i] : x.data[i] > 0 ? x.data[i] : 0;
    return check_values(g, answer, want, x.ndim, x.shape);
}

static bool check_freed(grading *g)
{
    const fy_event *copy = shows_misconception(g, "cpu-frees-the-card");
    if (!copy) return check_understood(g, "freed-after-the-copy", "cpu-frees-the-card");
    uint8_t card = copy->is.copy.src.device;
    const fy_event *next = next_event(g, copy, alloc, is->device == card && 2 * is->bytes >= copy->is.copy.bytes);
    return check(g, "freed-after-the-copy", false, copy, "freed before the next one is made", "still in VRAM",
                 grade_say(g,
                           "Line %d copies a tensor to CPU RAM, and a copy frees nothing: the tensor is still in VRAM "
                           "when line %d needs room there for the next one. Free it between the two.",
                           grade_line(copy), grade_line(next)));
}

/* What is left is x, and not another tensor of its size. */
static bool check_x_is_left(grading *g)
{
    const char *name = "x-is-left", *want = "x on the card";
    uint32_t given = given_storage(g, "x");
    const fy_event *sent = next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage == given);
    const fy_event *answer = grade_answer(g, "second").event,
                   *freed = sent ? next_event(g, sent, free, is->storage == sent->is.copy.dst.storage) : NULL;
    if (!freed || freed->seq > answer->seq) return check(g, name, true, sent, want, want, "x stayed on the card.");
    return check(g, name, false, freed, want, "x was freed",
                 grade_say(g, "Line %d frees x on the card. Nothing but x may be left: free the results there.",
                           grade_line(freed)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "first") || !check_answered(g, "second")) return;
    int64_t bytes = 4 * grade_given(g, "x").count;
    check_numbers(g, "first", false);
    check_numbers(g, "second", true);
    check_ran_on_card(g, "first", "x");
    check_ran_on_card(g, "second", "x");
    check_computed(g, "first", "", 1);
    check_computed(g, "second", "", 1);
    check_answer_at_home(g, "first");
    check_answer_at_home(g, "second");
    check_freed(g);
    check_peak(g, "two-at-once", 1, 2 * bytes);
    check_left(g, "only-x-is-left", 1, "second", bytes);
    check_x_is_left(g);
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "two-copies-back", FY_WORD_d2h, 2, true);
}

const lesson_check lesson_check_10 = {"10-cpu-copies", judge};
