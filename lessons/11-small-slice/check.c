/* Lesson 11: the part that is needed is copied, so that the large storage is freed. */
#include "grade.h"

/* The first four rows, minus the mean of all rows. */
static bool check_numbers(grading *g)
{
    grade_array all = grade_given(g, "all");
    int64_t rows = all.shape[0], columns = all.shape[1], shape[2] = {4, columns};
    double *want = all.ndim == 2 && rows >= 4 ? grade_numbers(g, 4 * columns) : NULL;
    for (int64_t k = 0; want && k < columns; k++) {
        double sum = 0;
        for (int64_t i = 0; i < rows; i++) sum += all.data[i * columns + k];
        for (int64_t i = 0; i < 4; i++) want[i * columns + k] = all.data[i * columns + k] - sum / (double)rows;
    }
    return check_values(g, "y", want, 2, shape);
}

static bool check_part(grading *g)
{
    const char *name = "no-small-view-of-much";
    const fy_event *view = shows_misconception(g, "small-slice-is-small");
    if (!view || view->kind != FY_KIND_tensor) return check_understood(g, name, "small-slice-is-small");
    const fy_event *birth = storage_birth(g, view->is.tensor.storage);
    long long kib = birth ? (long long)birth->is.alloc.bytes / 1024 : 0;
    return check(
        g, name, false, view, "a copy of the part", "a view of it",
        grade_say(g,
                  "Line %d makes a view, and a view keeps all %lld KiB of its storage in use, although the "
                  "large tensor was freed. Copy the part into a storage of its own; then free the large tensor "
                  "and every view of it, also one that stands in another call and has no name.",
                  grade_line(view), kib));
}

/* A clone on the card is an operation that reads and writes each byte once. */
static void check_cloned(grading *g, int64_t most)
{
    int64_t bytes = 0;
    const fy_event *over = NULL;
    each_event(g, e, op)
    {
        if (!is_on_card(e->is.op.device) || !fy_event_is(e, e->is.op.name, "clone") || e->is.op.bytes < 0) continue;
        bytes += e->is.op.bytes / 2;
        if (!over && bytes > most) over = e;
    }
    check(g, "few-bytes-within-the-card", !over, over, grade_say(g, "%lld bytes cloned on the card", (long long)most),
          grade_say(g, "%lld bytes", (long long)bytes),
          grade_say(g,
                    "Bytes cloned on the card: %lld. The limit is %lld: clone the rows that you need, and no others.",
                    (long long)bytes, (long long)most));
    check_is_limit(g, "bytes cloned on the card", (double)most, (double)bytes);
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_ran_on_card(g, "y", "all");
    check_computed(g, "y", "mean sub", 2);
    check_answer_on_card(g, "y");
    check_part(g);
    check_left(g, "little-is-left", 1, "y", 4096);
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_cloned(g, 2048);
}

const lesson_check lesson_check_11 = {"11-small-slice", judge};
