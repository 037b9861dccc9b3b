/* Lesson 6: what is sent once is not page-locked, what is sent often is page-locked once and not filled again; best of
 * all, nothing is sent twice. */
#include "grade.h"

/* total = start + 10 x the sum of the four parts of x. */
static bool check_numbers(grading *g)
{
    grade_array x = grade_given(g, "x"), start = grade_given(g, "start");
    int64_t n = start.count;
    double *want = x.count == 4 * n ? grade_numbers(g, n) : NULL;
    for (int64_t i = 0; want && i < n; i++)
        want[i] = start.data[i] + 10 * (x.data[i] + x.data[n + i] + x.data[2 * n + i] + x.data[3 * n + i]);
    return check_values(g, "total", want, start.ndim, start.shape);
}

static bool is_locked(const grading *g, uint32_t storage)
{
    const fy_event *alloc = storage_birth(g, storage);
    return alloc && alloc->is.alloc.mem == FY_WORD_pinned;
}

/* Does it copy into page-locked memory, on the host? */
static bool fills(const grading *g, const fy_event *e)
{
    fy_use in, out;
    if (e->kind == FY_KIND_copy) return e->is.copy.dir == FY_WORD_h2h && is_locked(g, e->is.copy.dst.storage);
    return e->kind == FY_KIND_op && !is_on_card(e->is.op.device) && fy_event_use(e, e->is.op.in, 0, &in) &&
           fy_event_use(e, e->is.op.out, 0, &out) && is_locked(g, out.storage);
}

/* The bytes that were sent to the card from a storage. */
static int64_t sent_from(const grading *g, uint32_t storage)
{
    int64_t bytes = 0;
    each_event(g, c, copy)
    {
        bool counts = c->is.copy.dir == FY_WORD_h2d && c->is.copy.src.storage == storage;
        if (counts && c->is.copy.bytes > 0 && c->is.copy.bytes <= INT64_MAX - bytes) bytes += c->is.copy.bytes;
    }
    return bytes;
}

/* Page-locked memory pays when more bytes leave it than it has. */
static bool check_reused(grading *g)
{
    const char *name = "locked-for-reuse";
    const fy_event *once =
        next_event(g, NULL, alloc, is->mem == FY_WORD_pinned && sent_from(g, is->storage) <= is->bytes);
    if (shows_misconception(g, "pinning-always-pays") || !once) return check_understood(g, name, "pinning-always-pays");
    long long sent = (long long)sent_from(g, once->is.alloc.storage);
    return check(
        g, name, false, once, "bytes that are page-locked and sent more than once",
        grade_say(g, "%lld bytes sent", sent),
        grade_say(g,
                  "Line %d page-locks %lld bytes, and %lld bytes are sent from there in all. Page-locking pays "
                  "only for bytes that are sent again and again.",
                  grade_line(once), (long long)once->is.alloc.bytes, sent));
}

/* Bytes of x that are sent once may come from ordinary memory. */
static bool check_sent_from_locked(grading *g)
{
    uint32_t start = given_storage(g, "start");
    const char *name = "sent-from-page-locked", *want = "what is sent again is sent from page-locked memory";
    int64_t bytes = 0, all = 4 * grade_given(g, "x").count;
    const fy_event *first = NULL;
    each_event(g, c, copy)
    {
        const fy_ev_copy *is = &c->is.copy;
        if (is->dir != FY_WORD_h2d || is->src.storage == start || is_locked(g, is->src.storage)) continue;
        if (!first) first = c;
        if (is->bytes > 0 && is->bytes <= INT64_MAX - bytes) bytes += is->bytes;
    }
    if (bytes <= all) return check(g, name, true, NULL, want, want, "No byte was sent again from ordinary memory.");
    return check(
        g, name, false, first, want, grade_where(g, first),
        grade_say(g,
                  "A part of x was sent from ordinary memory by %s, so the processor stages its bytes. In all, "
                  "%lld bytes were sent so, and x has %lld: the same bytes, again and again. Page-lock x "
                  "once, before the loop, and send its parts from there.",
                  grade_where(g, first), (long long)bytes, (long long)all));
}

static bool check_filled_once(grading *g)
{
    const char *name = "filled-once", *want = "page-locked memory is filled once";
    const trace *run = grade_trace(g);
    const fy_event *again = NULL;
    int n = 0;
    for (const fy_event *e = run->events; e < run->events + run->count; e++)
        if (fills(g, e) && ++n == 2) again = e;
    if (!again) return check(g, name, true, NULL, want, want, "Page-locked memory was filled once.");
    return check(
        g, name, false, again, want, grade_say(g, "it was filled %d times", n),
        grade_say(g,
                  "Page-locked memory was filled %d times, the second time at line %d. Filling it is a copy by "
                  "the processor, as long as the one that it saves: fill it once, with all of x.",
                  n, grade_line(again)));
}

static void judge(grading *g)
{
    if (!check_same_device(g) || !check_answered(g, "total")) return;
    int64_t part = 4 * grade_given(g, "start").count;
    check_numbers(g);
    check_reused(g);
    check_ran_on_card(g, "total", "x");
    check_computed(g, "total", "add", 40);
    check_peak(g, "room-for-one-part", 1, 2 * part);
    check_sent_from_locked(g);
    check_filled_once(g);
    check_copies(g, "copies-to-card", FY_WORD_h2d, 41, false);
    check_copies(g, "nothing-copied-back", FY_WORD_d2h, 0, false);
}

const lesson_check lesson_check_06 = {"06-page-locked", judge};
