/* rules_placement.c: rules about the way by which data came to be where it is: made in the wrong place, converted on the
 * wrong side, page-locked for one trip. All look at a storage that has one purpose: it is written once, read once. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>

#include "memory.h"

/* The act that wrote copy c's source, when those two are all who ever touched it; -1. */
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

/* Bytes of one element before and after, of a cast that is not in place; false for anything else. */
static bool cast_sizes(const history *h, const act *a, int64_t *before, int64_t *after)
{
    if (!is_op(h, a, "cast") || a->nin != 1 || a->nout != 1) return false;
    int in = h->uses[a->first_use].tensor, out = h->uses[a->first_use + 1].tensor;
    *before = in >= 0 ? dtype_size(h->tensors[in].dtype) : 0;
    *after = out >= 0 ? dtype_size(h->tensors[out].dtype) : 0;
    return *before && *after;
}

static void too_wide(findings *f, const history *h, int i, int site, int64_t fewer, const char *fix)
{
    const act *c = &h->acts[i];
    int64_t work = c->completed ? c->end - c->start - (c->overhead < c->end - c->start ? c->overhead : 0) : 0;
    finding *x = found(f, h, site, i, c->bytes ? (int64_t)((double)work * (double)fewer / (double)c->bytes) : 0, fewer);
    if (!x || x->times > 1) return;
    say_what(x, "%lld bytes crossed where %lld would have done: the type was changed on the wrong side of the copy.",
             (long long)c->bytes, (long long)(c->bytes - fewer));
    say_fix(x, "%s", fix);
}

static void look_at_crossing(findings *f, const history *h, int i)
{
    const act *c = &h->acts[i];
    int64_t before, after;
    int maker = sole_maker(h, i), to = c->dst.storage;
    if (maker >= 0 && cast_sizes(h, &h->acts[maker], &before, &after) && before < after)
        too_wide(f, h, i, c->site, c->bytes - c->bytes / after * before,
                 "copy first, then convert: fy_to(fy_to(x, \"cuda\"), FY_FLOAT32)");
    if (to < 0 || h->storages[to].touches != 2 || h->storages[to].first_touch != i || h->storages[to].opened >= 0)
        return;
    const act *next = &h->acts[h->storages[to].last_touch];
    if (cast_sizes(h, next, &before, &after) && before > after && h->storages[to].last_read > i)
        too_wide(f, h, i, next->site, c->bytes - c->bytes / before * after,
                 "convert first, then copy: fy_to(fy_to(x, FY_FLOAT16), \"cuda\")");
}

void rule_converts_late(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        uint8_t dir = h->acts[i].kind == FY_KIND_copy ? h->acts[i].dir : 0;
        if (dir == FY_WORD_h2d || dir == FY_WORD_d2h) look_at_crossing(f, h, i);
    }
}

/* ---- made on the host, then moved ---- */

/* Does nothing but numbers go into it? Also through ops of one operand: 0.1 * randn is made of nothing, too. */
static bool is_from_nothing(const history *h, int maker)
{
    for (int steps = 0; maker >= 0 && steps < 8; steps++) {
        const act *a = &h->acts[maker];
        int list[8];
        if (a->kind != FY_KIND_op || a->device != 0 || a->nin > 1) return false;
        if (a->nin == 0) return true;
        const storage *s = act_reads(h, a, list) == 1 ? &h->storages[list[0]] : NULL;
        if (!s || s->touches != 2 || s->last_touch != maker || s->opened >= 0 || s->answered) return false;
        maker = s->first_touch;
    }
    return false;
}

void rule_created_then_moved(findings *f, const history *h)
{
    bool *set_up = set_up_copies(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        int maker = c->kind == FY_KIND_copy && c->dir == FY_WORD_h2d && c->why == FY_WORD_user ? sole_maker(h, i) : -1;
        const act *made = maker >= 0 ? &h->acts[maker] : NULL;
        if (!made || !is_from_nothing(h, maker) || (set_up && set_up[i])) continue;
        char line[96], card[16];
        finding *x = found(f, h, c->site, i, act_ns(h, c), c->bytes);
        if (!x || x->times > 1) continue;
        device_name(c->dst.device, card);
        say_what(x,
                 "%s was made on the CPU at %s and used only to be copied to %s: its values depend on nothing there.",
                 name_of(h, c->src.tensor), line_of(h, made->site, c->site, line), card);
        say_fix(x, "make it where it is used: .device = \"%s\" in the call that makes it", card);
    }
    free(set_up);
}

/* ---- page-locked memory ---- */

/* Page-locked memory that is filled from pageable memory. */
static bool pins(const history *h, const act *a)
{
    int to[8], from[8];
    if (act_writes(h, a, to) != 1 || h->storages[to[0]].mem != FY_WORD_pinned || act_reads(h, a, from) != 1)
        return false;
    return a->kind != FY_KIND_host_write && h->storages[from[0]].mem == FY_WORD_pageable;
}

/* Page-locked storages of one line, in order: how often was one no longer in use two allocations later? */
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

/* What page-locking took for this copy: a segment that the same call was given just before. */
static int64_t locking_ns(const history *h, int pin)
{
    int64_t ns = 0;
    for (int i = pin; i-- > 0 && pin - i < 8 && h->acts[i].site == h->acts[pin].site;)
        if (h->acts[i].kind == FY_KIND_segment && h->acts[i].type == FY_WORD_pinned) ns += h->acts[i].held;
    return ns;
}

void rule_pin_once(findings *f, const history *h)
{
    pinned_line *lines = pinned_lines(h);
    for (int i = 0; i < h->act_count; i++) {
        int maker = h->acts[i].kind == FY_KIND_copy && h->acts[i].dir == FY_WORD_h2d ? sole_maker(h, i) : -1;
        const act *pin = maker >= 0 ? &h->acts[maker] : NULL;
        if (!pin || !pins(h, pin) || pin->site < 0 || lines[pin->site].idle) continue;
        char line[96];
        int64_t ns = act_ns(h, pin) + locking_ns(h, maker);
        finding *x = found(f, h, pin->site, maker, ns, h->acts[i].bytes);
        if (!x || x->times > 1) continue;
        say_what(x,
                 "%s was copied into page-locked memory for a single trip, at %s: locking takes its time, and the host "
                 "copied the bytes itself, which is what an ordinary copy to the card does anyway.",
                 name_of(h, h->acts[i].src.tensor), line_of(h, h->acts[i].site, pin->site, line));
        say_fix(x, "copy to the card without pinning; or make the tensor page-locked from the start "
                   "(.pin_memory = true) and fill it again for every trip");
    }
    free(lines);
}

/* What the card's driver, and copies into it, took at each line. */
static int64_t *pinning_ns(const history *h)
{
    int64_t *ns = memory_zeroed((size_t)h->site_count + 1, sizeof *ns, "the findings");
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->site < 0) continue;
        if (a->kind == FY_KIND_segment && a->type == FY_WORD_pinned) ns[a->site] += a->held;
        else if (pins(h, a)) ns[a->site] += act_ns(h, a);
    }
    return ns;
}

void rule_pinned_each_time(findings *f, const history *h)
{
    pinned_line *lines = pinned_lines(h);
    int64_t *ns = pinning_ns(h);
    for (int i = 0; i < h->site_count; i++) {
        if (!lines[i].idle) continue;
        finding *x = found(f, h, i, h->storages[lines[i].last[0]].born, ns[i], lines[i].bytes);
        if (!x) continue;
        x->times = lines[i].count;
        say_what(x, "this line took page-locked memory %d times, though the earlier pieces were no longer in use.",
                 lines[i].count);
        say_fix(x, "page-lock one or two buffers before the loop and fill them in turn with fy_copy_");
    }
    free(lines);
    free(ns);
}
