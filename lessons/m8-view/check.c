/* Myth 8: "A view of a tensor on the card must be moved to the card again." */
#include "grade.h"

static bool is_view_on_card(const grading *g, uint32_t tensor)
{
    const fy_event *t = tensor_birth(g, tensor);
    return t && t->is.tensor.view_of && is_on_card(t->is.tensor.device);
}

static bool reads_view_on_card(const grading *g, const fy_event *op)
{
    fy_use u;
    for (size_t i = 0; fy_event_use(op, op->is.op.in, i, &u); i++)
        if (is_view_on_card(g, u.tensor)) return true;
    return false;
}

static evidence find(grading *g)
{
    const fy_event *op = next_event(g, NULL, op, is_on_card(is->device) && reads_view_on_card(g, it));
    const fy_event *answer = next_event(g, NULL, answer, is_on_card(is->device) && is_view_on_card(g, is->tensor));
    const fy_event *look = next_event(g, NULL, copy, is_look(it) && is_view_on_card(g, is->src.tensor));
    if (op)
        return shows_false(
            op, grade_say(g, "%s ran on the card and read a view, which nothing had copied", grade_where(g, op)));
    if (answer)
        return shows_false(
            answer, grade_say(g, "the view was on the card when it was handed in at line %d, and nothing had copied it",
                              grade_line(answer)));
    if (look)
        return shows_false(
            look, grade_say(g, "%s found the view in VRAM, and nothing had copied it there", grade_where(g, look)));
    const fy_event *v = next_event(g, NULL, tensor, is->view_of != 0);
    const fy_event *base = v ? tensor_birth(g, v->is.tensor.view_of) : NULL;
    if (v && base && is_on_card(base->is.tensor.device) && !is_on_card(v->is.tensor.device))
        return shows_true(v, grade_say(g, "the view at line %d, of a tensor in VRAM, is in CPU RAM", grade_line(v)));
    if (v && !is_on_card(v->is.tensor.device))
        return shows_nothing(v, grade_say(g, "The view at line %d is of a tensor in CPU RAM.", grade_line(v)));
    if (v) return shows_nothing(v, grade_say(g, "Nothing uses the view at line %d.", grade_line(v)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "a view of a tensor that is in VRAM, and something on the card that reads this view"))
        return;
    check_uses_given(g, e.at, "x");
    check_small(g, 4);
    check_finished(g);
}

const lesson_check lesson_check_m8 = {"m8-view", judge};
