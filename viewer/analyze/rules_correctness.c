/* rules_correctness.c: rules about results that may be wrong, and about programs that ran out of memory. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

static const char *race_words(uint8_t type)
{
    switch (type) {
    case FY_WORD_read_early: return "the host read what queued work had not written yet";
    case FY_WORD_write_early: return "the host wrote what queued work still reads or writes";
    case FY_WORD_reuse: return "memory was given to a new tensor while another stream still used the old one";
    default: return "two streams touched the same bytes and nothing orders them";
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
        say_what(x, "%s; the other access is at %s. The values differ from run to run on a real card.",
                 race_words(a->type), line_of(h, earlier >= 0 ? h->acts[earlier].site : -1, a->site, line));
        say_fix(x, "%s",
                a->name >= 0 ? h->names[a->name]
                             : "order the two: fy_stream_wait_stream, an event, or let the host wait");
    }
}

/* ---- stale reads ---- */

/* The copy that filled a storage, when nobody has written it since; -1. */
static int filled_by(const history *h, int i, const int *written_by)
{
    int k = i >= 0 ? written_by[i] : -1;
    if (k < 0 || h->acts[k].kind != FY_KIND_copy || h->acts[k].src.storage < 0) return -1;
    return h->acts[k].dir == FY_WORD_h2d || h->acts[k].dir == FY_WORD_d2h ? k : -1;
}

static void stale(findings *f, const history *h, int i, int older, int newer)
{
    const act *a = &h->acts[i], *w = &h->acts[newer];
    char line[96], card[16];
    finding *x = found(f, h, a->site, i, 0, h->storages[older].asked);
    if (!x || x->times > 1) return;
    say_what(x, "this reads the older of two copies: the one on %s was changed at %s, and that never came here.",
             device_name(w->kind == FY_KIND_copy ? w->dst.device
                         : w->device < 0         ? 0
                                                 : w->device,
                         card),
             line_of(h, w->site, a->site, line));
    say_fix(x, "copy again after the change, or read the newer one; where the old values are wanted, all is well");
}

/* Copy k made `to` from `from`. Reading `to` is stale when `from` has changed since, and that content is never sent.
 * A buffer that is filled anew and sent again, or a snapshot beside a final copy, is not. */
static void look_at_copy(findings *f, const history *h, int i, int to, const int *written_by)
{
    int k = filled_by(h, to, written_by);
    if (k < 0) return;
    int from = h->acts[k].src.storage, newer = written_by[from];
    const storage *s = &h->storages[from];
    bool alive = s->freed < 0 || s->freed > i;
    if (newer > k && alive && s->last_out < newer && h->ended) stale(f, h, i, to, newer);
}

/* The host looks at what was sent to a card, changed there, and the change was read by nobody. */
static void look_at_original(findings *f, const history *h, int i, int from, const int *sent_to, const int *written_by)
{
    int to = sent_to[from] >= 0 ? h->acts[sent_to[from]].dst.storage : -1;
    if (to < 0 || written_by[from] > sent_to[from]) return;
    const storage *s = &h->storages[to];
    int newer = written_by[to];
    bool alive = s->freed < 0 || s->freed > i;
    if (newer > sent_to[from] && newer < i && s->last_touch == newer && alive && h->ended && !s->answered &&
        s->last_read < newer + 1 && h->acts[newer].kind == FY_KIND_op && act_reads_too(h, &h->acts[newer], to))
        stale(f, h, i, from, newer);
}

void rule_stale_read(findings *f, const history *h)
{
    int *written_by = by_storage(h), *sent_to = by_storage(h), list[8];
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        int n = a->kind == FY_KIND_copy && a->why == FY_WORD_user ? 0 : act_reads(h, a, list);
        for (int j = 0; j < n; j++) look_at_copy(f, h, i, list[j], written_by);
        bool host = a->kind == FY_KIND_host_read || a->kind == FY_KIND_answer;
        if (host && n) look_at_original(f, h, i, list[0], sent_to, written_by);
        if (a->kind == FY_KIND_copy && a->dir == FY_WORD_h2d && a->src.storage >= 0) sent_to[a->src.storage] = i;
        written_now(h, i, written_by);
    }
    free(written_by);
    free(sent_to);
}

/* ---- out of memory ---- */

static void in_pieces(finding *x, const char *asked, const char *room, const char *largest)
{
    say_what(x, "%s did not fit although %s were free: in pieces, the largest of %s.", asked, room, largest);
    say_fix(x, "make the large tensors first, free small ones that lie between them, or reuse one buffer instead of "
               "tensors of ever other sizes");
}

static void of_another_kind(finding *x, const char *asked, const char *room)
{
    say_what(x,
             "%s did not fit although %s were free: in segments of another stream, or for the other kind of tensor "
             "(those up to 1 MiB and those above lie apart).",
             asked, room);
    say_fix(x,
            "free what else lies in those segments: what is wholly unused goes back to the card and can be anything");
}

void rule_fragmentation(findings *f, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_oom || !a->bytes) continue;
        bool holes = a->free >= a->bytes && a->largest < a->bytes;
        int64_t cached = a->reserved > a->in_use ? a->reserved - a->in_use : 0;
        if (!holes && cached < a->bytes) continue;
        finding *x = found(f, h, a->site, i, 0, a->bytes);
        char asked[32], room[32], largest[32];
        explained(f, i);
        if (!x || x->times > 1) continue;
        amount_of(a->bytes, asked), amount_of(holes ? a->free : cached, room), amount_of(a->largest, largest);
        if (a->largest < a->bytes) in_pieces(x, asked, room, largest);
        else of_another_kind(x, asked, room);
    }
}

/* What went home and stayed on the card as well, untouched, until room was needed there. */
static void kept_after_home(findings *f, const history *h, int s, int oom)
{
    const storage *kept = &h->storages[s];
    const act *home = kept->last_out >= 0 ? &h->acts[kept->last_out] : NULL;
    bool there = kept->born < oom && (kept->freed < 0 || kept->freed > oom);
    bool idle = home && kept->last_touch == kept->last_out && kept->last_out < oom;
    if (!there || !idle || home->dir != FY_WORD_d2h || home->why != FY_WORD_user || kept->device != h->acts[oom].device)
        return;
    char line[96], card[16];
    finding *x = found(f, h, home->site, kept->last_out, 0, kept->bytes);
    if (!x || x->times > 1) return;
    say_what(x, "%s was copied back and kept on %s as well, where the memory ran out at %s: a copy back frees nothing.",
             name_of(h, home->src.tensor), device_name(kept->device, card),
             line_of(h, h->acts[oom].site, home->site, line));
    say_fix(x, "fy_free the tensor on the card after the copy");
}

void rule_kept_after_home(findings *f, const history *h)
{
    bool seen[MOST_CARDS + 1] = {false};
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_oom || a->device < 1 || seen[a->device]) continue;
        seen[a->device] = true; /* the first one is enough: each looks at all storages */
        for (int s = 0; s < h->storage_count; s++) kept_after_home(f, h, s, i);
    }
}

/* ---- what filled it ---- */

typedef struct heap { /* what one line made, and lives */
    int64_t bytes;
    int count, site;
} heap;

static int by_bytes(const void *pa, const void *pb)
{
    const heap *a = pa, *b = pb;
    return a->bytes != b->bytes ? (a->bytes > b->bytes ? -1 : 1) : a->site - b->site;
}

/* By line, the most first; those without a line come under site -1. */
static heap *living_at(const history *h, int oom)
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

static void out_of_memory(finding *x, const history *h, int i, const heap *list)
{
    const act *a = &h->acts[i];
    char words[200] = "", asked[32], held[32], card[16], line[96];
    size_t n = 0;
    for (int k = 0; k < 3 && k <= h->site_count && list[k].count && n < sizeof words - 60; k++)
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%d of %.40s (%s)", n ? ", " : "", list[k].count,
                              line_of(h, list[k].site, a->site, line), amount_of(list[k].bytes, held));
    say_what(x, "%s asked for on %s did not fit. What filled it, by the line that made it: %.160s.",
             amount_of(a->bytes, asked), device_name(a->device, card), *words ? words : "nothing that is known");
    say_fix(x, "free what is no longer needed (fy_free, or FY_SCOPE around the loop's body); also what has no name: in "
               "fy_relu(fy_matmul(a, b)) the inner result is a tensor of its own");
}

/* The first on each device: those after it say the same. */
void rule_out_of_memory(findings *f, const history *h)
{
    bool seen[MOST_CARDS + 1] = {false};
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_oom || a->device < 0 || seen[a->device] || is_explained(f, i)) continue;
        seen[a->device] = true;
        finding *x = found(f, h, a->site, i, 0, a->bytes);
        heap *list = living_at(h, i);
        out_of_memory(x, h, i, list);
        free(list);
    }
}
