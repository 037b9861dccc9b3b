/* findings_price.c: rules about what a copy costs beside what it does: the wait that was not asked for, the fare of
 * many small ones, and copies that cost more than the work they were made for. */
#include "findings_history.h"

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
    row r = {0};
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        bool crosses = c->kind == FY_KIND_copy && c->dir != FY_WORD_h2h && c->dir != FY_WORD_d2d;
        int made = crosses && c->src.storage >= 0 ? written_by[c->src.storage] : -1;
        bool fits = crosses && may_join(c) && !is_explained(f, i);
        if (crosses && r.count && (!fits || !joins(h, &r, c, made))) end_row(f, h, &r);
        if (fits) {
            if (!r.count) r.first = i;
            r = (row){r.first,           i, r.count + 1, r.fixed + c->overhead, r.moving + c->wire + c->staging,
                      r.bytes + c->bytes};
        }
        written_now(h, i, written_by);
    }
    if (r.count) end_row(f, h, &r);
    free(written_by);
}

/* ---- dearer than what they were made for ---- */

/* Storages of a card that ops and copies within it connect: what came in, what was done, what went home. */
typedef struct island {
    int parent, first_op, ops, in, out;
    bool mixed; /* another card has a part in it */
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

static void add_to_island(const history *h, island *to, int i)
{
    const act *a = &h->acts[i];
    if (a->kind == FY_KIND_op) {
        if (!to->ops++) to->first_op = i;
        to->there += act_ns(h, a);
        to->here += host_ns(h, a);
        return;
    }
    if (a->dir == FY_WORD_h2d) to->in++;
    if (a->dir == FY_WORD_d2h) to->out++;
    if (a->dir == FY_WORD_p2p) to->mixed = true;
    to->copies += act_ns(h, a);
    to->bytes += a->bytes;
}

static void judge_island(findings *f, const history *h, const island *l)
{
    if (!l->ops || !l->in || !l->out || l->mixed) return;
    int64_t saved = (int64_t)(l->here < 1e15 ? l->here : 1e15) - l->there;
    if (l->copies <= saved) return;
    const act *a = &h->acts[l->first_op];
    finding *x = found(f, h, a->site, l->first_op, l->copies - saved, l->bytes);
    if (!x || x->times > 1) return;
    const char *name = a->name >= 0 ? h->names[a->name] : "work";
    if (saved > 0)
        say_what(x,
                 "copies of %lld ns brought %.40s%s to the card and its result home, and saved %lld ns of the modelled "
                 "host's time.",
                 (long long)l->copies, name, l->ops > 1 ? " and what belongs to it" : "", (long long)saved);
    else
        say_what(
            x,
            "copies of %lld ns brought %.40s%s to the card and its result home, where the modelled host would have "
            "done it sooner than the card.",
            (long long)l->copies, name, l->ops > 1 ? " and what belongs to it" : "");
    say_fix(x, "leave small work on the CPU; or do more there with the same data before it comes home");
}

static void sum_islands(const history *h, island *all)
{
    for (int i = 0; i < h->act_count; i++)
        if (act_on_card(&h->acts[i])) join_all(h, all, &h->acts[i]);
    for (int i = 0; i < h->act_count; i++) {
        int at = act_on_card(&h->acts[i]) ? join_all(h, all, &h->acts[i]) : -1;
        if (at >= 0) add_to_island(h, &all[root_of(all, at)], i);
    }
}

void rule_dearer_than_op(findings *f, const history *h)
{
    if (h->host.flops <= 0 || h->host.bandwidth <= 0) return; /* nobody knows what the host would have taken */
    island *all = memory_zeroed((size_t)h->storage_count + 1, sizeof *all, "the findings");
    for (int i = 0; i < h->storage_count; i++) all[i].parent = i;
    sum_islands(h, all);
    for (int i = 0; i < h->storage_count; i++)
        if (all[i].parent == i) judge_island(f, h, &all[i]);
    free(all);
}
