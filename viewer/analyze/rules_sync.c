/* rules_sync.c: rules about idle time: of the host, blocked in every step of a loop, or of a card's engine, though
 * there was independent work. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>

#include "memory.h"

enum {
    STEPS = 3,
    MIN_OVERLAP = 10000, /* ns; an event and a second stream cost less */
    FAR = 1000           /* acts; what lies further from a copy is not searched for work to overlap with */
};

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
    int *last = id_map_at(&c->ran_at, ((uint64_t)(a->name + 2) << 32) + (uint64_t)a->site);
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
    id_map_free(&c.ran_at);
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

/* Does op read what the copy brings, or write what it takes? */
static bool depends_on(const history *h, const act *op, const act *copy)
{
    int dst = copy->dst.storage, src = copy->src.storage;
    if (copy->dir == FY_WORD_h2d) return dst < 0 || act_touches(h, op, dst);
    return src < 0 || act_wrote(h, op, src);
}

/* An explicit wait, or another copy: the order is intended, or the bus was busy. */
static bool ends_search(const act *a, const act *copy)
{
    if (a->device != copy->device) return false;
    if (a->kind == FY_KIND_copy) return a->dir != FY_WORD_d2d;
    return a->kind == FY_KIND_event_wait || (a->kind == FY_KIND_sync && a->why == FY_WORD_user);
}

/* ns by which the copy, act i, could have overlapped ops queued before it (step -1) or after it (1), but did not; at
 * most as long as the copy itself. made: the act that wrote its source; *longest: the op with the largest share. */
static int64_t missed_ns(const history *h, int i, int step, int made, const act **longest)
{
    const act *copy = &h->acts[i];
    int64_t room = copy->end - copy->start, ns = 0, most = 0, called = copy->t - copy->held;
    for (int k = i + step, n = 0; k >= 0 && k < h->act_count && n < FAR && ns < room; k += step, n++) {
        const act *op = &h->acts[k];
        if (ends_search(op, copy)) break;
        if (op->kind != FY_KIND_op || op->device != copy->device || op->thread != copy->thread) continue;
        if (!op->completed || depends_on(h, op, copy)) break;
        bool together = step < 0 ? op->end > copy->start : op->start < copy->end;
        if (together || (copy->was_async && copy->stream != op->stream))
            continue; /* two streams already: something orders them */
        int64_t from = k < made && op->start < called ? called : op->start; /* the copy could not be called earlier */
        if (op->end <= from) continue;
        if (op->end - from > most) *longest = op, most = op->end - from;
        ns += op->end - from;
    }
    return ns < room ? ns : room;
}

/* Short ops, such as those that fill what the program makes first, have to add up to more than one long op. */
static bool pays(int64_t ns, const act *longest)
{
    return ns >= 2 * MIN_OVERLAP || (ns >= MIN_OVERLAP && longest->end - longest->start >= MIN_OVERLAP);
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
    bool before = op->seq < copy->seq;
    say_what(x, "the copy of %s and the %.40s queued %s it (%s) are independent, but ran one after the other%s.",
             name_of(h, copy->src.tensor), op->name >= 0 ? h->names[op->name] : "work", before ? "before" : "after",
             line_of(h, op->site, copy->site, line),
             copy->stream == op->stream ? ", in one stream" : ": the copy blocked the host");
    const char *memory = copy->was_async ? ""
                         : copy->async   ? "use page-locked host memory, without which .non_blocking has no effect; "
                                         : "make the copy .non_blocking, with host memory that is page-locked once; ";
    if (copy->stream != op->stream) say_fix(x, "%sthen the two streams overlap", memory);
    else
        say_fix(x,
                "%sput it into a stream of its own, and let the work that needs it wait for that stream "
                "(fy_stream_wait_stream)%s",
                memory,
                made_its_destination(h, copy) && copy->dir == FY_WORD_h2d
                    ? ", and say who else uses the result (fy_record_stream)"
                    : "");
}

void rule_missed_overlap(findings *f, const history *h)
{
    bool *set_up = set_up_copies(h);
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *copy = &h->acts[i], *op = NULL;
        int made = is_bus_copy(copy) && copy->src.storage >= 0 ? written_by[copy->src.storage] : -1;
        written_now(h, i, written_by);
        if (!is_bus_copy(copy) || !copy->completed || set_up[i]) continue;
        int64_t ns = missed_ns(h, i, -1, made, &op);
        if (!pays(ns, op)) ns = missed_ns(h, i, 1, made, &op);
        if (pays(ns, op)) missed_overlap(f, h, i, copy, op, ns);
    }
    free(written_by);
    free(set_up);
}
