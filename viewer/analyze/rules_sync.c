/* rules_sync.c: rules about idle time: of the host, blocked in every step of a loop, or of a card's engine, though
 * there was independent work. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>

#include "memory.h"

enum { STEPS = 3, MIN_OVERLAP = 10000 /* ns; an event and a second stream cost less */ };

/* ---- in every step ---- */

static int *by_site(const history *h, int value)
{
    int *list = memory_realloc(NULL, (size_t)h->site_count + 1, sizeof *list, "the findings");
    for (int i = 0; i < h->site_count; i++) list[i] = value;
    return list;
}

/* What ran on the cards. A loop comes back to a line from another one; or it does the same again to the same data.
 * Calls such as fy_backward and fy_step run an op several times themselves. */
typedef struct course {
    id_map ran_at;              /* by site and op name: the act that ran there last; a line may have several ops */
    int worked, switched;       /* the last work; the last work before one of another line */
    int repeated;               /* the latest work that an iteration has done again since */
    bool *updates, in_backward; /* updates: by site, does it change parameters? */
} course;

/* By site: does it write into a leaf, as an optimizer does? The caller frees it. */
static bool *updating_sites(const history *h)
{
    bool *updates = memory_zeroed((size_t)h->site_count + 1, sizeof *updates, "the findings"), *leaf = leaf_storages(h);
    int list[ACT_STORAGES];
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        for (int n = a->kind == FY_KIND_op && a->site >= 0 ? act_writes(h, a, list) : 0; n-- > 0;)
            updates[a->site] |= leaf[list[n]] && h->storages[list[n]].first_touch < i;
    }
    free(leaf);
    return updates;
}

static bool shares_data(const history *h, const act *a, const act *b)
{
    int list[2 * ACT_STORAGES], n = act_reads(h, a, list);
    n += act_writes(h, a, list + n);
    while (n > 0 && !act_touches(h, b, list[n - 1])) n--;
    return n > 0;
}

static bool is_same_again(const history *h, const course *c, int earlier, int i)
{
    const act *a = &h->acts[i];
    if (c->switched >= earlier) return true;
    return !c->in_backward && !c->updates[a->site] && !is_op(h, a, "fill") && shares_data(h, a, &h->acts[earlier]);
}

static void follow_work(const history *h, int i, course *c)
{
    const act *a = &h->acts[i];
    int *last = map_at(&c->ran_at, ((uint64_t)(a->name + 2) << 32) + (uint64_t)a->site);
    if (c->worked >= 0 && h->acts[c->worked].site != a->site) c->switched = c->worked;
    if (*last > c->repeated && is_same_again(h, c, *last, i)) c->repeated = *last;
    *last = c->worked = i;
}

/* By site: how often it waited one step after its previous wait. So a line that logs each hundredth step does not
 * count. The caller frees the list. */
static int *steps_of(const history *h, bool (*waits)(const history *h, const act *a))
{
    course c = {.worked = -1, .switched = -1, .repeated = -1, .updates = updating_sites(h)};
    int *waited_at = by_site(h, -1); /* by site: the act of its last wait */
    int *steps = by_site(h, 0);
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_backward) c.in_backward = a->type == FY_WORD_begin;
        if (a->site < 0) continue;
        if (waits(h, a)) {
            int last = waited_at[a->site];
            if (last >= 0 && c.worked > last && c.repeated <= last) steps[a->site]++;
            waited_at[a->site] = i;
        } else if (act_on_card(a) && (a->kind != FY_KIND_copy || a->why == FY_WORD_user)) {
            follow_work(h, i, &c);
        }
    }
    map_free(&c.ran_at);
    free(c.updates);
    free(waited_at);
    return steps;
}

enum { SCALAR_BYTES = 64 }; /* at most: a loss, a count */

/* A copy to the host that Ferry makes as part of another call. */
static bool is_hidden(const act *a)
{
    return a->why == FY_WORD_item || a->why == FY_WORD_print || a->why == FY_WORD_save || a->why == FY_WORD_size;
}

/* fy_scaler_step reads whether a gradient overflowed: the largest absolute value, which it has computed itself. The
 * program asked for no number, and there is no other way to know. */
static bool is_scaler_check(const history *h, const act *a)
{
    int made = a->why == FY_WORD_item && a->src.storage >= 0 ? h->storages[a->src.storage].first_touch : -1;
    const act *maker = made >= 0 ? &h->acts[made] : NULL, *next = a + 1;
    if (!maker || maker->site != a->site || !(is_op(h, maker, "norm") || is_op(h, maker, "maximum"))) return false;
    while (next < h->acts + h->act_count && (next->kind == FY_KIND_sync || next->thread != a->thread)) next++;
    return next == h->acts + h->act_count || next->kind != FY_KIND_host_read; /* fy_item reports a read */
}

/* fy_item(x), or fy_item(fy_cpu(x)): a few values copied to the host and read there. */
static bool is_look(const history *h, const act *a)
{
    if (a->kind != FY_KIND_copy || a->dir != FY_WORD_d2h) return false;
    if (is_hidden(a)) return !is_scaler_check(h, a);
    if (a->why != FY_WORD_user || a->was_async || a->bytes > SCALAR_BYTES || a->dst.storage < 0) return false;
    const storage *to = &h->storages[a->dst.storage];
    return to->touches == 2 && to->first_touch == act_index(h, a) && h->acts[to->last_touch].kind == FY_KIND_host_read;
}

/* Is a read on the host, act i, part of fy_log_scalar? */
static bool is_logged(const history *h, int i)
{
    int thread = h->acts[i].thread, site = h->acts[i].site;
    for (int steps = 0; steps < 8 && i < h->act_count; i++, steps++)
        if (h->acts[i].kind == FY_KIND_scalar && h->acts[i].thread == thread) return h->acts[i].site == site;
    return false;
}

void rule_hidden_sync(findings *f, const history *h)
{
    int *steps = steps_of(h, is_look), *read_at = by_site(h, -1); /* by site: its last copy */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        bool waited = a->kind == FY_KIND_sync && is_hidden(a);
        if (a->site < 0 || steps[a->site] < STEPS - 1 || !(waited || is_look(h, a))) continue;
        finding *x = found(f, h, a->site, i, a->held, a->bytes);
        if (!x) continue;
        if (waited) x->times -= x->times > 1; /* the wait belongs to the copy before it */
        int *last = &read_at[a->site];
        if (!waited && *last >= 0) could_try(x, "reading the last value only", &h->acts[*last], REPLAY_LEAVE_OUT, 0);
        if (!waited) *last = i;
        if (x->times > 1 || x->what[0]) continue;

        if (a->why == FY_WORD_size) {
            say_what(x, "the size of a result depends on values on the card (fy_nonzero, or a mask): in every step the "
                        "count is copied to the host, which waits until all earlier work is done; until then no new "
                        "work is queued.");
            say_fix(x, "keep the size of the tensor, and put 0 where the mask is false: fy_where(mask, x, 0), or x "
                       "times the mask; "
                       "or select only every N steps, or after the loop");
            continue;
        }
        const char *does = a->why == FY_WORD_print  ? "printing"
                           : is_logged(h, i)        ? "fy_log_scalar of"
                           : a->why == FY_WORD_save ? "saving"
                           : a->why == FY_WORD_user ? "copying to the host and reading"
                                                    : "fy_item on";
        say_what(
            x,
            "%s a value on the card in every iteration makes the host wait until all earlier work is done; until then "
            "no new work is queued.",
            does);
        say_fix(x, "keep the values on the card (add them up there); read them every N iterations or after the loop");
    }
    free(read_at);
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
        could_try(x, "without these waits", a, REPLAY_LEAVE_OUT, 0);
        if (!x || x->times > 1) continue;
        say_what(x, "in every iteration the host waits for all streams of the card.");
        say_fix(x,
                "remove it: blocking copies to the host wait on their own, and work in one stream runs in order. For a "
                "single result, wait for its event; to measure time, wait once before and once after the loop");
    }
    free(steps);
}

/* ---- overlap ---- */

static bool is_bus_copy(const act *a)
{
    return a->kind == FY_KIND_copy && a->why == FY_WORD_user && (a->dir == FY_WORD_h2d || a->dir == FY_WORD_d2h);
}

/* ns by which these two, issued in this order, could have overlapped but did not. */
static int64_t missed_ns(const history *h, const act *a, const act *b)
{
    const act *copy = is_bus_copy(a) ? a : b, *op = copy == a ? b : a;
    if (!is_bus_copy(copy) || op->kind != FY_KIND_op || !a->completed || !b->completed || b->start < a->end) return 0;

    int dst = copy->dst.storage, src = copy->src.storage;
    bool independent =
        copy->dir == FY_WORD_h2d ? dst >= 0 && !act_touches(h, op, dst) : src >= 0 && !act_wrote(h, op, src);
    if (!independent) return 0;
    if (copy->was_async && copy->stream != op->stream)
        return 0; /* the program uses two streams already: something orders them */

    int64_t one = a->end - a->start, other = b->end - b->start;
    return one < other ? one : other;
}

static void missed_overlap(findings *f, const history *h, int i, const act *copy, const act *op, int64_t ns)
{
    char line[96];
    finding *x = found(f, h, copy->site, i, ns, copy->bytes);
    if (!x) return;
    could_try(x, "with these copies in a stream of their own", copy, REPLAY_OVERLAP, 0);
    int ends[] = {copy->src.storage, copy->dst.storage};
    for (int k = 0; k < 2; k++)
        if (ends[k] < 0 || h->storages[ends[k]].opened >= 0)
            say_no_try(x, "the program has a raw pointer to these bytes, so the log does not tell when it needs them");
    if (x->times > 1) return;
    say_what(x, "the copy of %s and %.40s at %s are independent, but ran one after the other%s.",
             name_of(h, copy->src.tensor), op->name >= 0 ? h->names[op->name] : "the work",
             line_of(h, op->site, copy->site, line),
             copy->stream == op->stream ? ", in one stream" : ": the copy blocked the host");
    say_fix(x, "%s%s",
            copy->was_async ? ""
            : copy->async   ? "use page-locked host memory, without which .non_blocking has no effect; "
                            : "make the copy .non_blocking, with page-locked host memory; ",
            copy->stream == op->stream ? "put it into a stream of its own, and let the work that needs it wait for an "
                                         "event (fy_event_record, fy_event_wait)"
                                       : "then the two streams overlap");
}

void rule_missed_overlap(findings *f, const history *h)
{
    int last[MOST_CARDS + 1];
    bool *set_up = set_up_copies(h);
    for (int i = 0; i <= MOST_CARDS; i++) last[i] = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *b = &h->acts[i];
        bool waits = b->kind == FY_KIND_event_wait || (b->kind == FY_KIND_sync && b->why == FY_WORD_user);
        if (waits && b->device >= 0) last[b->device] = -1; /* an explicit wait: the order is intended */
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
