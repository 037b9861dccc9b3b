/* Lesson 13: memory is freed early enough for the next tensor to take its place, so that a whole segment gets empty. */
#include "grade.h"

/* The means of (x)^2, (x + 1)^2, x, x + 1 and x, of equal columns. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x");
    double *want = x.data ? grade_numbers(g, x.count) : NULL;
    for (int64_t i = 0; want && i < x.count; i++) {
        double v = x.data[i];
        want[i] = v * v + (v + 1) * (v + 1) + v + (v + 1) + v;
    }
    return check_values(g, "y", want, 1, x.shape);
}

static bool check_one_piece(grading *g)
{
    const char *name = "free-in-one-piece";
    const fy_event *oom = shows_misconception(g, "oom-is-too-little-memory");
    if (!oom || oom->kind != FY_KIND_oom) return check_understood(g, name, "oom-is-too-little-memory");
    const fy_ev_oom *is = &oom->is.oom;
    int64_t unused = is->reserved - is->allocated + is->free;
    return check(
        g, name, false, oom, "free in one piece", "free in pieces",
        grade_say(g,
                  "Line %d asks for %.1f MiB. %.1f MiB are free, but the largest piece has only %.1f MiB: the "
                  "tensors that live lie between the pieces. Free what is not needed before the next tensor is "
                  "made, so that it takes that place.",
                  grade_line(oom), (double)is->asked / 1048576, (double)unused / 1048576,
                  (double)is->largest / 1048576));
}

enum { WIDE = 65536, WIDER = 106496 }; /* columns of many and more */

/* Does it compute, on the card and for y, a tensor of so many bytes? */
static bool makes_wide(grading *g, const fy_event *op, const char *name, int64_t bytes, const fy_event *y)
{
    fy_use out;
    if (!fy_event_is(op, op->is.op.name, name) || !is_on_card(op->is.op.device)) return false;
    const fy_event *to = fy_event_use(op, op->is.op.out, 0, &out) ? storage_birth(g, out.storage) : NULL;
    return to && to->is.alloc.asked >= bytes && leads_to(g, op, y);
}

/* Is every operand as large as the result? */
static bool is_of_equals(const grading *g, const fy_event *op)
{
    fy_use in, out;
    const fy_event *to = fy_event_use(op, op->is.op.out, 0, &out) ? storage_birth(g, out.storage) : NULL;
    for (size_t i = 0; to && fy_event_use(op, op->is.op.in, i, &in); i++) {
        const fy_event *from = storage_birth(g, in.storage);
        if (!from || from->is.alloc.bytes < to->is.alloc.bytes) return false;
    }
    return to != NULL;
}

static bool check_wide_work(grading *g, int64_t rows)
{
    const char *name = "wide-products", *want = "2 wide products on the card";
    const fy_event *answer = grade_answer(g, "y").event;
    int n = count_events(g, op, makes_wide(g, it, "mul", 8 * WIDE * rows, answer) && is_of_equals(g, it));
    return check(g, name, n >= 2, answer, want, grade_say(g, "%d wide products on the card", n),
                 n >= 2 ? "Both wide products were made on the card."
                        : "The card has to multiply the wide tensors first and second with themselves, element by "
                          "element, before the means are taken.");
}

/* The last step, outside the marks, makes the widest tensor. */
static bool check_last_step(grading *g, int64_t rows)
{
    const char *name = "the-wider-step", *want = "a product of all columns of more";
    const fy_event *answer = grade_answer(g, "y").event;
    const fy_event *wider = next_event(g, NULL, op, makes_wide(g, it, "matmul", 8 * WIDER * rows, answer));
    return check(g, name, wider, wider ? wider : answer, want, wider ? want : "a smaller one",
                 wider
                     ? "The last step made the wider tensor."
                     : grade_say(g,
                                 "No product that y is computed from has all %d columns of more: the last step has to "
                                 "fit as it was, so leave more and the lines outside the marks alone.",
                                 WIDER));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_one_piece(g) || !check_answered(g, "y")) return;
    int64_t rows = grade_given(g, "x").count;
    check_numbers(g);
    check_ran_on_card(g, "y", "x");
    check_computed(g, "y", "matmul mul mean add", 13);
    check_answer_on_card(g, "y");
    check_copies(g, "one-copy-there", FY_WORD_h2d, 1, true);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_wide_work(g, rows);
    check_last_step(g, rows);
}

const lesson_check lesson_check_13 = {"13-pieces", judge};
