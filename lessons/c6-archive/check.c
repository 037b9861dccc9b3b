/* The archive: each card holds and does one half; only scores go from card to card, and nothing by way of the host. */
#include "grade.h"

enum { FIRST = 1, SECOND = 2, SPARE = 8192 }; /* devices; bytes for what is not pages */

static bool check_numbers(grading *g)
{
    grade_array pages = grade_given(g, "pages"), question = grade_given(g, "question");
    int64_t count = pages.shape[0], each = pages.shape[1];
    bool fit = pages.ndim == 2 && question.count == each;
    double *want = fit ? grade_numbers(g, count) : NULL, best = 0;
    for (int64_t i = 0; want && i < pages.count; i++) want[i / each] += pages.data[i] * question.data[i % each];
    for (int64_t i = 0; want && i < count; i++)
        if (i == 0 || want[i] > best) best = want[i];
    for (int64_t i = 0; want && i < count; i++) want[i] -= best;
    return check_values(g, "behind", want, 1, &count);
}

static bool check_works(grading *g, const char *name, uint8_t card)
{
    const fy_event *a = grade_answer(g, "behind").event;
    const char *want = grade_say(g, "work on %s", grade_device(g, card));
    bool works = next_event(g, NULL, op, is->device == card && leads_to(g, it, a));
    return check(g, name, works, a, want, works ? want : "none",
                 works ? grade_say(g, "%s did a part of it.", grade_device(g, card))
                       : grade_say(g, "Nothing that leads to behind ran on %s; both cards do a part of the work.",
                                   grade_device(g, card)));
}

/* From card to card, whatever the way: the scores of one half, and the question. */
static bool check_between(grading *g, int64_t most)
{
    int64_t bytes = 0;
    const fy_event *over = NULL;
    each_event(g, c, copy)
    {
        if (c->is.copy.dir != FY_WORD_p2p) continue;
        bytes += c->is.copy.bytes;
        if (!over && bytes > most) over = c;
    }
    const char *want = grade_say(g, "%lld bytes between the cards allowed", (long long)most),
               *got = grade_say(g, "%lld bytes between the cards", (long long)bytes);
    bool pass = check(g, "little-between-the-cards", !over, over, want, got,
                      over ? grade_say(g,
                                       "Bytes between the cards: %lld, and the limit is %lld. It is exceeded by %s: "
                                       "send results, not pages.",
                                       (long long)bytes, (long long)most, grade_where(g, over))
                           : grade_say(g, "Bytes between the cards: %lld.", (long long)bytes));
    check_is_limit(g, "bytes between the cards", (double)most, (double)bytes);
    return pass;
}

static bool check_place(grading *g)
{
    grade_array a = grade_answer(g, "behind");
    const char *device = grade_device(g, a.device), *want = "behind on cuda:0";
    return check(g, "answer-on-the-first-card", a.device == FIRST, a.event, want, device,
                 grade_say(g, "behind was on %s when it was submitted, and belongs on cuda:0.", device));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "behind")) return;
    grade_array pages = grade_given(g, "pages"), question = grade_given(g, "question");
    int64_t half = 4 * (pages.shape[0] + 1) / 2 * pages.shape[1];
    check_numbers(g);
    check_ran_on_card(g, "behind", "pages");
    check_place(g);
    check_peak(g, "half-on-the-first-card", FIRST, half + SPARE);
    check_peak(g, "half-on-the-second-card", SECOND, half + SPARE);
    check_works(g, "the-first-card-works", FIRST);
    check_works(g, "the-second-card-works", SECOND);
    check_computed(g, "behind", "", 4); /* scores of two halves, the best one, the differences */
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, true);
    check_bytes(g, "few-bytes-there", FY_WORD_h2d, 4 * (pages.count + 2 * question.count));
    check_between(g, 4 * (pages.shape[0] + question.count));
}

const lesson_check lesson_check_c6 = {"c6-archive", judge};
