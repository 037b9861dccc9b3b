/* rules_sync.c: rules about idle time: of the host, blocked in every step of a loop, or of a card's engine, though
 * there was independent work. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>

#include "memory.h"

enum { STEPS = 3, MIN_OVERLAP = 10000 /* ns; an event and a second stream cost less */ };

/* ---- in every step ---- */

/* A line waits in every step if, repeatedly, some work ran on the card since its last wait but none of it twice.
 * Logging each hundredth step does not qualify. Work is identified by line and op name: a line may have several ops. */
typedef struct pace {
    id_map ran_at;      /* by site and name: the act that ran there last */
    int *passed_at;     /* by site: the act of its last wait */
    int *steps;         /* by site: waits that came one step after the previous one */
    int worked, repeat; /* the last work on a card; the latest work that has run again since */
} pace;

static int *by_site(const history *h, int value)
{
    int *list = memory_realloc(NULL, (size_t)h->site_count + 1, sizeof *list, "the findings");
    for (int i = 0; i < h->site_count; i++) list[i] = value;
    return list;
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

/* By site: how often it waited one step after its previous wait. The caller frees it. */
static int *steps_of(const history *h, bool (*waits)(const history *h, const act *a))
{
    pace p = {.passed_at = by_site(h, -1), .steps = by_site(h, 0), .worked = -1, .repeat = -1};
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->site >= 0 && waits(h, a)) pace_wait(&p, a, i);
        else if (is_work(a)) pace_work(&p, a, i);
    }
    map_free(&p.ran_at);
    free(p.passed_at);
    return p.steps;
}

enum { SCALAR_BYTES = 64 }; /* at most: a loss, a count */

/* A copy to the host that Ferry makes as part of another call. */
static bool is_hidden(const act *a)
{
    return a->why == FY_WORD_item || a->why == FY_WORD_print || a->why == FY_WORD_save || a->why == FY_WORD_size;
}

/* fy_item(x), or fy_item(fy_cpu(x)): a few values copied to the host and read there. */
static bool is_look(const history *h, const act *a)
{
    if (a->kind != FY_KIND_copy || a->dir != FY_WORD_d2h) return false;
    if (is_hidden(a)) return true;
    if (a->why != FY_WORD_user || a->was_async || a->bytes > SCALAR_BYTES || a->dst.storage < 0) return false;
    const storage *to = &h->storages[a->dst.storage];
    return to->touches == 2 && to->first_touch == act_index(h, a) && h->acts[to->last_touch].kind == FY_KIND_host_read;
}

static void say_size(finding *x)
{
    say_what(x,
             "the size of a result depends on values on the card (fy_nonzero, or a mask): in every step the count is "
             "copied to the host, which waits until all earlier work is done and queues nothing new meanwhile.");
    say_fix(x, "keep the size, and put 0 where the mask is false: fy_where(mask, x, 0), or x times the mask; "
               "or select only every N steps, or after the loop");
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
                           : a->why == FY_WORD_user ? "copying to the host and reading"
                                                    : "fy_item on";
        say_what(x,
                 "%s a value on the card in every step makes the host wait until all earlier work is done; it queues "
                 "nothing new meanwhile.",
                 does);
        say_fix(x, "keep the values on the card (add them up there), and read them every N steps or after the loop");
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
        say_what(x, "in every step the host waits for all streams of the card.");
        say_fix(x,
                "remove it: blocking copies to the host wait on their own, and work in one stream runs in order. For a "
                "single result, wait for its event; to measure time, wait once before and once after the loop");
    }
    free(steps);
}

/* ---- overlap ---- */

static bool are_independent(const history *h, const act *copy, const act *op)
{
    if (copy->dir == FY_WORD_h2d) return copy->dst.storage >= 0 && !act_touches(h, op, copy->dst.storage);
    return copy->src.storage >= 0 && !act_wrote(h, op, copy->src.storage);
}

static bool is_bus_copy(const act *a)
{
    return a->kind == FY_KIND_copy && a->why == FY_WORD_user && (a->dir == FY_WORD_h2d || a->dir == FY_WORD_d2h);
}

/* ns by which these two, issued in this order, could have overlapped but did not. */
static int64_t missed_ns(const history *h, const act *a, const act *b)
{
    const act *copy = is_bus_copy(a) ? a : b, *op = copy == a ? b : a;
    if (!is_bus_copy(copy) || op->kind != FY_KIND_op || !a->completed || !b->completed) return 0;
    if (!are_independent(h, copy, op) || b->start < a->end) return 0;
    if (copy->was_async && copy->stream != op->stream)
        return 0; /* the program uses two streams already: something orders them */
    int64_t one = a->end - a->start, other = b->end - b->start;
    return one < other ? one : other;
}

static void missed_overlap(findings *f, const history *h, int i, const act *copy, const act *op, int64_t ns)
{
    char line[96];
    finding *x = found(f, h, copy->site, i, ns, copy->bytes);
    if (!x || x->times > 1) return;
    say_what(x, "the copy of %s and %.40s at %s are independent, but ran one after the other%s.",
             name_of(h, copy->src.tensor), op->name >= 0 ? h->names[op->name] : "the work",
             line_of(h, op->site, copy->site, line),
             copy->stream == op->stream ? ", in one stream" : ": the copy blocked the host");
    say_fix(x, "%s%s",
            copy->was_async ? ""
            : copy->async   ? "use page-locked host memory, without which .non_blocking has no effect; "
                            : "make the copy .non_blocking, with page-locked host memory; ",
            copy->stream == op->stream ? "put it into a stream of its own, and let what needs it wait for an event"
                                       : "then the two streams overlap");
}

/* An explicit wait, of the host or of a stream, shows that the order is intended. */
static bool is_explicit_wait(const act *a)
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
        if (is_explicit_wait(b) && b->device >= 0) last[b->device] = -1;
        if (!act_on_card(b)) continue;
        const act *a = last[b->device] >= 0 ? &h->acts[last[b->device]] : NULL;
        int64_t ns = a && a->thread == b->thread ? missed_ns(h, a, b) : 0;
        const act *copy = a && is_bus_copy(a) ? a : b;
        bool once = set_up && set_up[act_index(h, copy)];
        if (ns >= MIN_OVERLAP && !once) missed_overlap(f, h, i, copy, copy == a ? b : a, ns);
        last[b->device] = i;
    }
    free(set_up);
}
