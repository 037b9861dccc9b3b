/* misconceptions.c: a detector per misconception, and their table. */
#include "event.h"
#include "misconceptions.h"

#include <stdlib.h>
#include <string.h>

#include "findings_history.h"
#include "memory.h"

/* ---- shared queries ---- */

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

/* The first data race of a type whose earlier access is a copy in direction dir; dir 0: any access. */
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

/* A call that failed because its tensors were on the CPU and a card (with_cpu), or on two cards. */
static bool is_mismatch(const history *h, const act *a, bool with_cpu)
{
    if (a->kind != FY_KIND_error || a->name < 0 || strcmp(h->names[a->name], "device_mismatch")) return false;
    bool cpu = a->src.device == 0 || a->dst.device == 0;
    return a->src.device >= 0 && a->dst.device >= 0 && cpu == with_cpu;
}

/* ---- placement ---- */

/* By storage: the last act in which the host computed with it or read it. A dtype conversion is part of the copy that
 * follows: it does not count, and made_of maps its result to its source. */
static int *last_host_uses(const history *h, int *made_of)
{
    int *last = by_storage(h), list[ACT_STORAGES], made[ACT_STORAGES];
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        bool on_host =
            (a->kind == FY_KIND_op && a->device == 0) || a->kind == FY_KIND_host_read || a->kind == FY_KIND_answer;
        int n = on_host ? act_reads(h, a, list) : 0;
        bool casts = n == 1 && is_op(h, a, "cast");
        if (casts && act_writes(h, a, made) == 1) made_of[made[0]] = list[0];
        for (int k = 0; k < n && !casts; k++) last[list[k]] = i;
    }
    return last;
}

/* A copy to a card, allocated by its call and never read, of a storage whose last copy out is unused as well. */
static bool is_dropped(const history *h, int i, const bool *unused)
{
    const act *c = &h->acts[i];
    if (!unused[i] || c->dir != FY_WORD_h2d || c->src.storage < 0) return false;
    const storage *from = &h->storages[c->src.storage];
    return made_its_destination(h, c) && (from->last_out < 0 || unused[from->last_out]);
}

/* The copy is never read, and the source is used on the host afterwards, or a call fails for mixed devices. */
static int64_t to_moves_it(const findings *f)
{
    const history *h = f->history;
    bool *unused = unused_copies(h);
    int *made_of = by_storage(h), *last = last_host_uses(h, made_of), shown = -1, refused = -1;
    for (int i = 0; i < h->act_count; i++)
        if (is_mismatch(h, &h->acts[i], true)) refused = i;
    for (int i = 0; shown < 0 && i < h->act_count; i++) {
        if (!is_dropped(h, i, unused)) continue;
        int from = h->acts[i].src.storage, origin = made_of[from] >= 0 ? made_of[from] : from;
        if (refused > i || last[from] > i || last[origin] > i) shown = i;
    }
    free(unused);
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

/* Another current card was set; then a call fails for tensors on two cards, or work runs on cuda:0 while the other card
 * stays current to the end. */
static int64_t cuda_is_cuda_0(const findings *f)
{
    const history *h = f->history;
    int left = act_of_seq(h, first_of(f, "current-device-not-restored"));
    bool chosen = false;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        chosen = chosen || (a->kind == FY_KIND_set_device && a->device > 1);
        if (chosen && is_mismatch(h, a, false)) return a->seq;
        if (left >= 0 && i > left && a->kind == FY_KIND_op && a->device == 1) return h->acts[left].seq;
    }
    return -1;
}

/* ---- cost ---- */

static int64_t item_is_free(const findings *f) { return first_of(f, "hidden-sync"); }

static int64_t pinning_always_pays(const findings *f)
{
    return first_of_two(f, "pinned-each-time", "pinned-for-one-copy");
}

static int64_t to_picks_the_cheap_order(const findings *f) { return first_of(f, "converts-late"); }
static int64_t cards_copy_directly(const findings *f) { return first_of_two(f, "bounced", "through-host"); }

/* Is the thread's next act on a card, after act i, a wait or a query of completion? */
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

/* The clock is read while work launched since its last reading still runs, and no wait follows: a wait would show that
 * the launch alone is timed. */
static int64_t call_returned_is_done(const findings *f)
{
    enum { THREADS = 64 };
    const history *h = f->history;
    int64_t busy_until[THREADS];
    for (int i = 0; i < THREADS; i++) busy_until[i] = -1; /* the clock has not been read */
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

/* Does an asynchronous copy run while an op of another stream does? */
static bool overlaps(const history *h, const act *copy)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        bool beside = a->kind == FY_KIND_op && a->completed && a->device == copy->device && a->stream != copy->stream;
        if (beside && a->start < copy->end && a->end > copy->start) return true;
    }
    return false;
}

/* More bytes of non_blocking copies block or run alone than overlap with ops. */
static int64_t non_blocking_alone_overlaps(const findings *f)
{
    enum { MAX_COPIES = 1000 }; /* examined: each scans all ops */
    const history *h = f->history;
    int64_t missed = 0, overlapped = 0, shown = -1; /* bytes */
    for (int i = 0; i < f->count; i++) {
        const finding *x = &f->list[i];
        int at = act_of_seq(h, x->seq);
        bool alone = !strcmp(x->rule->name, "missed-overlap") && at >= 0 && h->acts[at].async;
        if (!alone && strcmp(x->rule->name, "blocking-pageable")) continue;
        missed += x->bytes;
        if (shown < 0 || x->seq < shown) shown = x->seq;
    }

    for (int i = 0, examined = 0; i < h->act_count && examined < MAX_COPIES; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_copy || !a->was_async || !a->completed) continue;
        examined++;
        if (overlaps(h, a)) overlapped += a->bytes;
    }
    return missed > overlapped ? shown : -1;
}

/* ---- memory ---- */

/* Copied to the host and kept on the card, unused, while the program allocates memory there that these bytes could
 * have provided. */
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

enum { SEGMENTS = 1024 }; /* tracked at once */

typedef struct segment {
    int64_t from, to;
    int device, live, emptied; /* live: storages in it; emptied: the free that left none; -1 */
} segment;

static segment *segment_of(segment *list, int n, int device, int64_t addr)
{
    while (n-- > 0)
        if (list[n].device == device && addr >= list[n].from && addr < list[n].to) return &list[n];
    return NULL;
}

static void count_storage(segment *s, int by, int free)
{
    if (!s) return;
    s->live += by;
    s->emptied = by < 0 && s->live == 0 ? free : -1;
}

/* Lists the cards' segments that are left at the end; returns how many. wanted: the last act in which a card allocated
 * a segment, or failed to. */
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
        if (a->kind == FY_KIND_alloc && a->bytes) count_storage(s, 1, -1);
        if (of && of->bytes) {
            const act *before = i > 0 ? &h->acts[i - 1] : NULL; /* freed by fy_free, or at the end of a scope? */
            bool by_hand = before && before->kind == FY_KIND_drop && before->why == FY_WORD_free;
            count_storage(segment_of(list, n, of->device, h->acts[of->born].start), -1, by_hand ? i : -1);
        }
    }
    return n;
}

/* The last tensor of a segment is freed by fy_free; the segment stays unused, and the card allocates another one. */
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

/* ---- ordering ---- */

static int64_t home_copy_is_there_at_once(const findings *f) { return race_of(f, FY_WORD_read_early, FY_WORD_d2h); }
static int64_t source_is_mine_at_once(const findings *f) { return race_of(f, FY_WORD_write_early, FY_WORD_h2d); }
static int64_t streams_see_each_other(const findings *f) { return race_of(f, FY_WORD_race, 0); }
static int64_t freed_is_safe_to_reuse(const findings *f) { return race_of(f, FY_WORD_reuse, 0); }

/* An error caused by another line and not reported there. Every later call on a failed card reports it, too. */
static int64_t error_names_its_line(const findings *f)
{
    const history *h = f->history;
    int reported = -2; /* the site of the work that failed, as the last error gave it */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind != FY_KIND_error) continue;
        int cause = act_of_seq(h, a->src.version), there = cause < 0 ? a->site : h->acts[cause].site;
        if (there != a->site && there != reported) return a->seq;
        reported = there;
    }
    return -1;
}

/* ---- training ---- */

static int64_t moved_leaf_is_the_leaf(const findings *f) { return first_of(f, "trained-elsewhere"); }
static int64_t sum_of_losses_is_a_number(const findings *f) { return first_of(f, "graph-kept"); }
static int64_t eval_stops_saving(const findings *f) { return first_of(f, "graph-unused"); }

static int function_of(const history *h, int site) { return site >= 0 ? h->sites[site].fn : -1; }

/* Does another function use the tensor than the one that made it? A module's forward function uses what its constructor
 * made. A loop that uses its own data is in one function. */
static bool is_used_elsewhere(const history *h, int x, const act *a)
{
    int made = function_of(h, h->tensors[x].site), used = function_of(h, a->site);
    return made >= 0 && used >= 0 && made != used;
}

/* Where a parameter meets a tensor on the CPU, that one may be the module's input. */
static bool meets_a_leaf(const history *h, const act *error, const bool *leaf)
{
    bool any = false;
    for (int k = 0; k < error->nin; k++) {
        int s = h->uses[error->first_use + k].storage;
        any |= s >= 0 && leaf[s];
    }
    return any;
}

/* A call fails for a tensor that fy_module_to left on the CPU; or each forward pass copies one. */
static int64_t all_follow_their_module(const findings *f)
{
    const history *h = f->history;
    bool *leaf = leaf_storages(h);
    int64_t shown = -1;
    int move;
    for (int i = 0; i < h->act_count && shown < 0; i++) {
        int left = left_behind(h, i, &move);
        const act *a = &h->acts[i];
        if (left >= 0 && !is_step(h, a) && is_used_elsewhere(h, left, a) && !meets_a_leaf(h, a, leaf)) shown = a->seq;
    }
    for (int i = 0; i < f->count && shown < 0; i++) {
        int at = !strcmp(f->list[i].rule->name, "sent-again") ? act_of_seq(h, f->list[i].seq) : -1;
        const act *copy = at >= 0 ? &h->acts[at] : NULL;
        bool left = copy && copy->src.tensor >= 0 && is_used_elsewhere(h, copy->src.tensor, copy);
        if (left && made_before_move(h, copy)) shown = copy->seq;
    }
    free(leaf);
    return shown;
}

/* fy_step fails for state that it made on the CPU, before the module moved; or the forward pass reads a copy of a leaf,
 * made before a step changed the leaf. */
static int64_t optimizer_at_any_time(const findings *f)
{
    const history *h = f->history;
    int move, list[ACT_STORAGES];
    for (int i = 0; i < h->act_count; i++)
        if (is_step(h, &h->acts[i]) && left_behind(h, i, &move) >= 0) return h->acts[i].seq;
    bool *leaf = leaf_storages(h);
    int64_t shown = -1;
    for (int i = 0; i < f->count && shown < 0; i++) {
        int at = !strcmp(f->list[i].rule->name, "stale-read") ? act_of_seq(h, f->list[i].seq) : -1;
        for (int n = at >= 0 ? act_reads(h, &h->acts[at], list) : 0; n-- > 0;) {
            const act *copy = h->storages[list[n]].first_touch >= 0 ? &h->acts[h->storages[list[n]].first_touch] : NULL;
            bool up = copy && copy->kind == FY_KIND_copy && copy->dir == FY_WORD_h2d && copy->src.storage >= 0;
            if (up && leaf[copy->src.storage]) shown = copy->seq;
        }
    }
    free(leaf);
    return shown;
}

/* A file's tensor is put on the device that it was saved on, which is absent, or whence it is copied to another. */
static int64_t checkpoint_loads_here(const findings *f)
{
    const history *h = f->history;
    int *put = by_storage(h), shown = -1; /* the copy that put a file's tensor there */
    for (int i = 0; i < h->act_count && shown < 0; i++) {
        const act *a = &h->acts[i];
        bool failed = a->kind == FY_KIND_error && a->name >= 0 && !strcmp(h->names[a->name], "device") && a->call >= 0;
        if (failed && !strncmp(h->names[a->call], "fy_load_state_dict(", 19)) shown = i;
        if (a->kind != FY_KIND_copy || a->src.storage < 0 || a->dst.storage < 0) continue;
        int first = h->storages[a->src.storage].first_touch;
        const act *made = first >= 0 ? &h->acts[first] : NULL;
        bool loaded = made && made->kind == FY_KIND_host_write && made->type == FY_WORD_load && made->site == a->site;
        if (loaded && a->dir == FY_WORD_h2d && made_its_destination(h, a)) put[a->dst.storage] = i;
        int from = put[a->src.storage];
        if (from >= 0 && h->acts[from].site == a->site && a->dst.device != a->src.device) shown = from;
    }
    free(put);
    return seq_of(h, shown);
}

/* ---- the table ---- */

static const misconception all[] = {
    {1, "to-moves-it", "fy_to(x, \"cuda\") moves x",
     "fy_to returns a new tensor there, and its argument stays where it was: use what it returned",
     "what fy_to returned is used", to_moves_it},
    {2, "ops-fetch-operands", "an operation fetches its operands from any device",
     "An operation does not fetch its operands, it fails: copy them to one device first", "operands on one device",
     ops_fetch_operands},
    {3, "home-copy-is-there-at-once", "a non_blocking copy to the host can be read at once",
     "The CPU may read this before its bytes have arrived: wait for the copy first",
     "a wait between the copy and its reader", home_copy_is_there_at_once},
    {4, "call-returned-is-done", "a call that returned has done its work",
     "The calls before this one have only queued their work: wait for the card, then read the clock",
     "a wait for the card before the clock is read", call_returned_is_done},
    {5, "item-is-free", "reading a value on the host costs nothing",
     "Each number that the program reads waits for all the work queued before it: read fewer of them",
     "numbers are read once, after the work", item_is_free},
    {6, "moved-leaf-is-the-leaf", "a leaf that was moved is still the leaf",
     "The gradient arrives at the original leaf, not at the tensor that fy_to returned",
     "the leaf itself is on the card", moved_leaf_is_the_leaf},
    {7, "all-follow-their-module", "moving a module moves every tensor in it",
     "Moving a module moves its registered parameters and buffers, and no other tensor",
     "each tensor that a module uses is registered", all_follow_their_module},
    {8, "optimizer-at-any-time", "an optimizer can be created at any time",
     "An optimizer's state stays where its first step made it: take the first step after the move",
     "the first step comes after the move", optimizer_at_any_time},
    {9, "non-blocking-alone-overlaps", ".non_blocking is enough to overlap a copy with compute",
     ".non_blocking alone does not overlap a copy with the card's work: that also takes page-locked memory and a "
     "stream of its own",
     "a copy that runs while the card works", non_blocking_alone_overlaps},
    {10, "pinning-always-pays", "page-locked memory always makes copies faster",
     "Page-locking takes time, and filling page-locked memory is a copy: it pays only where much more is sent from "
     "there than is locked and filled",
     "page-locked memory for bytes that are sent again and again", pinning_always_pays},
    {11, "source-is-mine-at-once", "after a non_blocking copy the source may be overwritten",
     "The card may still read the source of this copy: wait before it is overwritten",
     "a wait between the copy and the next write", source_is_mine_at_once},
    {12, "streams-see-each-other", "a stream sees what another one computed",
     "A stream sees what another one wrote only after it has waited for it",
     "a wait or an event between the two streams", streams_see_each_other},
    {13, "freed-is-safe-to-reuse", "memory that is freed is no longer in use",
     "Freed memory is used again at once, even if another stream still reads it: fy_record_stream says that it does",
     "freed memory that no queued work still reads", freed_is_safe_to_reuse},
    {14, "free-returns-vram", "fy_free gives memory back to the card",
     "fy_free gives memory to the cache, not to the card: fy_cuda_empty_cache returns unused segments",
     "unused segments are returned to the card", free_returns_vram},
    {15, "oom-is-too-little-memory", "out of memory means that there is not enough",
     "Enough memory is free, but in pieces that are too small", "free memory in one piece", oom_is_too_little_memory},
    {16, "cpu-frees-the-card", "fy_cpu(x) frees x on the card",
     "fy_cpu copies: the bytes on the card stay in use until the tensor there is freed",
     "the tensor on the card is freed after its copy", cpu_frees_the_card},
    {17, "small-slice-is-small", "a small slice takes little memory", "A view keeps its whole storage in use",
     "no small view of a large storage", small_slice_is_small},
    {18, "sum-of-losses-is-a-number", "a sum of losses is a number",
     "This sum keeps the graph of every step: add up what is detached", "a sum without a graph",
     sum_of_losses_is_a_number},
    {19, "eval-stops-saving", "evaluation keeps no activations",
     "Evaluation does not stop the graph from saving tensors: only FY_NO_GRAD does", "nothing is saved for a gradient",
     eval_stops_saving},
    {20, "error-names-its-line", "an error belongs to the line that reports it",
     "An error of the card is reported by a later call: this line need not have caused it",
     "the line that caused the error", error_names_its_line},
    {21, "made-and-moved-is-made-there", "creating a tensor and moving it is the same as creating it there",
     "This tensor is made in CPU RAM and then copied: make it on the card", "what needs no input is made on the card",
     made_and_moved_is_made_there},
    {22, "to-picks-the-cheap-order", "fy_to with a dtype and a device picks the cheaper order",
     "fy_to with a device and a dtype converts on the CPU, so the larger dtype may cross the bus: make two calls",
     "the smaller dtype crosses the bus", to_picks_the_cheap_order},
    {23, "cuda-is-cuda-0", "\"cuda\" is the card \"cuda:0\"",
     "\"cuda\" is the thread's current card, not always cuda:0", "the card that is meant", cuda_is_cuda_0},
    {24, "checkpoint-loads-here", "a checkpoint loads on the current device",
     "A checkpoint loads where it was saved: .map_location says otherwise", "loaded on the device that is meant",
     checkpoint_loads_here},
    {25, "cards-copy-directly", "a copy between cards is direct",
     "Without peer access a copy between cards goes through the host", "a direct copy between the cards",
     cards_copy_directly},
};
enum { ALL = sizeof all / sizeof *all };

const misconception *misconception_at(int i) { return i >= 0 && i < ALL ? &all[i] : NULL; }

const misconception *misconception_named(const char *name)
{
    for (int i = 0; i < ALL; i++)
        if (!strcmp(all[i].name, name)) return &all[i];
    return NULL;
}
