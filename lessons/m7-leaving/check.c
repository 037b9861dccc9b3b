/* Myth 7: "When a tensor goes to the card, its bytes leave CPU RAM." */
#include "grade.h"

/* The first time that the program used these bytes in CPU RAM after an event: a copy, an op, or a read. */
static const fy_event *used_after(const grading *g, const fy_event *after, uint32_t storage)
{
    const trace *run = grade_trace(g);
    fy_use u;
    for (const fy_event *e = after + 1; e < run->events + run->count; e++) {
        if (e->kind == FY_KIND_host_read && e->is.host_read.storage == storage) return e;
        if (e->kind == FY_KIND_copy && e->is.copy.src.storage == storage) return e;
        for (size_t i = 0; e->kind == FY_KIND_op && fy_event_use(e, e->is.op.in, i, &u); i++)
            if (u.storage == storage) return e;
    }
    return NULL;
}

static evidence find(grading *g)
{
    const fy_event *gone = NULL;
    each_event(g, c, copy)
    {
        uint32_t storage = c->is.copy.src.storage;
        if (c->is.copy.dir != FY_WORD_h2d) continue;
        const fy_event *used = used_after(g, c, storage), *freed = next_event(g, c, free, is->storage == storage);
        if (used)
            return shows_false(
                used, grade_say(g,
                                "the bytes that were copied to the card at line %d were used again at line %d, in "
                                "CPU RAM",
                                grade_line(c), grade_line(used)));
        if (freed && !next_event(g, c, drop, it->seq < freed->seq))
            return shows_true(freed, grade_say(g, "the memory in CPU RAM was freed at line %d, by the copy to the card",
                                               grade_line(freed)));
        gone = c;
    }
    if (gone)
        return shows_nothing(gone, grade_say(g,
                                             "A tensor went to the card at line %d, and after that nothing asks for "
                                             "the bytes in CPU RAM.",
                                             grade_line(gone)));
    return shows_nothing(NULL, NULL);
}

static void judge(grading *g)
{
    evidence e = find(g);
    if (!check_claim(g, e, "a look at the tensor in CPU RAM after it went to the card")) return;
    check_uses_given(g, e.at, "x");
    check_small(g, 4);
    check_finished(g);
}

const lesson_check lesson_check_m7 = {"m7-leaving", judge};
