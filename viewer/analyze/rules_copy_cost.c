/* rules_copy_cost.c: rules about what a copy costs beside what it does: the wait that was not asked for, the fare of
 * many small ones, and copies that cost more than the work they were made for. */
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
        if (!x || x->times > 1) continue;
        bool up = c->dir == FY_WORD_h2d;
        say_what(x,
                 "non_blocking was asked for, and the copy of %s held the host all the same: the memory of the host "
                 "is pageable, so the bytes go through a staging buffer.",
                 name_of(h, c->src.tensor));
        say_fix(
            x, up ? "take the source from page-locked memory (.pin_memory = true where it is made, and fill it again), "
                    "or drop .non_blocking"
                  : "copy into page-locked memory, and wait before reading it; or drop .non_blocking");
    }
}

/* ---- many small ones ---- */

/* A row of small copies that go the same way, with nothing between them that goes another way, and whose contents were
 * all there when the first began: one copy would have carried them. */
typedef struct row {
    int first, last, count;
    int64_t fixed, moving, bytes;
} row;

static bool may_join(const act *c)
{
    bool looked = c->why == FY_WORD_user || c->why == FY_WORD_item;
    return c->kind == FY_KIND_copy && looked && (c->dir == FY_WORD_h2d || c->dir == FY_WORD_d2h) && c->bytes < SMALL &&
           c->completed && c->src.storage >= 0;
}

static bool joins(const history *h, const row *r, const act *c, int made)
{
    const act *a = r->count ? &h->acts[r->last] : NULL;
    bool same_way = a && a->dir == c->dir && a->device == c->device && a->stream == c->stream && a->thread == c->thread;
    return same_way && made < r->first && (a->src.tensor != c->src.tensor || c->src.tensor < 0);
}

static void end_row(findings *f, const history *h, row *r)
{
    const row done = *r;
    *r = (row){0};
    if (done.count < MANY || done.fixed <= done.moving) return;
    const act *c = &h->acts[done.first];
    finding *x = found(f, h, c->site, done.first, done.fixed - done.fixed / done.count, done.bytes);
    if (!x || x->times > 1) return;
    say_what(x, "%d copies in a row of %lld bytes in all: starting them cost %lld ns, moving the bytes %lld ns.",
             done.count, (long long)done.bytes, (long long)done.fixed, (long long)done.moving);
    say_fix(x, "put the pieces into one tensor (fy_cat, fy_stack, or views of one) and copy that once");
}

void rule_many_small(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    bool *set_up = set_up_copies(h);
    row r = {0};
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        bool crosses = c->kind == FY_KIND_copy && c->dir != FY_WORD_h2h && c->dir != FY_WORD_d2d;
        int made = crosses && c->src.storage >= 0 ? written_by[c->src.storage] : -1;
        bool fits = crosses && may_join(c) && !is_explained(f, i) && !(set_up && set_up[i]);
        if (crosses && r.count && (!fits || !joins(h, &r, c, made))) end_row(f, h, &r);
        if (fits) {
            if (!r.count) r.first = i;
            r = (row){r.first,           i, r.count + 1, r.fixed + c->overhead, r.moving + c->wire + c->staging,
                      r.bytes + c->bytes};
        }
        written_now(h, i, written_by);
    }
    if (r.count) end_row(f, h, &r);
    free(set_up);
    free(written_by);
}

/* ---- dearer than what they were made for ---- */

/* Storages of a card that ops and copies within it connect: what came in, what was done, what went home. */
typedef struct island {
    int parent, ops, in, out;
    int brought, home, work; /* the first copy there, the last home, the first op on what was brought; -1 */
    bool mixed;              /* another card has a part in it */
    int64_t copies, bytes, there;
    double here; /* ns that the host would have taken for the same ops */
} island;

static int root_of(island *all, int i)
{
    while (all[i].parent != i) i = all[i].parent = all[all[i].parent].parent;
    return i;
}

static void join(island *all, int a, int b)
{
    a = root_of(all, a), b = root_of(all, b);
    if (a < b) all[b].parent = a;
    else all[a].parent = b;
}

static bool lives_on_card(const history *h, int i) { return i >= 0 && h->storages[i].device > 0; }

/* The storages on cards that an act touches, joined; the first of them, or -1. */
static int join_all(const history *h, island *all, const act *a)
{
    int list[16], n = act_reads(h, a, list), first = -1;
    n += act_writes(h, a, list + n);
    for (int i = 0; i < n; i++) {
        if (!lives_on_card(h, list[i])) continue;
        if (first >= 0) join(all, first, list[i]);
        else first = list[i];
    }
    return first;
}

static double host_ns(const history *h, const act *a)
{
    double counting = (double)a->flops / h->host.flops, moving = (double)a->bytes / h->host.bandwidth;
    return (double)h->host.overhead + 1e9 * (counting > moving ? counting : moving);
}

/* The op that the first copy was made for: not what the card made by itself. */
static bool reads_brought(const history *h, const act *op, const island *l)
{
    return l->brought >= 0 && act_touches(h, op, h->acts[l->brought].dst.storage);
}

static void add_to_island(const history *h, island *to, int i)
{
    const act *a = &h->acts[i];
    if (a->kind == FY_KIND_op) {
        if (to->work < 0 && reads_brought(h, a, to)) to->work = i;
        to->ops++;
        to->there += act_ns(h, a);
        to->here += host_ns(h, a);
        return;
    }
    if (a->dir == FY_WORD_h2d && !to->in++) to->brought = i;
    if (a->dir == FY_WORD_d2h && a->why != FY_WORD_size) to->out++, to->home = i; /* a count is no result */
    if (a->dir == FY_WORD_p2p) to->mixed = true;
    to->copies += act_ns(h, a);
    to->bytes += a->bytes;
}

/* "x (line 3)"; "x (line 3) and 4 more" */
static const char *parcel_text(const history *h, const act *c, int more, int from, char out[160])
{
    char line[96], label[64];
    int n = snprintf(out, 160, "%s (%.60s)", label_of(h, c->src.tensor, c->src.storage, label),
                     line_of(h, c->site, from, line));
    if (more) snprintf(out + n, (size_t)(160 - n), " and %d more", more);
    return out;
}

static void judge_island(findings *f, const history *h, const island *l)
{
    if (l->work < 0 || !l->in || !l->out || l->mixed) return;
    int64_t saved = (int64_t)(l->here < 1e15 ? l->here : 1e15) - l->there;
    if (l->copies <= saved) return;
    const act *a = &h->acts[l->work], *in = &h->acts[l->brought], *out = &h->acts[l->home];
    finding *x = found(f, h, a->site, l->work, l->copies - saved, l->bytes);
    if (!x || x->times > 1) return;
    char card[16], there[160], home[160], others[32] = "", took[32], won[64];
    if (l->ops > 1) snprintf(others, sizeof others, " and %d more operation%s", l->ops - 1, l->ops > 2 ? "s" : "");
    time_text(saved, won);
    say_what(x,
             "%s went to %s for %.40s%s, and %s was copied back: %s of copies, to save %s of the modelled host's time.",
             parcel_text(h, in, l->in - 1, a->site, there), device_name(a->device, card),
             a->name >= 0 ? h->names[a->name] : "work", others, parcel_text(h, out, l->out - 1, a->site, home),
             time_text(l->copies, took), saved > 0 ? won : "none");
    say_fix(x, "leave small work on the CPU; or do more on the card with the same data before it is copied back");
}

/* What is brought once for a whole loop is no turn's price. */
static void sum_islands(const history *h, island *all, const bool *set_up)
{
    for (int i = 0; i < h->act_count; i++)
        if (act_on_card(&h->acts[i])) join_all(h, all, &h->acts[i]);
    for (int i = 0; i < h->act_count; i++) {
        int at = act_on_card(&h->acts[i]) && !(set_up && set_up[i]) ? join_all(h, all, &h->acts[i]) : -1;
        if (at >= 0) add_to_island(h, &all[root_of(all, at)], i);
    }
}

void rule_dearer_than_op(findings *f, const history *h)
{
    if (h->host.flops <= 0 || h->host.bandwidth <= 0) return; /* nobody knows what the host would have taken */
    island *all = memory_zeroed((size_t)h->storage_count + 1, sizeof *all, "the findings");
    bool *set_up = set_up_copies(h);
    for (int i = 0; i < h->storage_count; i++) all[i] = (island){.parent = i, .brought = -1, .home = -1, .work = -1};
    sum_islands(h, all, set_up);
    for (int i = 0; i < h->storage_count; i++)
        if (all[i].parent == i) judge_island(f, h, &all[i]);
    free(set_up);
    free(all);
}
