/* misconceptions.c: one function a belief, and the table of them. */
#include "event.h"
#include "misconceptions.h"

#include <stdlib.h>
#include <string.h>

#include "findings_history.h"
#include "memory.h"

/* ---- what several ask ---- */

static int64_t seq_of(const history *h, int i) { return i < 0 ? -1 : h->acts[i].seq; }

/* The earliest finding of a rule. */
static int64_t first_of(const findings *f, const char *name)
{
    int64_t seq = -1;
    for (int i = 0; i < f->count; i++) {
        const finding *x = &f->list[i];
        if (!strcmp(x->rule->name, name) && (seq < 0 || x->seq < seq)) seq = x->seq;
    }
    return seq;
}

static int64_t first_of_two(const findings *f, const char *name, const char *other)
{
    int64_t a = first_of(f, name), b = first_of(f, other);
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* The first data race of a type, where its earlier access is a copy that way; dir 0: whatever it is. */
static int64_t race_of(const findings *f, uint8_t type, uint8_t dir)
{
    const history *h = f->history;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_data_race || a->type != type) continue;
        int earlier = act_of_seq(h, a->src.version);
        if (!dir || (earlier >= 0 && h->acts[earlier].kind == FY_KIND_copy && h->acts[earlier].dir == dir))
            return a->seq;
    }
    return -1;
}

/* A call that met tensors of two memories: of the CPU and a card, or of two cards. */
static bool is_mismatch(const history *h, const act *a, bool with_cpu)
{
    if (a->kind != FY_KIND_error || a->name < 0 || strcmp(h->names[a->name], "device_mismatch")) return false;
    bool cpu = a->src.device == 0 || a->dst.device == 0;
    return a->src.device >= 0 && a->dst.device >= 0 && cpu == with_cpu;
}

/* ---- where am I ---- */

/* By storage: the last act in which the host computed with it or looked at it. A conversion on the way to a card reads
 * for the copy: what it reads stands for what it made. */
static int *used_here(const history *h, int *made_of)
{
    int *last = by_storage(h), list[8], made[8];
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        bool here =
            (a->kind == FY_KIND_op && a->device == 0) || a->kind == FY_KIND_host_read || a->kind == FY_KIND_answer;
        int n = here ? act_reads(h, a, list) : 0;
        bool casts = n == 1 && is_op(h, a, "cast");
        if (casts && act_writes(h, a, made) == 1) made_of[made[0]] = list[0];
        for (int k = 0; k < n && !casts; k++) last[list[k]] = i;
    }
    return last;
}

/* A copy that nobody reads, into memory that it was made for, of what is sent nowhere else to any purpose. */
static bool is_dropped(const history *h, int i, const bool *orphan)
{
    const act *c = &h->acts[i];
    if (!orphan[i] || c->dir != FY_WORD_h2d || c->src.storage < 0) return false;
    const storage *from = &h->storages[c->src.storage];
    return made_its_destination(h, c) && (from->last_out < 0 || orphan[from->last_out]);
}

/* Nobody reads what arrived; the source is used where it was, or a call refuses to. */
static int64_t to_moves_it(const findings *f)
{
    const history *h = f->history;
    bool *orphan = orphan_copies(h);
    int *made_of = by_storage(h), *last = used_here(h, made_of), shown = -1, refused = -1;
    for (int i = 0; i < h->act_count; i++)
        if (is_mismatch(h, &h->acts[i], true)) refused = i;
    for (int i = 0; shown < 0 && i < h->act_count; i++) {
        if (!is_dropped(h, i, orphan)) continue;
        int from = h->acts[i].src.storage, origin = made_of[from] >= 0 ? made_of[from] : from;
        if (refused > i || last[from] > i || last[origin] > i) shown = i;
    }
    free(orphan);
    free(made_of);
    free(last);
    return seq_of(h, shown);
}

static int64_t ops_fetch_operands(const findings *f)
{
    const history *h = f->history;
    for (int i = 0; i < h->act_count; i++)
        if (is_mismatch(h, &h->acts[i], true) || is_mismatch(h, &h->acts[i], false)) return h->acts[i].seq;
    return -1;
}

static int64_t made_and_moved_is_made_there(const findings *f) { return first_of(f, "created-then-moved"); }

/* Another card was made the current one; then two cards' tensors meet, or work goes on on the first, and the other one
 * is current to the end. */
static int64_t cuda_is_cuda_0(const findings *f)
{
    const history *h = f->history;
    int left = act_of_seq(h, first_of(f, "card-not-put-back"));
    bool chosen = false;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        chosen = chosen || (a->kind == FY_KIND_set_device && a->device > 1);
        if (chosen && is_mismatch(h, a, false)) return a->seq;
        if (left >= 0 && i > left && a->kind == FY_KIND_op && a->device == 1) return h->acts[left].seq;
    }
    return -1;
}

/* ---- what does it cost ---- */

static int64_t item_is_free(const findings *f) { return first_of(f, "hidden-sync"); }

static int64_t pinning_always_pays(const findings *f)
{
    return first_of_two(f, "pinned-each-time", "pinned-for-one-trip");
}

static int64_t to_picks_the_cheap_order(const findings *f) { return first_of(f, "converts-late"); }
static int64_t cards_copy_directly(const findings *f) { return first_of_two(f, "bounced", "through-host"); }

/* What the thread next has to do with a card, after act i: it waits, or asks whether work has ended. */
static bool waits_next(const history *h, int i)
{
    int thread = h->acts[i].thread;
    for (i++; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->thread != thread) continue;
        if ((a->kind == FY_KIND_sync && a->why == FY_WORD_user) || a->kind == FY_KIND_query) return true;
        if (act_on_card(a)) return false;
    }
    return false;
}

/* The clock is read while work that was launched since it was read before still runs; and it is not read to see what
 * the call alone took, with a wait to follow. */
static int64_t call_returned_is_done(const findings *f)
{
    enum { THREADS = 64 };
    const history *h = f->history;
    int64_t busy_until[THREADS];
    for (int i = 0; i < THREADS; i++) busy_until[i] = -1; /* the clock was never read */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->thread >= THREADS) continue;
        int64_t *until = &busy_until[a->thread];
        bool is_clock = a->kind == FY_KIND_mark && a->type == FY_WORD_at;
        if (is_clock && *until > a->start && !waits_next(h, i)) return a->seq;
        if (is_clock) *until = 0;
        else if (act_on_card(a) && a->completed && *until >= 0 && a->end > *until) *until = a->end;
    }
    return -1;
}

/* Does something that was asked not to wait run beside an op of another stream? */
static bool overlaps(const history *h, const act *copy)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        bool beside = a->kind == FY_KIND_op && a->completed && a->device == copy->device && a->stream != copy->stream;
        if (beside && a->start < copy->end && a->end > copy->start) return true;
    }
    return false;
}

enum { LOOKED_AT = 1000 }; /* copies; each looks at all ops */

static int64_t overlapped_bytes(const history *h)
{
    int64_t bytes = 0;
    for (int i = 0, looked = 0; i < h->act_count && looked < LOOKED_AT; i++) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_copy && a->was_async && a->completed && ++looked && overlaps(h, a)) bytes += a->bytes;
    }
    return bytes;
}

/* More is asked not to wait, and waits or comes one after the other, than runs beside other work. */
static int64_t non_blocking_alone_overlaps(const findings *f)
{
    const history *h = f->history;
    int64_t bytes = 0, shown = -1;
    for (int i = 0; i < f->count; i++) {
        const finding *x = &f->list[i];
        int at = act_of_seq(h, x->seq);
        bool missed = !strcmp(x->rule->name, "missed-overlap") && at >= 0 && h->acts[at].async;
        if (!missed && strcmp(x->rule->name, "blocking-pageable")) continue;
        bytes += x->bytes;
        if (shown < 0 || x->seq < shown) shown = x->seq;
    }
    return bytes > overlapped_bytes(h) ? shown : -1;
}

/* ---- whose memory is it ---- */

/* Copied home and kept on the card, untouched, while the program takes memory there that these bytes could have been. */
static int64_t cpu_frees_the_card(const findings *f)
{
    const history *h = f->history;
    int more[MOST_CARDS + 1], shown = -1; /* the next large allocation on each card, looking back from the end */
    for (int i = 0; i <= MOST_CARDS; i++) more[i] = -1;
    for (int i = h->act_count; i-- > 0;) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_alloc && a->device > 0 && a->bytes >= WORTH_FREEING) more[a->device] = i;
        if (a->kind != FY_KIND_copy || a->dir != FY_WORD_d2h || a->why != FY_WORD_user || a->src.storage < 0) continue;
        const storage *s = &h->storages[a->src.storage];
        int next = a->device > 0 && s->bytes >= WORTH_FREEING ? more[a->device] : -1;
        bool kept = next >= 0 && s->last_touch == i && (s->freed < 0 || s->freed > next);
        if (kept && 2 * h->acts[next].bytes >= s->bytes) shown = i;
    }
    return seq_of(h, shown);
}

static int64_t small_slice_is_small(const findings *f) { return first_of(f, "small-view-keeps-all"); }
static int64_t oom_is_too_little_memory(const findings *f) { return first_of(f, "fragmentation"); }

enum { SEGMENTS = 1024 }; /* as many are watched at once */

typedef struct segment {
    int64_t from, to;
    int device, live, emptied; /* storages in it; the free that left none; -1 */
} segment;

static segment *segment_of(segment *list, int n, int device, int64_t addr)
{
    while (n-- > 0)
        if (list[n].device == device && addr >= list[n].from && addr < list[n].to) return &list[n];
    return NULL;
}

static void lives(segment *s, int by, int free)
{
    if (!s) return;
    s->live += by;
    s->emptied = by < 0 && s->live == 0 ? free : -1;
}

/* A tensor is dropped by fy_free, not at the end of a scope. */
static bool is_freed_by_hand(const history *h, int i)
{
    return i > 0 && h->acts[i - 1].kind == FY_KIND_drop && h->acts[i - 1].why == FY_WORD_free;
}

/* Follow the segments of the cards; those that are left at the end stay in the list. wanted: the last time that a
 * card gave a new one, or could not. */
static int follow_segments(const history *h, segment *list, int wanted[MOST_CARDS + 1])
{
    int n = 0;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        const storage *of = a->kind == FY_KIND_free && a->dst.storage >= 0 ? &h->storages[a->dst.storage] : NULL;
        if ((a->kind == FY_KIND_segment || a->kind == FY_KIND_oom) && a->device > 0) wanted[a->device] = i;
        if (a->kind == FY_KIND_segment && a->device > 0 && n < SEGMENTS)
            list[n++] = (segment){a->start, a->end, a->device, 0, -1};
        segment *s = segment_of(list, n, a->device, a->start);
        if (a->kind == FY_KIND_segment_free && s) *s = list[--n];
        if (a->kind == FY_KIND_alloc && a->bytes) lives(s, 1, -1);
        if (of && of->bytes)
            lives(segment_of(list, n, of->device, h->acts[of->born].start), -1, is_freed_by_hand(h, i) ? i : -1);
    }
    return n;
}

/* The last tensor of a segment is freed by hand; nobody gets the segment, and the card is asked for another one. */
static int64_t free_returns_vram(const findings *f)
{
    segment *list = memory_zeroed(SEGMENTS, sizeof *list, "the findings");
    int wanted[MOST_CARDS + 1] = {0}, n = follow_segments(f->history, list, wanted), shown = -1;
    for (int i = 0; i < n; i++) {
        int emptied = list[i].emptied;
        if (emptied >= 0 && emptied < wanted[list[i].device] && (shown < 0 || emptied < shown)) shown = emptied;
    }
    free(list);
    return seq_of(f->history, shown);
}

/* ---- in what order ---- */

static int64_t home_copy_is_there_at_once(const findings *f) { return race_of(f, FY_WORD_read_early, FY_WORD_d2h); }
static int64_t source_is_mine_at_once(const findings *f) { return race_of(f, FY_WORD_write_early, FY_WORD_h2d); }
static int64_t streams_see_each_other(const findings *f) { return race_of(f, FY_WORD_race, 0); }
static int64_t freed_is_safe_to_reuse(const findings *f) { return race_of(f, FY_WORD_reuse, 0); }

/* An error that another line caused, and that was not told there: a card that failed says so to every later call. */
static int64_t error_names_its_line(const findings *f)
{
    const history *h = f->history;
    int told = -2; /* where a call failed by its own work */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_error) continue;
        int cause = act_of_seq(h, a->src.version), there = cause < 0 ? a->site : h->acts[cause].site;
        if (there != a->site && there != told) return a->seq;
        told = there;
    }
    return -1;
}

/* ---- the table ---- */

static const misconception all[] = {
    {1, "to-moves-it", "fy_to(x, \"cuda\") moves x", "it returns a new tensor there; x stays where it was", to_moves_it,
     NULL},
    {2, "ops-fetch-operands", "an operation fetches its operands from anywhere",
     "it refuses; the program chooses where they meet", ops_fetch_operands, NULL},
    {3, "home-copy-is-there-at-once", "a copy home that does not block can be read at once",
     "the host may read before the bytes are there: wait first", home_copy_is_there_at_once, NULL},
    {4, "call-returned-is-done", "a call that returned has done its work", "it was queued: wait, then read the clock",
     call_returned_is_done, NULL},
    {5, "item-is-free", "looking at a value costs nothing", "each look waits for all that was queued before it",
     item_is_free, NULL},
    {6, "moved-leaf-is-the-leaf", "a leaf that was moved is still the leaf", "the gradient arrives at the original",
     NULL, "autograd"},
    {7, "all-follow-their-module", "every tensor of a module goes with it", "registered parameters and buffers do",
     NULL, "modules"},
    {8, "optimizer-at-any-time", "an optimizer can be made at any time",
     "its state stays with the tensors it was given", NULL, "modules"},
    {9, "non-blocking-alone-overlaps", ".non_blocking is enough for a copy beside the computing",
     "it takes page-locked memory and a stream of its own as well", non_blocking_alone_overlaps, NULL},
    {10, "pinning-always-pays", "page-locked memory always makes it faster",
     "page-locking costs, and filling it is a copy: it pays when it is used again", pinning_always_pays, NULL},
    {11, "source-is-mine-at-once", "after a copy that does not block the source may be written",
     "the card still reads it: wait first", source_is_mine_at_once, NULL},
    {12, "streams-see-each-other", "a stream sees what another one computed", "only after a wait or an event",
     streams_see_each_other, NULL},
    {13, "freed-is-safe-to-reuse", "memory that is freed is no longer in use",
     "work of another stream may still read it: fy_record_stream", freed_is_safe_to_reuse, NULL},
    {14, "free-returns-vram", "fy_free gives memory back to the card",
     "the segment stays in the cache; fy_cuda_empty_cache returns those that are wholly unused", free_returns_vram,
     NULL},
    {15, "oom-is-too-little-memory", "out of memory means that there is not enough",
     "enough may be free, in pieces that are too small", oom_is_too_little_memory, NULL},
    {16, "cpu-frees-the-card", "fy_cpu(x) frees x on the card", "it copies; the card's bytes live as long as x",
     cpu_frees_the_card, NULL},
    {17, "small-slice-is-small", "a small slice takes little memory", "a view keeps its whole storage",
     small_slice_is_small, NULL},
    {18, "sum-of-losses-is-a-number", "a sum of losses is a number", "it holds the graph of every step", NULL,
     "autograd"},
    {19, "eval-stops-saving", "evaluation keeps no activations", "only no_grad stops saving them", NULL, "autograd"},
    {20, "error-names-its-line", "an error is where it is told", "a kernel's error is told by a later call",
     error_names_its_line, NULL},
    {21, "made-and-moved-is-made-there", "to make a tensor and move it is to make it there",
     "the host makes it first, and the copy waits", made_and_moved_is_made_there, NULL},
    {22, "to-picks-the-cheap-order", "a move that converts takes the cheap order",
     "it may convert first, and send four times the bytes", to_picks_the_cheap_order, NULL},
    {23, "cuda-is-cuda-0", "\"cuda\" is the card \"cuda:0\"", "it is the thread's current card", cuda_is_cuda_0, NULL},
    {24, "checkpoint-loads-here", "a checkpoint loads where the program is", "it returns to where it was saved", NULL,
     "modules"},
    {25, "cards-copy-directly", "a copy between cards is direct", "without peer access it goes through the host",
     cards_copy_directly, NULL},
};
enum { ALL = sizeof all / sizeof *all };

const misconception *misconception_at(int i) { return i >= 0 && i < ALL ? &all[i] : NULL; }

const misconception *misconception_named(const char *name)
{
    for (int i = 0; i < ALL; i++)
        if (!strcmp(all[i].name, name)) return &all[i];
    return NULL;
}
