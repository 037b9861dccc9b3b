/* limits.c: the checks that lessons share of what a run cost, of the order of its accesses, and of what it believes. */
#include "grading.h"

#include <inttypes.h>
#include <string.h>

#include "log_format.h"
#include "misconceptions.h"

/* "4 KiB", "24 bytes", "1 byte" */
static const char *bytes_text(grading *g, int64_t n)
{
    if (n >= 1 << 20 && n % (1 << 20) == 0) return grade_say(g, "%" PRId64 " MiB", n >> 20);
    if (n >= 1 << 10 && n % (1 << 10) == 0) return grade_say(g, "%" PRId64 " KiB", n >> 10);
    return grade_say(g, "%" PRId64 " byte%s", n, n == 1 ? "" : "s");
}

/* Records a limit; over: the event that exceeded it, or NULL. what: plural, "waits for the card". */
static bool limit(grading *g, const char *name, const fy_event *over, const char *what, int64_t most, int64_t used,
                  bool in_bytes)
{
    const char *most_text = in_bytes ? bytes_text(g, most) : grade_say(g, "%" PRId64, most);
    const char *used_text = in_bytes ? bytes_text(g, used) : grade_say(g, "%" PRId64, used);
    const char *words = grade_say(g, "%c%s: %s. The limit is %s.", what[0] - 'a' + 'A', what + 1, used_text, most_text);
    if (over)
        words = grade_say(g, "%c%s: %s, and the limit is %s. It is exceeded by %s.", what[0] - 'a' + 'A', what + 1,
                          used_text, most_text, grade_where(g, over));
    bool pass = check(g, name, !over, over, grade_say(g, "%" PRId64 " %s allowed", most, what),
                      grade_say(g, "%" PRId64 " %s", used, what), words);
    check_is_limit(g, what, (double)most, (double)used);
    return pass;
}

/* A program can write to its log: its numbers may be of any size. */
static int64_t plus(int64_t a, int64_t b)
{
    int64_t sum;
    return __builtin_add_overflow(a, b, &sum) ? (b < 0 ? INT64_MIN : INT64_MAX) : sum;
}

static int64_t minus(int64_t a, int64_t b)
{
    int64_t difference;
    return __builtin_sub_overflow(a, b, &difference) ? (b > 0 ? INT64_MIN : INT64_MAX) : difference;
}

bool check_bytes(grading *g, const char *name, fy_word dir, int64_t most)
{
    int64_t bytes = 0;
    const fy_event *over = NULL;
    each_event(g, c, copy)
    {
        bool bus = is_on_card(c->is.copy.src.device) != is_on_card(c->is.copy.dst.device);
        bool counts = dir == FY_WORD_none ? bus : c->is.copy.dir == dir;
        if (counts && c->is.copy.bytes > 0) bytes = plus(bytes, c->is.copy.bytes);
        if (counts && !over && bytes > most) over = c;
    }
    const char *what = dir == FY_WORD_h2d   ? "bytes to the card"
                       : dir == FY_WORD_d2h ? "bytes back to the CPU"
                       : dir == FY_WORD_d2d ? "bytes within the card"
                                            : "bytes on the bus";
    const char *words = grade_say(g, "%s: %" PRId64 ". The limit is %" PRId64 "%s%s.", what, bytes, most,
                                  over ? ", exceeded by " : "", over ? grade_where(g, over) : "");
    bool pass = check(g, name, !over, over, grade_say(g, "%" PRId64 " %s allowed", most, what),
                      grade_say(g, "%" PRId64 " %s", bytes, what), grade_say(g, "B%s", words + 1));
    check_is_limit(g, what, (double)most, (double)bytes);
    return pass;
}

void line_list_add(grading *g, line_list *l, const fy_event *e)
{
    enum { MOST = 6 };
    if (grade_line(e) == l->last || l->listed > MOST) return;
    l->last = grade_line(e);
    if (++l->listed <= MOST) l->text = grade_say(g, "%s%s%d", l->text, l->listed > 1 ? ", " : "", l->last);
    else l->text = grade_say(g, "%s ...", l->text);
}

bool check_waits(grading *g, const char *name, int most)
{
    int n = 0;
    const fy_event *over = NULL;
    line_list lines = {.text = ""};
    each_event(g, s, sync)
    {
        fy_word why = s->is.sync.why;
        if (why == FY_WORD_free || why == FY_WORD_oom || why == FY_WORD_policy || why == FY_WORD_exit) continue;
        if (++n == most + 1) over = s;
        line_list_add(g, &lines, s);
    }
    const char *what = "waits for the card";
    if (!over) return limit(g, name, NULL, what, most, n, false);
    bool pass = check(g, name, false, over, grade_say(g, "%d %s allowed", most, what), grade_say(g, "%d %s", n, what),
                      grade_say(g, "Waits for the card: %d, at line%s %s. The limit is %d.", n,
                                lines.listed > 1 ? "s" : "", lines.text, most));
    check_is_limit(g, what, most, n);
    return pass;
}

/* ---- memory ----------------------------------------------------------------------------------------------- */

static int64_t bytes_of(const grading *g, uint32_t storage, uint8_t device)
{
    const fy_event *a = storage_birth(g, storage);
    return a && a->is.alloc.device == device && a->is.alloc.bytes > 0 ? a->is.alloc.bytes : 0;
}

/* The bytes on the device after each event up to `last`; NULL: all. The most are in *peak, with the event that needed
 * them. */
static int64_t follow_bytes(const grading *g, uint8_t device, const fy_event *last, int64_t *peak, const fy_event **at)
{
    int64_t live = 0;
    *peak = 0;
    *at = NULL;
    const trace *run = grade_trace(g);
    for (const fy_event *e = run->events; e < run->events + run->count && e != last; e++) {
        if (e->kind == FY_KIND_alloc) live = plus(live, e->is.alloc.device == device ? e->is.alloc.bytes : 0);
        if (e->kind == FY_KIND_free) live = minus(live, bytes_of(g, e->is.free.storage, device));
        if (live > *peak) *peak = live, *at = e;
    }
    return live;
}

static const char *place(grading *g, uint8_t device)
{
    if (device > 1) return grade_say(g, "VRAM of %s", grade_device(g, device));
    return is_on_card(device) ? "VRAM" : "CPU RAM";
}

bool check_peak(grading *g, const char *name, uint8_t device, int64_t most)
{
    int64_t peak;
    const fy_event *at;
    follow_bytes(g, device, NULL, &peak, &at);
    return limit(g, name, peak > most ? at : NULL, grade_say(g, "bytes of %s at once", place(g, device)), most, peak,
                 true);
}

/* The allocation of the largest tensor that is there when `last` happens; NULL: none is. */
static const fy_event *largest_at(grading *g, uint8_t device, const fy_event *last)
{
    const fy_event *largest = NULL;
    each_event(g, a, alloc)
    {
        bool counts = a->is.alloc.device == device && a->seq < last->seq;
        if (!counts || (largest && a->is.alloc.bytes < largest->is.alloc.bytes)) continue;
        if (!next_event(g, a, free, is->storage == a->is.alloc.storage && it->seq < last->seq)) largest = a;
    }
    return largest;
}

bool check_left(grading *g, const char *name, uint8_t device, const char *answer, int64_t most)
{
    int64_t peak;
    const fy_event *at, *submitted = grade_answer(g, answer).event;
    int64_t left = follow_bytes(g, device, submitted, &peak, &at);
    const fy_event *largest = left > most ? largest_at(g, device, submitted) : NULL;
    const char *what = grade_say(g, "bytes of %s at the end", place(g, device));
    if (!largest) return limit(g, name, left > most ? submitted : NULL, what, most, left, true);
    check(g, name, false, largest, grade_say(g, "%" PRId64 " %s allowed", most, what),
          grade_say(g, "%" PRId64 " %s", left, what),
          grade_say(g,
                    "When %s is submitted at line %d, %s of %s are in use, and the limit is %s. The largest, %s that "
                    "line %d allocated, is still there: free what no later line uses.",
                    answer, grade_line(submitted), bytes_text(g, left), place(g, device), bytes_text(g, most),
                    bytes_text(g, largest->is.alloc.bytes), grade_line(largest)));
    check_is_limit(g, what, (double)most, (double)left);
    return false;
}

/* ---- time -------------------------------------------------------------------------------------------------- */

/* ", of which fy_pin_memory at line 33 took 1100.2 us", the work that this event completes; "": it is not in the log. */
static const char *longest_work(grading *g, const fy_event *done)
{
    const fy_event *work = done ? next_event(g, NULL, op, is->id == done->is.complete.id) : NULL;
    if (done && !work) work = next_event(g, NULL, copy, is->id == done->is.complete.id);
    if (!work) return "";
    return grade_say(g, ", of which %s took %.1f us", grade_where(g, work),
                     (double)minus(done->is.complete.end, done->is.complete.start) / 1e3);
}

bool check_time(grading *g, const char *name, int64_t most_ns)
{
    const fy_event *session = next_event(g, NULL, session, true), *begin = next_event(g, NULL, given, true);
    const fy_event *first = next_event(g, NULL, segment, is_on_card(is->device)), *slow = NULL;
    int64_t end = 0, longest = 0;
    each_event(g, c, complete)
    {
        if (c->is.complete.end > end) end = c->is.complete.end;
        int64_t took = minus(c->is.complete.end, c->is.complete.start);
        if (took > longest) longest = took, slow = c;
    }
    int64_t took = minus(minus(end, begin ? begin->t : 0), first ? first->is.segment.held : 0);
    const char *want =
        grade_say(g, "%.1f us modelled time at most, from fy_given on, without reserving the first segment",
                  (double)most_ns / 1e3);
    const char *got = grade_say(g, "%.1f us modelled time", (double)took / 1e3);
    if (session && session->is.session.clock == FY_WORD_measured)
        return check(g, name, true, NULL, want, "measured",
                     "This run was measured on a real card: its time is not judged.");
    bool pass = took <= most_ns;
    check(g, name, pass, pass ? NULL : slow, want, got,
          grade_say(g, "Modelled time: %.1f us%s. The limit is %.1f us%s", (double)took / 1e3,
                    pass ? "" : longest_work(g, slow), (double)most_ns / 1e3,
                    pass
                        ? "."
                        : ": `ferry explain` ranks what costs most; if it finds nothing, look for a copy and work that "
                          "wait for each other."));
    check_is_limit(g, "modelled time in us", (double)most_ns / 1e3, (double)took / 1e3);
    return pass;
}

/* ---- order, errors, beliefs ---------------------------------------------------------------------------------- */

bool check_ordered(grading *g)
{
    const fy_event *race = next_event(g, NULL, data_race, true);
    if (!race)
        return check(g, "no-data-race", true, NULL, "every access ordered", "every access ordered",
                     "Every access was ordered after those that it depends on.");
    const trace *run = grade_trace(g);
    uint64_t a = race->is.data_race.a - 1, b = race->is.data_race.b - 1; /* a seq plus 1 */
    uint64_t count = (uint64_t)run->count;
    const fy_event *earlier = a < count ? &run->events[a] : race, *later = b < count ? &run->events[b] : race;
    return check(
        g, "no-data-race", false, later, "every access ordered", "two accesses in no order",
        grade_say(g, "Nothing orders %s and %s, which touch the same bytes: what is read depends on luck. Fix: %s.",
                  grade_where(g, earlier), grade_where(g, later), grade_text(g, race, race->is.data_race.fix)));
}

bool check_no_error(grading *g)
{
    const fy_event *e = next_event(g, NULL, error, true);
    if (!e) return check(g, "no-error", true, NULL, "no error", "no error", "No call failed.");
    return check(g, "no-error", false, e, "no error", grade_text(g, e, e->is.error.code),
                 grade_say(g, "A call failed at line %d: %s", grade_line(e), grade_text(g, e, e->is.error.message)));
}

bool check_understood(grading *g, const char *name, const char *misconception_name)
{
    const fy_event *e = shows_misconception(g, misconception_name);
    const misconception *m = misconception_named(misconception_name);
    if (!e) return check(g, name, true, NULL, m->wanted, m->wanted, grade_say(g, "As it should be: %s.", m->wanted));
    const char *where = grade_where(g, e);
    return check(g, name, false, e, m->wanted, where, grade_say(g, "%s. It shows at %s.", m->truth, where));
}
