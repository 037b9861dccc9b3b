/* Myth 6: "The gradient of a leaf in CPU RAM that was used on the card by way of fy_to arrives in CPU RAM." */
#include "grade.h"

static evidence find(grading *g)
{
    const fy_event *of_card = NULL, *at_home = NULL;
    each_event(g, grad, grad)
    {
        const fy_event *leaf = tensor_birth(g, grad->is.grad.leaf);
        uint32_t bytes = leaf ? leaf->is.tensor.storage : 0;
        const fy_event *there =
            next_event(g, NULL, copy, is->dir == FY_WORD_h2d && is->src.storage == bytes && it->seq < grad->seq);
        if (!leaf || is_on_card(leaf->is.tensor.device)) of_card = grad;
        else if (!there) at_home = grad;
        else if (storage_is_on_card(g, grad->is.grad.storage))
            return shows_false(grad,
                               grade_say(g, "the leaf is in CPU RAM, and at line %d its gradient was stored in VRAM",
                                         grade_line(grad)));
        else
            return shows_true(grad,
                              grade_say(g, "the leaf is in CPU RAM, and at line %d its gradient was stored in CPU RAM",
                                        grade_line(grad)));
    }
    if (of_card)
        return shows_nothing(of_card, grade_say(g,
                                                "The gradient at line %d belongs to a leaf in VRAM: a leaf is the "
                                                "tensor that was told to require a gradient.",
                                                grade_line(of_card)));
    if (at_home)
        return shows_nothing(at_home, grade_say(g,
                                                "The leaf whose gradient was computed at line %d never went to the "
                                                "card.",
                                                grade_line(at_home)));
    const fy_event *leaf = next_event(g, NULL, graph, fy_event_is(it, is->op, "leaf"));
    if (leaf)
        return shows_nothing(leaf, grade_say(g, "The tensor at line %d is a leaf, but its gradient is never computed.",
                                             grade_line(leaf)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "a gradient of a leaf in CPU RAM that was computed with on the card")) return;
    check_uses_given(g, e.at, "w");
    check_small(g, 14);
    check_finished(g);
}

const lesson_check lesson_check_m6 = {"m6-gradient", judge};
