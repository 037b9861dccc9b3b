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

bool made_its_destination(const history *h, const act *c)
{
    const storage *to = c->dst.storage >= 0 ? &h->storages[c->dst.storage] : NULL;
    return to && to->first_touch == act_index(h, c) && h->acts[to->born].site == c->site;
}

bool made_before_move(const history *h, const act *c)
{
    int *moved = module_moves(h);
    bool before = false;
    for (int x = 0; x < h->tensor_count && !before; x++) {
        const act *move = moved[x] >= 0 ? &h->acts[moved[x]] : NULL;
        bool there = move && move->kind == FY_KIND_copy && move->dst.device == c->dst.device && move->seq < c->seq;
        before = there && moved[x] > h->tensors[c->src.tensor].made;
    }
    free(moved);
    return before;
}

static void sent_again(findings *f, const history *h, int i, int k)
{
    const act *c = &h->acts[i], *before = &h->acts[k];
    char card[16], line[96];
    finding *x = found(f, h, c->site, i, act_ns(h, c), c->bytes);
    explained(f, i);
    could_try(x, "without the repeated copies", c, REPLAY_LEAVE_OUT, 0);
    if (!x || x->times > 1) return;
    device_name(h, c->dst.device, card);
    line_of(h, before->site, c->site, line);
    say_what(x, "%s was already copied to %s at %s, and has not changed since.", name_of(h, c->src.tensor), card, line);
    if (c->src.tensor >= 0 && made_before_move(h, c)) {
        say_fix(
            x, "if it belongs to a module, register it: fy_buffer(net, \"name\", x); fy_module_to moves it then, once. "
               "Otherwise make the copy once, before the loop");
        return;
    }
    say_fix(x, "%s%s",
            made_its_destination(h, c) ? "keep the tensor that the first copy returned and use it again"
                                       : "remove this copy: the destination already has these values",
            before->site == c->site ? "; make the copy once, before the loop" : "");
}

/* By act: bytes that were sent to its copy's card from its source so far. To keep what copy k brought until copy i
 * would send it again takes room for all that was sent between them, too. The caller frees it. */
static int64_t *sent_so_far(const history *h)
{
    int64_t *so_far = memory_zeroed((size_t)h->act_count + 1, sizeof *so_far, "the findings");
    id_map last = {0};
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        if (!is_cross(c, FY_WORD_h2d) || c->src.storage < 0 || c->dst.device <= 0) continue;
        int *at = id_map_at(&last, id_map_mix(64 * (uint64_t)c->src.storage + (uint64_t)c->dst.device) | 1);
        so_far[i] = (*at >= 0 ? so_far[*at] : 0) + c->bytes;
        *at = i;
    }
    id_map_free(&last);
    return so_far;
}

void rule_sent_again(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    int64_t *so_far = sent_so_far(h);
    id_map sent = {0};
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        if (is_cross(c, FY_WORD_h2d) && c->src.storage >= 0 && c->dst.device > 0) {
            uint64_t layout = c->src.tensor >= 0 ? h->tensors[c->src.tensor].layout : 0;
            uint64_t key = layout + 64 * (uint64_t)c->src.storage + (uint64_t)c->dst.device;
            int *last = id_map_at(&sent, id_map_mix(key) | 1), k = *last;
            const act *before = k >= 0 ? &h->acts[k] : NULL;
            bool unchanged = before && before->src.storage == c->src.storage && is_asked_for(c) && !c->cast &&
                             is_unchanged_since(h, c->src.storage, k, written_by, i);
            bool still_there =
                unchanged && before->dst.storage >= 0 && written_by[before->dst.storage] == k && !before->cast;
            if (still_there && had_room(h, c->dst.device, so_far[i] - so_far[k])) sent_again(f, h, i, k);
            if (c->dst.storage >= 0) *last = i;
        }
        written_now(h, i, written_by);
    }
    id_map_free(&sent);
    free(so_far);
    free(written_by);
}

/* ---- there and back ---- */

void rule_round_trip(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *back = &h->acts[i];
        int k = is_cross(back, FY_WORD_h2d) && !is_explained(f, i) ? brought_by(h, back, written_by, FY_WORD_d2h) : -1;
        const act *away = k >= 0 ? &h->acts[k] : NULL;
        bool needless = away && away->src.device == back->dst.device &&
                        is_unchanged_since(h, away->src.storage, k, written_by, i) &&
                        had_room(h, back->dst.device, back->bytes);
        written_now(h, i, written_by);
        if (!needless) continue;

        char line[96], card[16];
        finding *x = found(f, h, back->site, i, act_ns(h, away) + act_ns(h, back), away->bytes + back->bytes);
        explained(f, i);
        could_try(x, "without the copies there and back", away, REPLAY_LEAVE_OUT, 0);
        could_try(x, "without the copies there and back", back, REPLAY_LEAVE_OUT, 0);
        if (!x || x->times > 1) continue;
        device_name(h, back->dst.device, card);
        if (away->why == FY_WORD_grad && back->why == FY_WORD_grad) {
            say_what(x,
                     "a gradient leaves %s and comes back unchanged, since the backward pass goes back through copies "
                     "that the program made before.",
                     card);
            say_fix(x,
                    "leave out the two copies (fy_to, fy_cpu, fy_cuda) between the parameters and the loss: what is "
                    "computed on %s from end to end has its gradients there",
                    card);
            continue;
        }
        say_what(x, "%s was copied from %s at %s and is copied back unchanged: both copies are unnecessary.",
                 name_of(h, back->src.tensor), card, line_of(h, away->site, back->site, line));
        say_fix(x, "continue with the tensor on %s, and copy to the host only what it needs, once, at the end", card);
    }
    free(written_by);
}

void rule_there_and_back(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *back = &h->acts[i];
        int k = is_cross(back, FY_WORD_d2h) && is_asked_for(back) ? brought_by(h, back, written_by, FY_WORD_h2d) : -1;
        const act *there = k >= 0 ? &h->acts[k] : NULL;
        const storage *origin = there ? &h->storages[there->src.storage] : NULL;
        bool needless = origin && (origin->freed < 0 || origin->freed > i) &&
                        is_unchanged_since(h, there->src.storage, k, written_by, i);
        written_now(h, i, written_by);
        if (!needless) continue;

        char line[96];
        finding *x = found(f, h, back->site, i, act_ns(h, back), back->bytes);
        explained(f, i);
        could_try(x, "without the copy back", back, REPLAY_LEAVE_OUT, 0);
        if (!x || x->times > 1) continue;
        say_what(x,
                 "%s was copied to the card at %s, did not change there, and is copied back: the host already has it.",
                 name_of(h, there->src.tensor), line_of(h, there->site, back->site, line));
        say_fix(x, "read the original on the host; copy back only what the card computed");
    }
    free(written_by);
}

/* ---- from card to card ---- */

void rule_through_host(findings *f, const history *h)
{
    int *written_by = by_storage(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *back = &h->acts[i];
        int k = is_cross(back, FY_WORD_h2d) ? brought_by(h, back, written_by, FY_WORD_d2h) : -1;
        const act *away = k >= 0 ? &h->acts[k] : NULL;
        written_now(h, i, written_by);
        if (!away || away->src.device <= 0 || away->src.device == back->dst.device) continue;
        if (h->storages[back->src.storage].touches > 2) continue; /* the host used it, too */

        char line[96], from[16], to[16];
        finding *x = found(f, h, back->site, i, act_ns(h, away) + act_ns(h, back), away->bytes + back->bytes);
        explained(f, i);
        if (!x || x->times > 1) continue;
        device_name(h, away->src.device, from);
        device_name(h, back->dst.device, to);
        say_what(x, "%s was copied from %s to the host at %s and from there to %s: twice over the bus.",
                 name_of(h, back->src.tensor), from, line_of(h, away->site, back->site, line), to);
        say_fix(x, "copy from card to card in one call: fy_to(x, \"%s\")", to);
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
        could_try(x, "with cards that reach each other's memory", c, REPLAY_PEER, 0);
        if (!x || x->times > 1) continue;
        device_name(h, c->src.device, from);
        device_name(h, c->dst.device, to);
        say_what(
            x, "%s and %s cannot reach each other's memory: the copy of %s went through the host, twice over the bus.",
            from, to, name_of(h, c->src.tensor));
        say_fix(
            x,
            "keep tensors that are used together on one card; between these two cards, copy results instead of inputs");
    }
}

/* ---- copies that are never read ---- */

static bool is_unused(const history *h, const act *c, const bool *wanted)
{
    int to = c->dst.storage;
    if (c->kind != FY_KIND_copy || !is_asked_for(c) || to < 0 || wanted[to]) return false;
    const storage *s = &h->storages[to];
    return (c->dir == FY_WORD_h2d || c->dir == FY_WORD_d2h || c->dir == FY_WORD_p2p) && s->opened < 0 && !s->answered &&
           ((h->ended && h->status == 0) || s->freed >= 0); /* a run that stopped may have been about to read it */
}

bool *unused_copies(const history *h)
{
    bool *wanted = memory_zeroed((size_t)h->storage_count + 1, sizeof *wanted, "the findings"); /* read later */
    bool *unused = memory_zeroed((size_t)h->act_count + 1, sizeof *unused, "the findings");
    for (int i = h->act_count; i-- > 0;) {
        const act *a = &h->acts[i];
        unused[i] = is_unused(h, a, wanted);
        bool copies_in_vain =
            a->kind == FY_KIND_copy && is_asked_for(a) && a->dst.storage >= 0 && !wanted[a->dst.storage];
        int list[ACT_STORAGES];
        for (int n = copies_in_vain ? 0 : act_reads(h, a, list); n-- > 0;) wanted[list[n]] = true;
    }
    free(wanted);
    return unused;
}

void rule_unused_copy(findings *f, const history *h)
{
    bool *unused = unused_copies(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        char to[16];
        finding *x = unused[i] ? found(f, h, c->site, i, act_ns(h, c), c->bytes) : NULL;
        could_try(x, "without the copy that nothing reads", c, REPLAY_LEAVE_OUT, 0);
        if (!x || x->times > 1) continue;
        say_what(x, "the copy of %s to %s was never read.", name_of(h, c->src.tensor),
                 device_name(h, c->dst.device, to));
        if (!made_its_destination(h, c)) say_fix(x, "read the destination, or remove the copy");
        else if (c->dst.tensor >= 0 && h->tensors[c->dst.tensor].name >= 0)
            say_fix(x, "use %s, or remove the copy", name_of(h, c->dst.tensor));
        else
            say_fix(x, "the call returns a new tensor and does not change its argument: use the returned tensor, or "
                       "remove the call");
    }
    free(unused);
}
