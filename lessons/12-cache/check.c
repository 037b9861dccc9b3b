/* Lesson 12: what is freed goes to the cache; the card gets unused segments when the cache is emptied. */
#include "grade.h"

#include <inttypes.h>

enum { MIB = 1 << 20 };

/* Twice x: the means of equal columns. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) want[i] = 2 * x.data[i];
    return check_values(g, "y", want, 1, x.shape);
}

/* The card's segments up to event `last`, NULL: all. The most at once are in *peak, with the event that made them so. */
static int64_t reserved_until(const grading *g, const fy_event *last, int64_t *peak, const fy_event **at)
{
    const trace *run = grade_trace(g);
    int64_t reserved = 0;
    *peak = 0;
    *at = NULL;
    for (const fy_event *e = run->events; e < run->events + run->count && e != last; e++) {
        if (e->kind == FY_KIND_segment && is_on_card(e->is.segment.device)) reserved += e->is.segment.bytes;
        if (e->kind == FY_KIND_segment_free && is_on_card(e->is.segment_free.device))
            reserved -= e->is.segment_free.bytes;
        if (reserved > *peak) *peak = reserved, *at = e;
    }
    return reserved;
}

static bool check_returned(grading *g)
{
    const char *name = "returned-to-the-card";
    const fy_event *freed = shows_misconception(g, "free-returns-vram");
    if (!freed) return check_understood(g, name, "free-returns-vram");
    const fy_event *next = next_event(g, freed, segment, is_on_card(is->device));
    return check(g, name, false, freed, "unused segments returned to the card", "a segment kept in the cache",
                 grade_say(g,
                           "fy_free at line %d ended the last tensor of a segment, and the segment stayed in Ferry's "
                           "cache: nothing returned it to the card before line %d reserved another one.",
                           grade_line(freed), grade_line(next)));
}

static bool check_at_once(grading *g, int64_t most)
{
    int64_t peak;
    const fy_event *at;
    reserved_until(g, NULL, &peak, &at);
    bool pass = check(
        g, "reserved-at-once", peak <= most, peak <= most ? NULL : at,
        grade_say(g, "%" PRId64 " MiB reserved", most / MIB), grade_say(g, "%" PRId64 " MiB reserved", peak / MIB),
        grade_say(g, "Reserved at once: %" PRId64 " MiB. The limit is %" PRId64 " MiB%s", peak / MIB, most / MIB,
                  peak <= most ? "."
                               : grade_say(g,
                                           ", and line %d goes beyond it: before that line, free what lies "
                                           "in the other segments, then return them.",
                                           grade_line(at))));
    check_is_limit(g, "MiB reserved at once", (double)most / MIB, (double)peak / MIB);
    return pass;
}

static bool check_at_end(grading *g, int64_t most)
{
    int64_t peak;
    const fy_event *at, *answer = grade_answer(g, "y").event;
    int64_t left = reserved_until(g, answer, &peak, &at);
    bool pass =
        check(g, "reserved-at-the-end", left <= most, answer, grade_say(g, "%" PRId64 " MiB reserved", most / MIB),
              grade_say(g, "%" PRId64 " MiB reserved", left / MIB),
              grade_say(g, "Reserved when y is submitted at line %d: %" PRId64 " MiB. The limit is %" PRId64 " MiB%s",
                        grade_line(answer), left / MIB, most / MIB,
                        left <= most ? "." : ": free what lies in the other segments, then return them."));
    check_is_limit(g, "MiB reserved at the end", (double)most / MIB, (double)left / MIB);
    return pass;
}

/* Of a tensor; 0: NULL, or none that fits on a card. */
static int64_t elements_of(const fy_event *tensor)
{
    int64_t count = 1, size;
    for (size_t d = 0; tensor && count && fy_event_dim(tensor, tensor->is.tensor.shape, d, &size); d++)
        count = size > 0 && size <= INT32_MAX / count ? count * size : 0;
    return tensor ? count : 0;
}

/* Columns that products computed for y on the card, whether at once or in pieces. */
static bool check_all_columns(grading *g)
{
    const char *name = "all-columns", *want = "products of all columns of many and more";
    grade_array x = grade_given(g, "x");
    const fy_event *answer = grade_answer(g, "y").event;
    int64_t numbers = 0, all = 65536 + 81920;
    each_event(g, op, op)
    {
        fy_use out;
        bool product = fy_event_is(op, op->is.op.name, "matmul") && is_on_card(op->is.op.device);
        if (!product || !leads_to(g, op, answer) || !fy_event_use(op, op->is.op.out, 0, &out)) continue;
        numbers += elements_of(tensor_birth(g, out.tensor)); /* of some of the rows and columns */
    }
    const int64_t columns = x.count > 0 ? numbers / x.count : 0;
    bool pass = columns >= all;
    return check(g, name, pass, answer, want, grade_say(g, "%" PRId64 " columns", columns),
                 pass ? "All columns were computed on the card."
                      : grade_say(g,
                                  "The products that y is computed from have %" PRId64
                                  " columns, and many and more have "
                                  "%" PRId64 " together: the mean is wanted of all of them.",
                                  columns, all));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "y")) return;
    check_numbers(g);
    check_ran_on_card(g, "y", "x");
    check_computed(g, "y", "matmul mean add", 5);
    check_all_columns(g);
    check_answer_on_card(g, "y");
    check_returned(g);
    check_at_once(g, 20 * MIB);
    check_at_end(g, 2 * MIB);
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
}

const lesson_check lesson_check_12 = {"12-cache", judge};
