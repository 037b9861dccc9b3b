/* rules_copy_cost.c: rules about the overhead of copies: a non_blocking copy that blocks, many small copies, and copies
 * that cost more than the work that they serve. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { SMALL = 64 << 10, MANY = 4 };

void rule_blocking_pageable(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        if (c->kind != FY_KIND_copy || !c->async || c->was_async || c->route != FY_WORD_staged) continue;
        finding *x = found(f, h, c->site, i, c->held, c->bytes);
        could_try(x, "from page-locked memory", c, REPLAY_PIN, 0);
        if (!x || x->times > 1) continue;
        bool up = c->dir == FY_WORD_h2d;
        say_what(x,
                 "the copy of %s is non_blocking, but blocked the host: its host memory is pageable, so the bytes go "
                 "through a staging buffer.",
                 name_of(h, c->src.tensor));
        say_fix(x, up ? "create the source in page-locked memory (.pin_memory = true, and refill it for each copy), "
                        "or remove .non_blocking"
                      : "copy into page-locked memory, and synchronize before reading it; or remove .non_blocking");
    }
}

/* ---- many small copies ---- */

/* Consecutive small copies in one direction, whose sources were all written before the first: one copy could have
 * replaced them. */
typedef struct batch {
    int first, last, count;
    int64_t fixed, moving, bytes; /* ns of call overhead, ns of transfer */
} batch;

static bool is_small_copy(const act *c)
{
    bool user = c->why == FY_WORD_user || c->why == FY_WORD_item;
    return c->kind == FY_KIND_copy && user && (c->dir == FY_WORD_h2d || c->dir == FY_WORD_d2h) && c->bytes < SMALL &&
           c->completed && c->src.storage >= 0;
}

static void end_batch(findings *f, const history *h, batch *r)
{
    const batch done = *r;
    *r = (batch){0};
    if (done.count < MANY || done.fixed <= done.moving) return;
    const act *c = &h->acts[done.first];
    finding *x = found(f, h, c->site, done.first, done.fixed - done.fixed / done.count, done.bytes);
    could_try(x, "as one copy", c, REPLAY_RESIZE, done.bytes);
    for (int i = done.first + 1; i <= done.last; i++) /* between them lie no other copies over the bus */
        if (is_small_copy(&h->acts[i])) could_try(x, "as one copy", &h->acts[i], REPLAY_LEAVE_OUT, 0);
    if (!x || x->times > 1) return;
    say_what(
        x, "%d consecutive copies of %lld bytes in total: starting them took %lld ns, transferring the bytes %lld ns.",
        done.count, (long long)done.bytes, (long long)done.fixed, (long long)done.moving);
    say_fix(x, "combine the tensors into one (fy_cat, fy_stack, or views of one) and copy that once");
}

void rule_many_small(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    bool *set_up = set_up_copies(h);
    batch r = {0};
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i], *last = r.count ? &h->acts[r.last] : NULL;
        bool crosses = c->kind == FY_KIND_copy && c->dir != FY_WORD_h2h && c->dir != FY_WORD_d2d;
        bool fits = crosses && is_small_copy(c) && !is_explained(f, i) && !(set_up && set_up[i]);

        int made = crosses && c->src.storage >= 0 ? written_by[c->src.storage] : -1;
        bool same_queue = last && last->dir == c->dir && last->device == c->device && last->stream == c->stream &&
                          last->thread == c->thread;
        bool other_data = last && (last->src.tensor != c->src.tensor || c->src.tensor < 0);
        bool continues = fits && same_queue && other_data && made < r.first;
        if (crosses && last && !continues) end_batch(f, h, &r);

        if (fits) {
            if (!r.count) r.first = i;
            r.last = i;
            r.count++;
            r.fixed += c->overhead;
            r.moving += c->wire + c->staging;
            r.bytes += c->bytes;
        }
        written_now(h, i, written_by);
    }
    if (r.count) end_batch(f, h, &r);
    free(set_up);
    free(written_by);
}

/* ---- copies that cost more than the work that they serve ---- */

/* A connected component (union-find) of a card's storages, joined by ops and by copies within the card. */
typedef struct island {
    int parent, ops, in, out;
    int first_in, last_out, work; /* the first copy in, the last copy out, the first op on what was copied in; -1 */
    bool mixed, within;           /* another card is involved; it copies within the card */
    int found;                    /* its finding, by index; -1 */
    int64_t copies, bytes, card_ns;
    double host_ns; /* modelled time of the same ops on the host */
} island;

static int root_of(island *all, int i)
{
    while (all[i].parent != i) i = all[i].parent = all[all[i].parent].parent;
    return i;
}

/* Joins the storages on cards that an act accesses; the first of them, or -1. */
static int join_all(const history *h, island *all, const act *a)
{
    int list[2 * ACT_STORAGES], n = act_reads(h, a, list), first = -1;
    n += act_writes(h, a, list + n);
    for (int i = 0; i < n; i++) {
        if (list[i] < 0 || h->storages[list[i]].device <= 0) continue;
        if (first < 0) first = list[i];
        int one = root_of(all, first), other = root_of(all, list[i]);
        if (one < other) all[other].parent = one;
        else all[one].parent = other;
    }
    return first;
}

static void add_to_island(const history *h, island *to, int i)
{
    const act *a = &h->acts[i];
    if (a->kind == FY_KIND_op) {
        bool copied_in = to->first_in >= 0 && act_touches(h, a, h->acts[to->first_in].dst.storage);
        if (to->work < 0 && copied_in) to->work = i; /* not an op on what the card created itself */
        to->ops++;
        to->card_ns += act_ns(h, a);
        double compute = (double)a->flops / h->host.flops, memory = (double)a->bytes / h->host.bandwidth; /* s */
        to->host_ns += (double)h->host.overhead + 1e9 * (compute > memory ? compute : memory);
        return;
    }
    if (a->dir == FY_WORD_h2d && !to->in++) to->first_in = i;
    if (a->dir == FY_WORD_d2h && a->why != FY_WORD_size) { /* the copy of a size is not a result */
        to->out++;
        to->last_out = i;
    }
    if (a->dir == FY_WORD_p2p) to->mixed = true;
    if (a->dir == FY_WORD_d2d) to->within = true;
    to->copies += act_ns(h, a);
    to->bytes += a->bytes;
}

/* "x (line 3) was"; "x (line 3) and 4 more were" */
static const char *copies_text(const history *h, const act *c, int more, int from, char out[160])
{
    char line[96], label[64];
    int n = snprintf(out, 160, "%s (%.60s)", label_of(h, c->src.tensor, c->src.storage, label),
                     line_of(h, c->site, from, line));
    if (more) snprintf(out + n, (size_t)(160 - n), " and %d more were", more);
    else snprintf(out + n, (size_t)(160 - n), " was");
    return out;
}

static void judge_island(findings *f, const history *h, island *l)
{
    if (l->work < 0 || !l->in || !l->out || l->mixed) return;
    int64_t saved = (int64_t)(l->host_ns < 1e15 ? l->host_ns : 1e15) - l->card_ns;
    if (l->copies <= saved) return;
    const act *a = &h->acts[l->work], *in = &h->acts[l->first_in], *out = &h->acts[l->last_out];
    finding *x = found(f, h, a->site, l->work, l->copies - saved, l->bytes);
    if (x) l->found = (int)(x - f->list);
    if (x && l->within)
        say_no_try(x, "some of this work copies within the card, and how long the CPU would take is not modelled");
    if (!x || x->times > 1) return;
    char card[16], sent[160], back[160], others[32] = "", took[32], faster[32];
    if (l->ops > 1) snprintf(others, sizeof others, " and %d more operation%s", l->ops - 1, l->ops > 2 ? "s" : "");
    say_what(x,
             "%s copied to %s for %.40s%s, and %s copied back: the copies took %s, and the card was %s %s than "
             "the modelled CPU.",
             copies_text(h, in, l->in - 1, a->site, sent), device_name(h, a->device, card),
             a->name >= 0 ? h->names[a->name] : "work", others, copies_text(h, out, l->out - 1, a->site, back),
             time_text(l->copies, took), time_text(saved < 0 ? -saved : saved, faster),
             saved < 0 ? "slower" : "faster");
    say_fix(x, "keep small work on the CPU; or do more work on the card with the same data before copying it back");
}

void rule_copies_cost_more(findings *f, const history *h)
{
    if (h->host.flops <= 0 || h->host.bandwidth <= 0) return; /* the host is not modelled: nothing to compare with */
    island *all = memory_zeroed((size_t)h->storage_count + 1, sizeof *all, "the findings");
    bool *set_up = set_up_copies(h);
    for (int i = 0; i < h->storage_count; i++)
        all[i] = (island){.parent = i, .first_in = -1, .last_out = -1, .work = -1, .found = -1};

    for (int i = 0; i < h->act_count; i++)
        if (act_on_card(&h->acts[i])) join_all(h, all, &h->acts[i]);
    for (int i = 0; i < h->act_count; i++) { /* a copy made once for a whole loop is not counted */
        int at = act_on_card(&h->acts[i]) && !(set_up && set_up[i]) ? join_all(h, all, &h->acts[i]) : -1;
        if (at >= 0) add_to_island(h, &all[root_of(all, at)], i);
    }

    for (int i = 0; i < h->storage_count; i++)
        if (all[i].parent == i) judge_island(f, h, &all[i]);
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        int at = act_on_card(a) ? join_all(h, all, a) : -1, x = at >= 0 ? all[root_of(all, at)].found : -1;
        if (x >= 0)
            could_try(&f->list[x], "on the CPU, without these copies", a,
                      a->kind == FY_KIND_op ? REPLAY_ON_HOST : REPLAY_LEAVE_OUT, 0);
    }
    free(set_up);
    free(all);
}
