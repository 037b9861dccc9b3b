/* rules_placement.c: rules about where data is created, converted or page-locked: on the host though only the card uses
 * it, on the wrong side of a copy, for a single copy. They look at storages that are written once and read once. */
#include "event.h"
#include "findings_history.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "memory.h"
#include "record_fields.h"

/* The act that wrote the source of copy i, if these two are the only accesses to it; -1. */
static int sole_maker(const history *h, int i)
{
    const act *c = &h->acts[i];
    int from = c->kind == FY_KIND_copy ? c->src.storage : -1;
    if (from < 0 || h->storages[from].opened >= 0 || h->storages[from].answered) return -1;
    const storage *s = &h->storages[from];
    bool once = s->touches == 2 && s->last_touch == i && act_wrote(h, &h->acts[s->first_touch], from);
    return once ? s->first_touch : -1;
}

/* ---- converted on the wrong side ---- */

/* Element sizes before and after a cast that is not in place; false: not such a cast. */
static bool cast_sizes(const history *h, const act *a, int64_t *before, int64_t *after)
{
    if (!is_op(h, a, "cast") || a->nin != 1 || a->nout != 1) return false;
    int in = h->uses[a->first_use].tensor, out = h->uses[a->first_use + 1].tensor;
    *before = in >= 0 ? dtype_size(h->tensors[in].dtype) : 0;
    *after = out >= 0 ? dtype_size(h->tensors[out].dtype) : 0;
    return *before && *after;
}

/* The dtype that a cast makes, as a program names it: "FY_UINT8". */
static const char *dtype_made(const history *h, const act *cast, char out[24])
{
    int n = snprintf(out, 24, "FY_%s", fy_word_name(h->tensors[h->uses[cast->first_use + 1].tensor].dtype));
    for (int i = 0; i < n && i < 23; i++) out[i] = (char)toupper((unsigned char)out[i]);
    return out;
}

/* Copy i was followed by the cast (narrows), or came after it, and should have been the other way round. */
static void too_wide(findings *f, const history *h, int i, const act *cast, bool narrows, int64_t fewer)
{
    const act *c = &h->acts[i];
    int site = narrows ? cast->site : c->site;
    int64_t work = c->completed ? c->end - c->start - (c->overhead < c->end - c->start ? c->overhead : 0) : 0;
    finding *x = found(f, h, site, i, c->bytes ? (int64_t)((double)work * (double)fewer / (double)c->bytes) : 0, fewer);
    if (!x || x->times > 1) return;
    say_what(x, "%lld bytes were copied where %lld suffice: the dtype was converted on the wrong side of the copy.",
             (long long)c->bytes, (long long)(c->bytes - fewer));
    char dtype[24];
    const char *to = c->dir == FY_WORD_h2d ? "cuda" : "cpu";
    dtype_made(h, cast, dtype);
    if (narrows) say_fix(x, "convert first, then copy: fy_to(fy_to(x, %s), \"%s\")", dtype, to);
    else say_fix(x, "copy first, then convert: fy_to(fy_to(x, \"%s\"), %s)", to, dtype);
}

static void check_conversion(findings *f, const history *h, int i)
{
    const act *c = &h->acts[i];
    int64_t before, after;
    int maker = sole_maker(h, i), to = c->dst.storage;
    if (maker >= 0 && cast_sizes(h, &h->acts[maker], &before, &after) && before < after)
        too_wide(f, h, i, &h->acts[maker], false, c->bytes - c->bytes / after * before);
    if (to < 0 || h->storages[to].touches != 2 || h->storages[to].first_touch != i || h->storages[to].opened >= 0)
        return;
    const act *next = &h->acts[h->storages[to].last_touch];
    if (cast_sizes(h, next, &before, &after) && before > after && h->storages[to].last_read > i)
        too_wide(f, h, i, next, true, c->bytes - c->bytes / before * after);
}

void rule_converts_late(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        uint8_t dir = h->acts[i].kind == FY_KIND_copy ? h->acts[i].dir : 0;
        if (dir == FY_WORD_h2d || dir == FY_WORD_d2h) check_conversion(f, h, i);
    }
}

/* ---- created on the host, then copied ---- */

/* Does its value depend on no other tensor? Unary ops are followed: 0.1 * randn counts, too. */
static bool is_created_fresh(const history *h, int maker)
{
    for (int steps = 0; maker >= 0 && steps < 8; steps++) {
        const act *a = &h->acts[maker];
        int list[ACT_STORAGES];
        if (a->kind != FY_KIND_op || a->device != 0 || a->nin > 1) return false;
        if (a->nin == 0) return true;
        const storage *s = act_reads(h, a, list) == 1 ? &h->storages[list[0]] : NULL;
        if (!s || s->touches != 2 || s->last_touch != maker || s->opened >= 0 || s->answered) return false;
        maker = s->first_touch;
    }
    return false;
}

/* The calls that make it run on the card that it is copied to. */
static void try_there(finding *x, const history *h, int maker, const act *copy)
{
    static const char change[] = "created on the card";
    int list[ACT_STORAGES];
    could_try(x, change, copy, REPLAY_LEAVE_OUT, 0);
    for (int steps = 0; maker >= 0 && steps < 8; steps++) {
        could_try(x, change, &h->acts[maker], REPLAY_ON_CARD, copy->dst.device);
        maker = act_reads(h, &h->acts[maker], list) == 1 ? h->storages[list[0]].first_touch : -1;
    }
}

void rule_created_then_moved(findings *f, const history *h)
{
    bool *set_up = set_up_copies(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        int maker = c->kind == FY_KIND_copy && c->dir == FY_WORD_h2d && c->why == FY_WORD_user ? sole_maker(h, i) : -1;
        const act *made = maker >= 0 ? &h->acts[maker] : NULL;
        if (!made || h->storages[c->src.storage].before || !is_created_fresh(h, maker)) continue;
        if (set_up && set_up[i]) continue;
        char line[96], card[16];
        finding *x = found(f, h, c->site, i, act_ns(h, c), c->bytes);
        if (x) try_there(x, h, maker, c);
        if (!x || x->times > 1) continue;
        device_name(h, c->dst.device, card);
        say_what(x,
                 "%s was created on the CPU at %s and used only to be copied to %s, although its values depend on no "
                 "other tensor.",
                 name_of(h, c->src.tensor), line_of(h, made->site, c->site, line), card);
        say_fix(x, "create it where it is used: .device = \"%s\" in the call that creates it", card);
    }
    free(set_up);
}

/* ---- page-locked memory ---- */

/* Does it fill page-locked memory from pageable memory? */
static bool pins(const history *h, const act *a)
{
    int to[ACT_STORAGES], from[ACT_STORAGES];
    if (act_writes(h, a, to) != 1 || h->storages[to[0]].mem != FY_WORD_pinned || act_reads(h, a, from) != 1)
        return false;
    return a->kind != FY_KIND_host_write && h->storages[from[0]].mem == FY_WORD_pageable;
}

/* The page-locked storages of one line, in order. idle: how often one was no longer in use two allocations later, so
 * that two alternating buffers would have sufficed. */
typedef struct pinned_line {
    int count, idle, last[2];
    int64_t bytes;
} pinned_line;

static pinned_line *pinned_lines(const history *h)
{
    pinned_line *lines = memory_zeroed((size_t)h->site_count + 1, sizeof *lines, "the findings");
    for (int i = 0; i < h->storage_count; i++) {
        const storage *s = &h->storages[i];
        if (s->mem != FY_WORD_pinned || s->site < 0) continue;
        pinned_line *l = &lines[s->site];
        if (l->count >= 2 && h->storages[l->last[l->count % 2]].last_touch < s->born) l->idle++;
        l->last[l->count++ % 2] = i;
        l->bytes += s->bytes;
    }
    return lines;
}

void rule_pin_once(findings *f, const history *h)
{
    pinned_line *lines = pinned_lines(h);
    for (int i = 0; i < h->act_count; i++) {
        int maker = h->acts[i].kind == FY_KIND_copy && h->acts[i].dir == FY_WORD_h2d ? sole_maker(h, i) : -1;
        const act *pin = maker >= 0 ? &h->acts[maker] : NULL;
        if (!pin || !pins(h, pin) || pin->site < 0 || lines[pin->site].idle || h->sites[pin->site].loads) continue;

        int64_t ns = act_ns(h, pin);
        for (int k = maker - 1; k >= 0 && maker - k < 8 && h->acts[k].site == pin->site;
             k--) /* the time of page-locking */
            if (h->acts[k].kind == FY_KIND_segment && h->acts[k].type == FY_WORD_pinned) ns += h->acts[k].held;
        char line[96];
        finding *x = found(f, h, pin->site, maker, ns, h->acts[i].bytes);
        if (!x || x->times > 1) continue;
        say_what(
            x,
            "%s was copied into page-locked memory for a single copy to the card, at %s, and nothing was gained: "
            "page-locking takes time, and a copy to the card from pageable memory makes the same host copy anyway.",
            name_of(h, h->acts[i].src.tensor), line_of(h, h->acts[i].site, pin->site, line));
        say_fix(x, "copy to the card without pinning; or create the tensor page-locked "
                   "(.pin_memory = true) and refill it for every copy");
    }
    free(lines);
}

void rule_pinned_each_time(findings *f, const history *h)
{
    pinned_line *lines = pinned_lines(h);
    int64_t *ns =
        memory_zeroed((size_t)h->site_count + 1, sizeof *ns, "the findings"); /* by site: page-locking, filling */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->site < 0) continue;
        if (a->kind == FY_KIND_segment && a->type == FY_WORD_pinned) ns[a->site] += a->held;
        else if (pins(h, a)) ns[a->site] += act_ns(h, a);
    }

    for (int i = 0; i < h->site_count; i++) {
        if (!lines[i].idle || h->sites[i].loads) continue; /* a loader pins while the loop computes */
        finding *x = found(f, h, i, h->storages[lines[i].last[0]].born, ns[i], lines[i].bytes);
        if (!x) continue;
        x->times = lines[i].count;
        say_what(x,
                 "this line allocated page-locked memory %d times, although earlier allocations were no longer in use.",
                 lines[i].count);
        say_fix(x, "allocate one or two page-locked buffers before the loop and fill them in turn with fy_copy_");
    }
    free(lines);
    free(ns);
}
