/* rules_sync.c: rules about time in which somebody stood still: the host, at every step of a loop, or a card's
 * engine, beside work that it could have done meanwhile. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>

#include "memory.h"

enum { STEPS = 3, WORTH_OVERLAPPING = 10000 /* ns: what an event and a second stream cost is less */ };

/* ---- at every step ---- */

/* A line is passed at every step when, time and again, no work on the card ran twice since it was passed last, and
 * some did. Logging each hundredth step is not that. The work of a line is known by its name: there may be several. */
typedef struct pace {
    id_map ran_at;      /* by site and name: the act that ran there last */
    int *passed_at;     /* by site: where the host waited there last */
    int *steps;         /* by site */
    int worked, repeat; /* the last work on a card; the last that had run, when its line ran again */
} pace;

static int *by_site(const history *h, int value)
{
    int *list = memory_realloc(NULL, (size_t)h->site_count + 1, sizeof *list, "the findings");
    for (int i = 0; i < h->site_count; i++) list[i] = value;
    return list;
}

static void pace_begin(pace *p, const history *h) { *p = (pace){{0}, by_site(h, -1), by_site(h, 0), -1, -1}; }

static void pace_end(pace *p)
{
    map_free(&p->ran_at);
    free(p->passed_at);
    free(p->steps);
}

static bool is_work(const act *a)
{
    bool look = a->kind == FY_KIND_copy && a->why != FY_WORD_user;
    return act_on_card(a) && !look && a->site >= 0;
}

static void pace_work(pace *p, const act *a, int i)
{
    int *last = map_at(&p->ran_at, ((uint64_t)(a->name + 2) << 32) + (uint64_t)a->site);
    if (*last > p->repeat) p->repeat = *last;
    *last = i;
    p->worked = i;
}

static void pace_wait(pace *p, const act *a, int i)
{
    int last = p->passed_at[a->site];
    if (last >= 0 && p->worked > last && p->repeat <= last) p->steps[a->site]++;
    p->passed_at[a->site] = i;
}

/* How often each line was passed at a step; the first time is not counted. The caller frees it. */
static int *steps_of(const history *h, bool (*waits)(const history *h, const act *a))
{
    pace p;
    pace_begin(&p, h);
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->site >= 0 && waits(h, a)) pace_wait(&p, a, i);
        else if (is_work(a)) pace_work(&p, a, i);
    }
    int *steps = p.steps;
    p.steps = NULL;
    pace_end(&p);
    return steps;
}

enum { A_FEW = 64 /* bytes: a loss, a count */ };

/* What Ferry itself brings home because the program asked for something else. */
static bool is_hidden(const act *a)
{
    return a->why == FY_WORD_item || a->why == FY_WORD_print || a->why == FY_WORD_save || a->why == FY_WORD_size;
}

/* fy_item(x), or fy_item(fy_cpu(x)): one or a few values brought home, and looked at there. */
static bool is_look(const history *h, const act *a)
{
    if (a->kind != FY_KIND_copy || a->dir != FY_WORD_d2h) return false;
    if (is_hidden(a)) return true;
    if (a->why != FY_WORD_user || a->was_async || a->bytes > A_FEW || a->dst.storage < 0) return false;
    const storage *to = &h->storages[a->dst.storage];
    return to->touches == 2 && to->first_touch == act_index(h, a) && h->acts[to->last_touch].kind == FY_KIND_host_read;
}

static void say_size(finding *x)
{
    say_what(x,
             "the size of a result hangs on values of the card (fy_nonzero, or what a mask picks): at every step the "
             "count comes to the host, which waits until all work before it is done; meanwhile it queues nothing new.");
    say_fix(x, "keep the size as it is, and put 0 where the mask is false: fy_where(mask, x, 0), or x times the mask; "
               "or pick every so many steps, or after the loop");
}

void rule_hidden_sync(findings *f, const history *h)
{
    int *steps = steps_of(h, is_look);
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        bool waited = a->kind == FY_KIND_sync && is_hidden(a);
        if (a->site < 0 || steps[a->site] < STEPS - 1 || !(waited || is_look(h, a))) continue;
        finding *x = found(f, h, a->site, i, a->held, a->bytes);
        if (!x) continue;
        if (waited) x->times -= x->times > 1; /* the wait belongs to the copy before it */
        if (x->times > 1 || x->what[0]) continue;
        if (a->why == FY_WORD_size) {
            say_size(x);
            continue;
        }
        const char *does = a->why == FY_WORD_print  ? "printing"
                           : a->why == FY_WORD_save ? "saving"
                           : a->why == FY_WORD_user ? "bringing home and reading"
                                                    : "fy_item on";
        say_what(
            x,
            "%s a value of the card at every step makes the host wait until all work before it is done; meanwhile it "
            "queues nothing new.",
            does);
        say_fix(
            x,
            "keep the values on the card (add them up there), and look at them every so many steps or after the loop");
    }
    free(steps);
}

static bool is_device_sync(const history *h, const act *a)
{
    (void)h;
    return a->kind == FY_KIND_sync && a->type == FY_WORD_device && a->why == FY_WORD_user;
}

void rule_device_sync(findings *f, const history *h)
{
    int *steps = steps_of(h, is_device_sync);
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->site < 0 || !is_device_sync(h, a) || steps[a->site] < STEPS - 1) continue;
        finding *x = found(f, h, a->site, i, a->held, 0);
        if (!x || x->times > 1) continue;
        say_what(x, "at every step the host waits for all streams of the card.");
        say_fix(x, "remove it: copies home wait by themselves, and work in one stream is in order. Where one result "
                   "is needed, wait for its event; to measure time, wait once before and once after the loop");
    }
    free(steps);
}

/* ---- side by side ---- */

static bool are_independent(const history *h, const act *copy, const act *op)
{
    if (copy->dir == FY_WORD_h2d) return copy->dst.storage >= 0 && !act_touches(h, op, copy->dst.storage);
    return copy->src.storage >= 0 && !act_wrote(h, op, copy->src.storage);
}

static bool is_bus_copy(const act *a)
{
    return a->kind == FY_KIND_copy && a->why == FY_WORD_user && (a->dir == FY_WORD_h2d || a->dir == FY_WORD_d2h);
}

/* ns that these two, issued one after the other, could have run at the same time and did not. */
static int64_t missed_ns(const history *h, const act *a, const act *b)
{
    const act *copy = is_bus_copy(a) ? a : b, *op = copy == a ? b : a;
    if (!is_bus_copy(copy) || op->kind != FY_KIND_op || !a->completed || !b->completed) return 0;
    if (!are_independent(h, copy, op) || b->start < a->end) return 0;
    if (copy->was_async && copy->stream != op->stream) return 0; /* an order that was asked for */
    int64_t one = a->end - a->start, other = b->end - b->start;
    return one < other ? one : other;
}

static void missed_overlap(findings *f, const history *h, int i, const act *copy, const act *op, int64_t ns)
{
    char line[96];
    finding *x = found(f, h, copy->site, i, ns, copy->bytes);
    if (!x || x->times > 1) return;
    say_what(x, "the copy of %s and %.40s at %s need nothing of each other and ran one after the other%s.",
             name_of(h, copy->src.tensor), op->name >= 0 ? h->names[op->name] : "the work",
             line_of(h, op->site, copy->site, line),
             copy->stream == op->stream ? ", in one stream" : ": the copy held the host");
    say_fix(x, "%s%s",
            copy->was_async ? ""
            : copy->async   ? "take page-locked memory on the host, or .non_blocking does nothing; "
                            : "make the copy .non_blocking, with page-locked memory on the host; ",
            copy->stream == op->stream ? "put it into a stream of its own, and let an event order what needs it"
                                       : "then the two streams overlap");
}

/* Whoever waits, or lets a stream wait, says that he wants an order. */
static bool orders(const act *a)
{
    return a->kind == FY_KIND_event_wait || (a->kind == FY_KIND_sync && a->why == FY_WORD_user);
}

void rule_missed_overlap(findings *f, const history *h)
{
    int last[MOST_CARDS + 1];
    bool *set_up = set_up_copies(h);
    for (int i = 0; i <= MOST_CARDS; i++) last[i] = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *b = &h->acts[i];
        if (orders(b) && b->device >= 0) last[b->device] = -1;
        if (!act_on_card(b)) continue;
        const act *a = last[b->device] >= 0 ? &h->acts[last[b->device]] : NULL;
        int64_t ns = a && a->thread == b->thread ? missed_ns(h, a, b) : 0;
        const act *copy = a && is_bus_copy(a) ? a : b;
        bool once = set_up && set_up[act_index(h, copy)];
        if (ns >= WORTH_OVERLAPPING && !once) missed_overlap(f, h, i, copy, copy == a ? b : a, ns);
        last[b->device] = i;
    }
    free(set_up);
}
