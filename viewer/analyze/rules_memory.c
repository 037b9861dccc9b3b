/* rules_memory.c: rules about memory that is kept longer than it is used, and about the wrong current card. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>

#include "memory.h"

/* ---- leaks ---- */

/* What a program creates once and keeps to its end is freed there, by design. A leak grows: a line creates one storage
 * after the other, and each is still allocated at the end though it was not accessed after the next one was created. A
 * line may create several storages per iteration: the op that filled them tells them apart (their role). */
typedef struct leaking {  /* by role */
    int role;             /* its number, which the list of all storages gives */
    int next, left, grew; /* next: the storage created after this one; left: leaked storages; grew: those with a next */
    int first, last;      /* of the leaked storages */
    int64_t bytes;
} leaking;

/* Fills in the list, an entry per role, from the last storage to the first so that `next` is known. A role's last
 * storage counts only together with others: by itself it may still be in use. */
static int count_leaks(const history *h, leaking *list, int *role_of)
{
    id_map roles = {0};
    int count = 0;
    for (int i = h->storage_count; i-- > 0;) {
        const storage *s = &h->storages[i];
        if (s->site < 0) continue;
        const act *filled = s->first_touch >= 0 ? &h->acts[s->first_touch] : NULL;
        int op = filled && filled->kind == FY_KIND_op ? filled->name : -1;
        int *at = id_map_at(&roles, ((uint64_t)(op + 2) << 32) + (uint64_t)s->site);
        if (*at < 0) list[count] = (leaking){.role = count, .next = -1, .last = i}, *at = count++;

        leaking *l = &list[*at];
        bool lives = s->live && s->freed < 0 && !s->answered;
        if (lives && (l->next < 0 || s->last_touch < h->storages[l->next].born)) {
            if (!l->left++) l->last = i;
            l->grew += l->next >= 0;
            l->first = i;
            l->bytes += s->bytes;
            role_of[i] = l->role;
        }
        l->next = i;
    }
    id_map_free(&roles);
    return count;
}

static int by_first(const void *pa, const void *pb)
{
    const leaking *a = pa, *b = pb;
    return a->first - b->first;
}

/* The most bytes that were allocated at once on a device; early: the storages, if any, that are freed after their last
 * use instead. */
static int64_t peak_of(const history *h, int device, const bool *early)
{
    int64_t *change = memory_zeroed((size_t)h->act_count + 2, sizeof *change, "the findings"), live = 0, peak = 0;
    for (int i = 0; i < h->storage_count; i++) {
        const storage *s = &h->storages[i];
        if (s->device != device || s->born < 0) continue;
        int freed = early && early[i] ? (s->last_touch > s->born ? s->last_touch : s->born) + 1 : s->freed;
        change[s->born] += s->bytes;
        if (freed >= 0) change[freed] -= s->bytes;
    }
    for (int i = 0; i <= h->act_count; i++) {
        live += change[i];
        if (live > peak) peak = live;
    }
    free(change);
    return peak;
}

static void say_peaks(finding *x, const history *h, const leaking *group, int count, const int *role_of)
{
    char card[16], most[32], least[32];
    int device = h->storages[group->first].device;
    bool *early = memory_zeroed((size_t)h->storage_count + 1, sizeof *early, "the findings");
    for (int i = 0; i < h->storage_count; i++)
        for (int k = 0; k < count; k++) early[i] |= role_of[i] == group[k].role;
    say_no_try(x,
               "what the allocator would use again is not modelled. Freed after their last use, at most %s would be "
               "allocated on %s at once, and not %s",
               amount_of(peak_of(h, device, early), least), device_name(h, device, card),
               amount_of(peak_of(h, device, NULL), most));
    free(early);
}

/* Where what leaks lies: "cuda:0", "cuda:0 and the CPU". */
static const char *devices_of(const history *h, const leaking *group, int count, char out[64])
{
    size_t n = 0;
    for (int i = 0; i < count && n < 40; i++) {
        int device = h->storages[group[i].first].device, earlier = 0;
        while (h->storages[group[earlier].first].device != device) earlier++;
        char name[16];
        if (earlier == i)
            n += (size_t)snprintf(out + n, 64 - n, "%s%s", i ? " and " : "", device_name(h, device, name));
    }
    return out;
}

/* Does a graph still hold a storage of these roles for gradients? */
static bool kept_by_a_graph(const history *h, const int *role_of, const leaking *group, int count)
{
    for (int i = 0; i < h->tensor_count; i++) {
        const tensor *t = &h->tensors[i];
        for (int k = 0; k < count && t->saver >= 0 && t->dropped < 0 && t->storage >= 0; k++)
            if (role_of[t->storage] == group[k].role) return true;
    }
    return false;
}

/* Roles that leak during the same part of the run are one loop, and one finding, at the first of them. */
static void report_leak(findings *f, const history *h, const leaking *group, int count, const int *handles,
                        const int *role_of)
{
    const storage *s = &h->storages[group->first];
    int64_t bytes = 0;
    int iterations = 0;
    for (int i = 0; i < count; i++) {
        bytes += group[i].bytes;
        if (group[i].left > iterations) iterations = group[i].left;
    }
    finding *x = found(f, h, s->site, s->born, 0, bytes);
    if (!x || x->times > 1) return;
    x->times = iterations;
    say_peaks(x, h, group, count, role_of);

    char where[64], words[320] = ""; /* "y (line 6), the result of mul (line 9, 10 times)" */
    size_t n = 0;
    for (int i = 0; i < count && n < sizeof words - 180; i++) {
        char line[96], label[64], times[32] = "";
        const leaking *l = &group[i];
        if (l->left != iterations) snprintf(times, sizeof times, ", %d times", l->left);
        n += (size_t)snprintf(words + n, sizeof words - n, "%s%s (%.60s%s)", i ? ", " : "",
                              label_of(h, handles[l->first], l->first, label),
                              line_of(h, h->storages[l->first].site, s->site, line), times);
        if (n >= sizeof words - 180 && i + 1 < count) snprintf(words + n, sizeof words - n, " and more");
    }
    say_what(x,
             "every iteration leaves %s on %s that nothing uses again and that stay%s allocated to the end of the "
             "program: %s.",
             count > 1 ? "tensors" : "a tensor", devices_of(h, group, count, where), count > 1 ? "" : "s", words);
    if (kept_by_a_graph(h, role_of, group, count))
        say_fix(x,
                "put the loop's body into FY_SCOPE { ... }, and keep no result with its graph, which holds these for "
                "gradients: keep fy_detach(loss), or record no graph, with FY_NO_GRAD { ... }");
    else
        say_fix(x, "put the loop's body into FY_SCOPE { ... }, or fy_free what it creates, including unnamed results: "
                   "in fy_relu(fy_matmul(a, b)) the inner one is a tensor of its own");
}

void rule_leak(findings *f, const history *h)
{
    if (!h->ended) return;        /* the end event lists what is still allocated */
    int *handles = by_storage(h); /* a tensor of each, a named one if there is one */
    for (int i = 0; i < h->tensor_count; i++) {
        int s = h->tensors[i].storage;
        if (s >= 0 && (handles[s] < 0 || h->tensors[handles[s]].name < 0)) handles[s] = i;
    }

    leaking *list = memory_zeroed((size_t)h->storage_count + 1, sizeof *list, "the findings");
    int *role_of = by_storage(h); /* of those that leak */
    int all = count_leaks(h, list, role_of), count = 0;
    for (int i = 0; i < all; i++)
        if (list[i].grew > 1) list[count++] = list[i];
    if (count) qsort(list, (size_t)count, sizeof *list, by_first);
    for (int i = 0, end; i < count; i = end) {
        int last = list[i].last;
        for (end = i + 1; end < count && list[end].first <= last; end++)
            if (list[end].last > last) last = list[end].last;
        report_leak(f, h, &list[i], end - i, handles, role_of);
    }
    free(role_of);
    free(handles);
    free(list);
}

/* ---- small views of large storages ---- */

enum { SMALL_PART = 8 };

typedef struct hold { /* by storage: its current handles */
    int64_t bytes;    /* the sum of their elements' bytes */
    int handles, sum; /* sum: the xor of their indices, so that with one handle it is that handle's index */
    int since;        /* the act after which only small views were left; -1 */
    int allocs;       /* allocations on the device before that */
} hold;

static void handle_created(const history *h, hold *all, const act *a)
{
    const tensor *x = a->dst.tensor >= 0 ? &h->tensors[a->dst.tensor] : NULL;
    if (!x || x->storage < 0) return;
    hold *o = &all[x->storage];
    o->bytes += x->bytes;
    o->handles++;
    o->sum = (int)((unsigned)o->sum ^ (unsigned)a->dst.tensor);
    if (SMALL_PART * o->bytes > h->storages[x->storage].asked) o->since = -1;
}

static void handle_dropped(const history *h, hold *all, int i, const int *allocs)
{
    const act *a = &h->acts[i];
    const tensor *x = a->dst.tensor >= 0 ? &h->tensors[a->dst.tensor] : NULL;
    if (!x || x->storage < 0 || a->why == FY_WORD_exit) return;
    hold *o = &all[x->storage];
    const storage *s = &h->storages[x->storage];
    o->bytes -= x->bytes;
    o->handles--;
    o->sum = (int)((unsigned)o->sum ^ (unsigned)a->dst.tensor);
    bool small = o->handles > 0 && SMALL_PART * o->bytes <= s->asked && s->asked >= WORTH_FREEING;
    if (!small || o->since >= 0 || s->device < 0) return;
    o->since = i;
    o->allocs = allocs[s->device];
}

/* Reported only if the device allocated memory meanwhile: else nothing else needed the bytes. */
static void check_hold(findings *f, const history *h, const hold *o, int i, int allocs)
{
    const storage *s = &h->storages[i];
    if (o->since < 0 || allocs <= o->allocs || s->answered) return;
    bool single = o->handles == 1 && o->sum >= 0 && o->sum < h->tensor_count;
    char shown[32], kept[32];
    int made = single ? h->tensors[o->sum].made : s->born;
    finding *x = found(f, h, h->acts[made].site, made, 0, s->bytes - o->bytes);
    if (!x || x->times > 1) return;
    say_what(x, "%s%s uses %s, but keeps the whole tensor that it views allocated (%s), although that one was freed.",
             single && h->tensors[o->sum].name < 0 ? "a view of " : "", single ? name_of(h, o->sum) : "a view",
             amount_of(o->bytes, shown), amount_of(s->bytes, kept));
    say_fix(x, "copy the part (fy_clone) and free the view before you free the large tensor");
}

void rule_small_view(findings *f, const history *h)
{
    int allocs[MOST_CARDS + 1] = {0};
    hold *all = memory_zeroed((size_t)h->storage_count + 1, sizeof *all, "the findings");
    for (int i = 0; i < h->storage_count; i++) all[i].since = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        int s = a->dst.storage;
        if (a->kind == FY_KIND_tensor) handle_created(h, all, a);
        else if (a->kind == FY_KIND_drop) handle_dropped(h, all, i, allocs);
        else if (a->kind == FY_KIND_alloc && a->device >= 0) allocs[a->device]++;
        else if (a->kind == FY_KIND_free && s >= 0 && h->storages[s].device >= 0) {
            if (all[s].handles > 0 || all[s].since >= 0) check_hold(f, h, &all[s], s, allocs[h->storages[s].device]);
            all[s].since = -1;
        }
    }
    for (int i = 0; i < h->storage_count; i++)
        if (h->storages[i].device >= 0) check_hold(f, h, &all[i], i, allocs[h->storages[i].device]);
    free(all);
}

/* ---- which card ---- */

enum { THREADS = 64 };

/* The card on which an act creates a tensor without operands on it: the program chose it. 0: none. */
static int chosen_card(const history *h, const act *a)
{
    int list[ACT_STORAGES];
    if (a->kind == FY_KIND_copy) return a->dir == FY_WORD_h2d && a->why == FY_WORD_user ? a->dst.device : 0;
    bool fresh = a->kind == FY_KIND_op && a->nin == 0 && act_writes(h, a, list) == 1;
    return fresh && h->storages[list[0]].first_touch == a - h->acts ? a->device : 0;
}

void rule_other_card(findings *f, const history *h)
{
    int current_of[THREADS] = {0}; /* 0: the thread never set one */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->thread >= THREADS) continue;
        if (a->kind == FY_KIND_set_device && a->device > 0) current_of[a->thread] = a->device;
        int current = current_of[a->thread], card = current ? chosen_card(h, a) : 0;
        if (card <= 0 || card == current) continue;

        int64_t bytes = a->kind == FY_KIND_copy ? a->bytes : h->storages[h->uses[a->first_use].storage].bytes;
        char here[16], there[16];
        finding *x = found(f, h, a->site, i, 0, bytes);
        if (!x || x->times > 1) continue;
        say_what(x, "a tensor is created on %s while the current card is %s: \"cuda\" means the current card.",
                 device_name(h, card, there), device_name(h, current, here));
        say_fix(x, "set the current card to the one that does the work, or create the tensor on %s", here);
    }
}

/* A thread set another current card and did not restore cuda:0, though it worked on both. */
void rule_device_not_restored(findings *f, const history *h)
{
    int set_by[THREADS];
    bool worked[THREADS] = {false}; /* on the first card */
    for (int i = 0; i < THREADS; i++) set_by[i] = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->thread >= THREADS) continue;
        if (a->kind == FY_KIND_set_device && a->device > 0) set_by[a->thread] = a->device == 1 ? -1 : i;
        if (a->kind == FY_KIND_op && a->device == 1) worked[a->thread] = true;
    }

    for (int t = 0; h->ended && t < THREADS; t++) {
        if (set_by[t] < 0 || !worked[t]) continue;
        const act *set = &h->acts[set_by[t]];
        char card[16];
        finding *x = found(f, h, set->site, set_by[t], 0, 0);
        if (!x || x->times > 1) continue;
        say_what(x, "%s becomes the current card here and stays current to the end, although other work ran on cuda:0.",
                 device_name(h, set->device, card));
        say_fix(x, "restore the previous current card: fy_cuda_set_device(0)");
    }
}
