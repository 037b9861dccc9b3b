/* rules_redundant_copy.c: rules about needless copies: of bytes that were there already, that come back unchanged, or
 * that are never read. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>

#include "memory.h"

static bool is_cross(const act *a, uint8_t dir) { return a->kind == FY_KIND_copy && a->dir == dir; }

/* Called for by the program, not made for a print, an item or a policy. */
static bool is_asked_for(const act *a) { return a->why == FY_WORD_user; }

/* The copy in direction dir whose unchanged result copy c reads; -1: none. */
static int brought_by(const history *h, const act *c, const int *written_by, uint8_t dir)
{
    int from = c->src.storage;
    if (from < 0 || written_by[from] < 0 || is_open(h, from, act_index(h, c))) return -1;
    const act *k = &h->acts[written_by[from]];
    if (!is_cross(k, dir) || k->cast || c->cast || k->src.storage < 0) return -1;
    bool whole = k->dst.tensor == c->src.tensor || k->bytes >= h->storages[from].asked;
    return whole ? written_by[from] : -1;
}

/* Is storage i unchanged since copy k read it? Unknown, thus false, if the program has a raw pointer to it. */
static bool is_unchanged_since(const history *h, int i, int k, const int *written_by, int now)
{
    return i >= 0 && !is_open(h, i, now) && written_by[i] < k;
}

/* ---- sent again: the last copy of each (storage, elements, card) ---- */

static bool is_still_there(const act *k, int k_index, const int *written_by)
{
    int to = k->dst.storage;
    return to >= 0 && written_by[to] == k_index && !k->cast;
}

static uint64_t copy_key(const history *h, const act *c)
{
    uint64_t layout = c->src.tensor >= 0 ? h->tensors[c->src.tensor].layout : 0;
    return map_mix(layout + 64 * (uint64_t)c->src.storage + (uint64_t)c->dst.device) | 1;
}

bool made_its_destination(const history *h, const act *c)
{
    const storage *to = c->dst.storage >= 0 ? &h->storages[c->dst.storage] : NULL;
    return to && to->first_touch == act_index(h, c) && h->acts[to->born].site == c->site;
}

static void sent_again(findings *f, const history *h, int i, int k)
{
    const act *c = &h->acts[i], *before = &h->acts[k];
    char card[16], line[96];
    finding *x = found(f, h, c->site, i, act_ns(h, c), c->bytes);
    explained(f, i);
    if (!x || x->times > 1) return;
    device_name(c->dst.device, card);
    line_of(h, before->site, c->site, line);
    say_what(x, "%s was already copied to %s at %s, and has not changed since.", name_of(h, c->src.tensor), card, line);
    say_fix(x, "%s%s",
            made_its_destination(h, c) ? "keep the tensor that the first copy returned and use it again"
                                       : "remove this copy: the destination already has these values",
            before->site == c->site ? "; make the copy once, before the loop" : "");
}

void rule_sent_again(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    id_map sent = {0};
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        if (is_cross(c, FY_WORD_h2d) && c->src.storage >= 0 && c->dst.device > 0) {
            int *last = map_at(&sent, copy_key(h, c)), k = *last;
            const act *before = k >= 0 ? &h->acts[k] : NULL;
            bool again = before && before->src.storage == c->src.storage && is_asked_for(c) && !c->cast &&
                         is_unchanged_since(h, c->src.storage, k, written_by, i) &&
                         is_still_there(before, k, written_by);
            if (again && had_room(h, c->dst.device, c->bytes)) sent_again(f, h, i, k);
            if (c->dst.storage >= 0) *last = i;
        }
        written_now(h, i, written_by);
    }
    map_free(&sent);
    free(written_by);
}

/* ---- there and back ---- */

static void round_trip(findings *f, const history *h, int i, int k)
{
    const act *back = &h->acts[i], *away = &h->acts[k];
    char line[96], card[16];
    finding *x = found(f, h, back->site, i, act_ns(h, away) + act_ns(h, back), away->bytes + back->bytes);
    explained(f, i);
    if (!x || x->times > 1) return;
    device_name(back->dst.device, card);
    say_what(x, "%s was copied from %s at %s and is copied back unchanged: both copies are unnecessary.",
             name_of(h, back->src.tensor), card, line_of(h, away->site, back->site, line));
    say_fix(x, "continue with the tensor on %s, and copy to the host only what it needs, once, at the end", card);
}

void rule_round_trip(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        int k = is_cross(c, FY_WORD_h2d) && !is_explained(f, i) ? brought_by(h, c, written_by, FY_WORD_d2h) : -1;
        if (k >= 0 && h->acts[k].src.device == c->dst.device &&
            is_unchanged_since(h, h->acts[k].src.storage, k, written_by, i) && had_room(h, c->dst.device, c->bytes))
            round_trip(f, h, i, k);
        written_now(h, i, written_by);
    }
    free(written_by);
}

static void there_and_back(findings *f, const history *h, int i, int k)
{
    const act *home = &h->acts[i], *there = &h->acts[k];
    char line[96];
    finding *x = found(f, h, home->site, i, act_ns(h, home), home->bytes);
    explained(f, i);
    if (!x || x->times > 1) return;
    say_what(x, "%s was copied to the card at %s, did not change there, and is copied back: the host already has it.",
             name_of(h, there->src.tensor), line_of(h, there->site, home->site, line));
    say_fix(x, "read the original on the host; copy back only what the card computed");
}

void rule_there_and_back(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        int k = is_cross(c, FY_WORD_d2h) && is_asked_for(c) ? brought_by(h, c, written_by, FY_WORD_h2d) : -1;
        int origin = k >= 0 ? h->acts[k].src.storage : -1;
        bool alive = origin >= 0 && (h->storages[origin].freed < 0 || h->storages[origin].freed > i);
        if (alive && is_unchanged_since(h, origin, k, written_by, i)) there_and_back(f, h, i, k);
        written_now(h, i, written_by);
    }
    free(written_by);
}

/* ---- from card to card ---- */

static void through_host(findings *f, const history *h, int i, int k)
{
    const act *back = &h->acts[i], *away = &h->acts[k];
    char line[96], from[16], to[16];
    finding *x = found(f, h, back->site, i, act_ns(h, away) + act_ns(h, back), away->bytes + back->bytes);
    explained(f, i);
    if (!x || x->times > 1) return;
    device_name(away->src.device, from);
    device_name(back->dst.device, to);
    say_what(x, "%s was copied from %s to the host at %s and from there to %s: twice over the bus.",
             name_of(h, back->src.tensor), from, line_of(h, away->site, back->site, line), to);
    say_fix(x, "copy from card to card in one call: fy_to(x, \"%s\")", to);
}

void rule_through_host(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        int k = is_cross(c, FY_WORD_h2d) ? brought_by(h, c, written_by, FY_WORD_d2h) : -1;
        bool looked_at = k >= 0 && h->storages[c->src.storage].touches > 2; /* the host used it, too */
        if (k >= 0 && !looked_at && h->acts[k].src.device > 0 && h->acts[k].src.device != c->dst.device)
            through_host(f, h, i, k);
        written_now(h, i, written_by);
    }
    free(written_by);
}

void rule_bounced(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        if (!is_cross(c, FY_WORD_p2p) || c->route != FY_WORD_host) continue;
        char from[16], to[16];
        finding *x = found(f, h, c->site, i, act_ns(h, c), 2 * c->bytes);
        if (!x || x->times > 1) continue;
        device_name(c->src.device, from);
        device_name(c->dst.device, to);
        say_what(
            x, "%s and %s cannot reach each other's memory: the copy of %s went through the host, twice over the bus.",
            from, to, name_of(h, c->src.tensor));
        say_fix(x, "keep what meets on one card; between these two, move results and not inputs");
    }
}

/* ---- copies that are never read ---- */

/* In a pass from the last act to the first: marks the storages whose content is read later. */
static void note_wanted(const history *h, const act *a, bool *wanted)
{
    int list[8];
    bool counts = a->kind != FY_KIND_copy || !is_asked_for(a) || a->dst.storage < 0 || wanted[a->dst.storage];
    for (int n = act_reads(h, a, list); counts && n-- > 0;) wanted[list[n]] = true;
}

static bool is_unused(const history *h, const act *c, const bool *wanted)
{
    int to = c->dst.storage;
    if (c->kind != FY_KIND_copy || !is_asked_for(c) || to < 0 || wanted[to]) return false;
    const storage *s = &h->storages[to];
    return (c->dir == FY_WORD_h2d || c->dir == FY_WORD_d2h || c->dir == FY_WORD_p2p) && s->opened < 0 && !s->answered &&
           ((h->ended && h->status == 0) || s->freed >= 0); /* a run that stopped may have been about to read it */
}

static void unused_copy(findings *f, const history *h, int i)
{
    const act *c = &h->acts[i];
    char to[16];
    finding *x = found(f, h, c->site, i, act_ns(h, c), c->bytes);
    if (!x || x->times > 1) return;
    say_what(x, "the copy of %s to %s was never read.", name_of(h, c->src.tensor), device_name(c->dst.device, to));
    say_fix(x, made_its_destination(h, c) ? "the call returns a new tensor and leaves its argument where it was: use "
                                            "the returned tensor, or remove the call"
                                          : "read the destination, or remove the copy");
}

bool *unused_copies(const history *h)
{
    bool *wanted = memory_zeroed((size_t)h->storage_count + 1, sizeof *wanted, "the findings");
    bool *unused = memory_zeroed((size_t)h->act_count + 1, sizeof *unused, "the findings");
    for (int i = h->act_count; i-- > 0;) {
        unused[i] = is_unused(h, &h->acts[i], wanted);
        note_wanted(h, &h->acts[i], wanted);
    }
    free(wanted);
    return unused;
}

void rule_unused_copy(findings *f, const history *h)
{
    bool *unused = unused_copies(h);
    for (int i = 0; i < h->act_count; i++)
        if (unused[i]) unused_copy(f, h, i);
    free(unused);
}
