/* Myth 3: "Printing a tensor that is on the card copies bytes over the bus." */
#include "grade.h"

static evidence find(grading *g)
{
    const fy_event *c = next_event(g, NULL, copy, is->why == FY_WORD_print && is_on_card(is->src.device));
    if (c)
        return shows_true(
            c, grade_say(g, "fy_print at line %d, of a tensor in VRAM, made a copy of %lld bytes over the bus",
                         grade_line(c), (long long)c->is.copy.bytes));
    const fy_event *r = next_event(g, NULL, host_read, is->via == FY_WORD_print && storage_is_on_card(g, is->storage));
    if (r && r->is.host_read.count == 0)
        return shows_nothing(r, "An empty tensor has no bytes to copy: print one that has some.");
    if (r)
        return shows_false(
            r, grade_say(g, "fy_print at line %d read a tensor in VRAM, and nothing was copied", grade_line(r)));

    const fy_event *other = next_event(g, NULL, host_read, is->via == FY_WORD_print),
                   *item = next_event(g, NULL, copy, is->why == FY_WORD_item);
    if (other)
        return shows_nothing(other, grade_say(g,
                                              "The tensor that fy_print shows at line %d is in CPU RAM, where the "
                                              "program can read it anyway.",
                                              grade_line(other)));
    if (item) return shows_nothing(item, "fy_item reads a number for the program; the statement is about printing.");
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "a tensor that is printed while it is in VRAM")) return;
    check_uses_given(g, e.at, "x");
    check_small(g, 4);
    check_finished(g);
}

const lesson_check lesson_check_m3 = {"m3-printing", judge};
