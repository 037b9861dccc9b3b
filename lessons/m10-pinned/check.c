/* Myth 10: "A page-locked tensor is on the card." */
#include "grade.h"

static bool is_locked(const grading *g, uint32_t storage)
{
    const fy_event *a = storage ? storage_birth(g, storage) : NULL;
    return a && a->is.alloc.mem == FY_WORD_pinned;
}

static bool reads_locked(const grading *g, const fy_event *op)
{
    fy_use u;
    int64_t size;
    for (size_t i = 0; fy_event_use(op, op->is.op.in, i, &u); i++) {
        const fy_event *t = tensor_birth(g, u.tensor);
        bool lone = t && !fy_event_dim(t, t->is.tensor.shape, 0, &size); /* 0-dim: may be in another memory */
        if (is_locked(g, u.storage) && !lone) return true;
    }
    return false;
}

static evidence find(grading *g)
{
    const fy_event *op = next_event(g, NULL, op, reads_locked(g, it)),
                   *copy = next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is_locked(g, is->src.storage)),
                   *read = next_event(g, NULL, host_read, is_locked(g, is->storage)),
                   *made = next_event(g, NULL, alloc, is->mem == FY_WORD_pinned);
    if (op && is_on_card(op->is.op.device))
        return shows_true(op, grade_say(g, "%s read page-locked memory and ran on the card", grade_where(g, op)));
    if (op) return shows_false(op, grade_say(g, "%s read page-locked memory and ran on the CPU", grade_where(g, op)));
    if (copy)
        return shows_false(
            copy, grade_say(g, "it took %s to bring the page-locked tensor to the card", grade_where(g, copy)));
    if (read)
        return shows_false(
            read, grade_say(g, "at line %d the program read the page-locked memory, and nothing was copied for that",
                            grade_line(read)));
    const fy_event *error = made ? next_event(g, made, error, fy_event_is(it, is->code, "device_mismatch")) : NULL;
    if (error)
        return shows_nothing(error, grade_say(g,
                                              "The call at line %d was refused, and the message says where each "
                                              "operand is. Now show it with a call that works.",
                                              grade_line(error)));
    if (made)
        return shows_nothing(made, grade_say(g, "Nothing uses the page-locked memory of line %d.", grade_line(made)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "a page-locked tensor that something reads, or that goes to the card")) return;
    check_uses_given(g, e.at, "x");
    check_small(g, 4);
    check_finished(g);
}

const lesson_check lesson_check_m10 = {"m10-pinned", judge};
