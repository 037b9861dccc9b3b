/* Myth 9: "fy_randn with .device = 'cuda' sends nothing over the bus, unlike fy_randn and then fy_to." */
#include "grade.h"

static bool has_shape_of_x(grading *g, uint32_t tensor)
{
    grade_array x = grade_given(g, "x");
    const fy_event *t = tensor_birth(g, tensor);
    int64_t size;
    bool same = t && x.event;
    for (int i = 0; same && i < x.ndim; i++)
        same = fy_event_dim(t, t->is.tensor.shape, (size_t)i, &size) && size == x.shape[i];
    return same && !fy_event_dim(t, t->is.tensor.shape, (size_t)x.ndim, &size);
}

static const fy_event *first_randn(const grading *g, bool card, fy_use *out)
{
    const fy_event *op = next_event(g, NULL, op, fy_event_is(it, is->name, "randn") && is_on_card(is->device) == card);
    if (op && !fy_event_use(op, op->is.op.out, 0, out)) return NULL;
    return op;
}

static const fy_event *copied_there(const grading *g, uint32_t from)
{
    return next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage == from);
}

static evidence find(grading *g)
{
    fy_use born = {0}, carried = {0};
    const fy_event *there = first_randn(g, true, &born), *here = first_randn(g, false, &carried);
    const fy_event *copy = here ? copied_there(g, carried.storage) : NULL;
    const fy_event *sent =
        there ? next_event(g, NULL, copy, /* a later one is the program's own */
                           is->dir == FY_WORD_h2d && is->dst.storage == born.storage && it->seq < there->seq)
              : NULL;
    if (sent)
        return shows_false(sent, grade_say(g, "%s filled the tensor that was made on the card", grade_where(g, sent)));
    if (there && copy)
        return shows_true(copy,
                          grade_say(g,
                                    "the tensor of line %d was filled on the card, and no copy led there; the one of "
                                    "line %d was copied, %lld bytes",
                                    grade_line(there), grade_line(copy), (long long)copy->is.copy.bytes));
    if (there)
        return shows_nothing(there, grade_say(g, "The run shows one of the two ways, at line %d.", grade_line(there)));
    if (copy)
        return shows_nothing(copy, grade_say(g, "The run shows one of the two ways, at line %d.", grade_line(copy)));
    if (here)
        return shows_nothing(here, grade_say(g, "What fy_randn made at line %d stays in CPU RAM.", grade_line(here)));
    return shows_nothing(NULL, NULL);
}

static bool check_shapes(grading *g)
{
    fy_use born = {0}, carried = {0};
    const fy_event *there = first_randn(g, true, &born), *here = first_randn(g, false, &carried);
    bool pass = there && here && has_shape_of_x(g, born.tensor) && has_shape_of_x(g, carried.tensor);
    const char *want = "two tensors of the shape of x";
    return check(g, "uses-the-input", pass, there, want, pass ? want : "of another shape",
                 pass ? "Both tensors have the shape of x."
                      : grade_say(g,
                                  "Make the tensors at lines %d and %d both of the shape of x, which is another one in "
                                  "each run.",
                                  grade_line(there), grade_line(here)));
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "both ways to get random numbers into VRAM, in one run")) return;
    check_shapes(g);
    check_small(g, 5);
    check_finished(g);
}

const lesson_check lesson_check_m9 = {"m9-randn", judge};
