/* rules_correctness.c: rules about possibly wrong results, and about programs that ran out of memory. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>

#include "caching_allocator.h"
#include "memory.h"

static const char *race_text(uint8_t type)
{
    switch (type) {
    case FY_WORD_read_early: return "the host read bytes that queued work may not have written yet";
    case FY_WORD_write_early: return "the host wrote bytes that queued work may still read or write";
    case FY_WORD_reuse: return "memory was reused for a new tensor while another stream could still use the old one";
    default: return "two streams accessed the same bytes and nothing orders the accesses";
    }
}

void rule_data_race(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_data_race) continue;
        finding *x = found(f, h, a->site, i, 0, a->bytes);
        if (!x || x->times > 1) continue;
        char line[96];
        int earlier = act_of_seq(h, a->src.version);
        say_what(x, "%s; the other access is at %s. On a real card the values may differ from run to run.",
                 race_text(a->type), line_of(h, earlier >= 0 ? h->acts[earlier].site : -1, a->site, line));
        say_fix(x, "%s",
                a->name >= 0 ? h->names[a->name]
                             : "order the two accesses: fy_stream_wait_stream, an event, or a synchronize on the host");
    }
}

/* ---- stale reads ---- */

/* leaf: do gradients arrive at what changed? */
static void stale(findings *f, const history *h, int i, int older, int newer, bool leaf)
{
    const act *a = &h->acts[i], *w = &h->acts[newer];
    char line[96], card[16];
    finding *x = found(f, h, a->site, i, 0, h->storages[older].asked);
    if (!x || x->times > 1) return;
    int device = w->kind == FY_KIND_copy ? w->dst.device : w->device < 0 ? 0 : w->device;
    say_what(x, "this reads an outdated copy: the one on %s was changed at %s, and the change was never copied here.",
             device_name(h, device, card), line_of(h, w->site, a->site, line));
    if (leaf && device == 0 && h->storages[older].device > 0)
        say_fix(x, "the original is a leaf: an optimizer trains it on the CPU, and not this copy. Make the leaf on the "
                   "card, before the optimizer");
    else say_fix(x, "copy again after the change, or read the newer copy; ignore this if you want the old values");
}

/* If a copy across the bus, act k, was the last write to `to`: act i's read of `to` is stale if the copy's source has
 * changed since and is never copied again. A buffer that is refilled and copied again, or a snapshot before a final
 * copy, is not stale. */
static void check_copy(findings *f, const history *h, int i, int to, const int *written_by, const bool *leaf)
{
    int k = to >= 0 ? written_by[to] : -1;
    const act *copy = k >= 0 ? &h->acts[k] : NULL;
    if (!copy || copy->kind != FY_KIND_copy || copy->src.storage < 0) return;
    if (copy->dir != FY_WORD_h2d && copy->dir != FY_WORD_d2h) return;

    int from = copy->src.storage, newer = written_by[from];
    const storage *s = &h->storages[from];
    bool alive = s->freed < 0 || s->freed > i;
    if (newer > k && alive && s->last_out < newer && h->ended) stale(f, h, i, to, newer, leaf[from]);
}

/* The host reads the source of a copy that was then changed in place on the card, and nothing read the change. */
static void check_original(findings *f, const history *h, int i, int from, const int *sent_to, const int *written_by)
{
    int to = sent_to[from] >= 0 ? h->acts[sent_to[from]].dst.storage : -1;
    if (to < 0 || written_by[from] > sent_to[from]) return;
    const storage *s = &h->storages[to];
    int newer = written_by[to];
    bool alive = s->freed < 0 || s->freed > i;
    if (newer > sent_to[from] && newer < i && s->last_touch == newer && alive && h->ended && !s->answered &&
        s->last_read < newer + 1 && h->acts[newer].kind == FY_KIND_op && act_reads_too(h, &h->acts[newer], to))
        stale(f, h, i, from, newer, false);
}

void rule_stale_read(findings *f, const history *h)
{
    int *written_by = by_storage(h), *sent_to = by_storage(h), list[ACT_STORAGES];
    bool *leaf = leaf_storages(h);
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        int n = a->kind == FY_KIND_copy && a->why == FY_WORD_user ? 0 : act_reads(h, a, list);
        for (int j = 0; j < n; j++) check_copy(f, h, i, list[j], written_by, leaf);
        bool host = a->kind == FY_KIND_host_read || a->kind == FY_KIND_answer;
        if (host && n) check_original(f, h, i, list[0], sent_to, written_by);
        if (a->kind == FY_KIND_copy && a->dir == FY_WORD_h2d && a->src.storage >= 0) sent_to[a->src.storage] = i;
        written_now(h, i, written_by);
    }
    free(written_by);
    free(sent_to);
    free(leaf);
}

/* ---- out of memory ---- */

void rule_fragmentation(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_oom || !a->bytes) continue;
        int64_t cached = a->reserved > a->in_use ? a->reserved - a->in_use : 0;
        bool holes = cached > 0 && a->free >= a->bytes && a->largest < a->bytes; /* else no segment has a hole */
        if (!holes && cached < a->bytes) continue;
        finding *x = found(f, h, a->site, i, 0, a->bytes);
        explained(f, i);
        if (!x || x->times > 1) continue;

        char asked[32], room[32], largest[32];
        amount_of(a->bytes, asked);
        amount_of(holes ? a->free : cached, room);
        amount_of(a->largest, largest);
        if (a->largest < a->bytes) {
            say_what(x, "%s did not fit although %s were free: the largest free block has %s.", asked, room, largest);
            say_fix(x, "create the large tensors first, free the small ones between them, or reuse one buffer instead "
                       "of making tensors of many different sizes");
        } else {
            say_what(x,
                     "%s did not fit although %s were free: in segments of another stream, or of the other pool "
                     "(tensors up to 1 MiB and larger ones have separate segments).",
                     asked, room);
            say_fix(x, "free the other tensors in those segments: a segment without tensors can be returned to the "
                       "card and used for anything");
        }
    }
}

/* Copied to the host and kept on the card, unused, until the card ran out of memory. */
static void kept_after_home(findings *f, const history *h, int s, int oom)
{
    const storage *kept = &h->storages[s];
    const act *home = kept->last_out >= 0 ? &h->acts[kept->last_out] : NULL;
    bool allocated = kept->born < oom && (kept->freed < 0 || kept->freed > oom);
    bool idle = home && kept->last_touch == kept->last_out && kept->last_out < oom;
    if (!allocated || !idle || home->dir != FY_WORD_d2h || home->why != FY_WORD_user ||
        kept->device != h->acts[oom].device)
        return;
    char line[96], card[16];
    finding *x = found(f, h, home->site, kept->last_out, 0, kept->bytes);
    if (!x || x->times > 1) return;
    say_what(x, "%s was copied back and also kept on %s, which ran out of memory at %s: a copy back frees nothing.",
             name_of(h, home->src.tensor), device_name(h, kept->device, card),
             line_of(h, h->acts[oom].site, home->site, line));
    say_fix(x, "fy_free the tensor on the card after the copy");
}

void rule_kept_after_home(findings *f, const history *h)
{
    bool seen[MOST_CARDS + 1] = {false};
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_oom || a->device < 1 || seen[a->device]) continue;
        seen[a->device] = true; /* the first one is enough: each scans all storages */
        for (int s = 0; s < h->storage_count; s++) kept_after_home(f, h, s, i);
    }
}

/* ---- what fills the card ---- */

typedef struct heap { /* what one line allocated and did not free */
    int64_t bytes;
    int count, site;
} heap;

static int by_bytes(const void *pa, const void *pb)
{
    const heap *a = pa, *b = pb;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : a->site - b->site;
}

/* By site, the most bytes first; allocations without a line have site -1. */
static heap *allocated_at(const history *h, int oom)
{
    heap *list = memory_zeroed((size_t)h->site_count + 1, sizeof *list, "the findings");
    for (int i = 0; i <= h->site_count; i++) list[i].site = i < h->site_count ? i : -1;
    for (int i = 0; i < h->storage_count; i++) {
        const storage *s = &h->storages[i];
        if (s->device != h->acts[oom].device || s->born > oom || (s->freed >= 0 && s->freed < oom)) continue;
        heap *to = &list[s->site >= 0 ? s->site : h->site_count];
        to->bytes += s->bytes;
        to->count++;
    }
    qsort(list, (size_t)h->site_count + 1, sizeof *list, by_bytes);
    return list;
}

/* Even an empty card has no room for the segment that the request needs. */
static void never_fits(const history *h, finding *x, const act *a)
{
    int64_t segment = fy_pool_segment_for(a->bytes), capacity = a->free + a->reserved;
    char asked[32], takes[32], has[32], card[16];
    say_what(x, "%s requested on %s can never fit: it takes a segment of %s, and the card has %s.",
             amount_of(a->bytes, asked), device_name(h, a->device, card), amount_of(segment, takes),
             amount_of(capacity, has));
    say_fix(x,
            "use a smaller tensor or a smaller .dtype, or a larger card (simulated: FERRY_SIM=laptop:capacity=2GiB)");
}

static void out_of_memory(finding *x, const history *h, int i, const heap *list)
{
    const act *a = &h->acts[i];
    char words[320] = "", asked[32], held[32], card[16], line[96];
    size_t n = 0;
    for (int k = 0; k < 3 && k <= h->site_count && list[k].count; k++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%d allocation%s at %.40s (%s)", n ? ", " : "",
                              list[k].count, list[k].count > 1 ? "s" : "", line_of(h, list[k].site, a->site, line),
                              amount_of(list[k].bytes, held));
    say_what(x, "%s requested on %s did not fit. What fills it: %s.", amount_of(a->bytes, asked),
             device_name(h, a->device, card), *words ? words : "unknown");
    say_fix(
        x, "free what is no longer needed (fy_free, or FY_SCOPE around the loop's body), including unnamed results: in "
           "fy_relu(fy_matmul(a, b)) the inner one is a tensor of its own");
}

/* Only the first on each device: later ones have the same cause. */
void rule_out_of_memory(findings *f, const history *h)
{
    bool seen[MOST_CARDS + 1] = {false};
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_oom || a->device < 0 || seen[a->device] || is_explained(f, i)) continue;
        seen[a->device] = true;
        finding *x = found(f, h, a->site, i, 0, a->bytes);
        heap *list = allocated_at(h, i);
        if (!list[0].count && a->device > 0 && fy_pool_segment_for(a->bytes) > a->free + a->reserved)
            never_fits(h, x, a);
        else out_of_memory(x, h, i, list);
        free(list);
    }
}
