/* Myth 2: "All tensors must be moved to the card before an operation there can use them." */
#include "grade.h"

/* What a tensor is to this statement. */
typedef enum role { OTHER, LONE_AT_HOME, LONE_ON_CARD, ROWS_AT_HOME, ROWS_ON_CARD } role;

static role role_of(const grading *g, uint32_t tensor)
{
    const fy_event *t = tensor_birth(g, tensor);
    int64_t size;
    if (!t) return OTHER;
    bool lone = !fy_event_dim(t, t->is.tensor.shape, 0, &size), card = is_on_card(t->is.tensor.device);
    return lone ? (card ? LONE_ON_CARD : LONE_AT_HOME) : card ? ROWS_ON_CARD : ROWS_AT_HOME;
}

static evidence refused(grading *g, const fy_event *error)
{
    bool lone = false;
    uint32_t tensor;
    for (size_t i = 0; fy_event_id(error, error->is.error.operands, i, &tensor); i++)
        lone |= role_of(g, tensor) == LONE_AT_HOME;
    if (lone)
        return shows_nothing(error, grade_say(g,
                                              "The call at line %d refused, but others may not: \"all tensors must\" "
                                              "is about every operation. Try one that works element by element.",
                                              grade_line(error)));
    return shows_nothing(error, grade_say(g,
                                          "The call at line %d refused two tensors that both have dimensions; a shape "
                                          "of one element, (1), is a dimension, too.",
                                          grade_line(error)));
}

static evidence find(grading *g)
{
    const fy_event *error = next_event(g, NULL, error, fy_event_is(it, is->code, "device_mismatch")), *both = NULL;
    each_event(g, op, op)
    {
        int seen[5] = {0};
        fy_use u;
        for (size_t i = 0; fy_event_use(op, op->is.op.in, i, &u); i++) seen[role_of(g, u.tensor)]++;
        if (is_on_card(op->is.op.device) && seen[LONE_AT_HOME] && (seen[ROWS_ON_CARD] || seen[LONE_ON_CARD]))
            return shows_false(op, grade_say(g, "%s ran on the card, with a 0-dim tensor in CPU RAM as an operand",
                                             grade_where(g, op)));
        if (seen[LONE_ON_CARD] && seen[ROWS_ON_CARD]) both = op;
    }
    if (error) return refused(g, error);
    if (both)
        return shows_nothing(
            both, grade_say(g, "Both operands of %s are on the card, the 0-dim tensor as well.", grade_where(g, both)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e,
                     "an operation whose operands are a tensor in VRAM, and a tensor without dimensions in CPU RAM (a "
                     "plain number is no tensor)"))
        return;
    check_uses_given(g, e.at, "x");
    check_small(g, 5);
    check_finished(g);
}

const lesson_check lesson_check_m2 = {"m2-zero-dim", judge};
