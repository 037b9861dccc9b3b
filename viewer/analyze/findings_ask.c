/* findings_ask.c: queries that the rules share, and the phrases of their messages. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

static bool is_among(int i, const int *list, int n)
{
    while (n > 0 && list[n - 1] != i) n--;
    return i >= 0 && n > 0;
}

/* Distinct storages: an op may use one twice. */
static int uses_of(const history *h, int first, int n, int out[ACT_STORAGES])
{
    int count = 0;
    for (int i = 0; i < n && count < ACT_STORAGES; i++) {
        int s = h->uses[first + i].storage;
        if (s >= 0 && !is_among(s, out, count)) out[count++] = s;
    }
    return count;
}

int act_reads(const history *h, const act *a, int out[ACT_STORAGES])
{
    if (a->kind == FY_KIND_op) return uses_of(h, a->first_use, a->nin, out);
    bool host = a->kind == FY_KIND_host_read || a->kind == FY_KIND_answer;
    out[0] = a->kind == FY_KIND_copy ? a->src.storage : host ? a->dst.storage : -1;
    return out[0] >= 0;
}

int act_writes(const history *h, const act *a, int out[ACT_STORAGES])
{
    if (a->kind == FY_KIND_op) return uses_of(h, a->first_use + a->nin, a->nout, out);
    out[0] = a->kind == FY_KIND_copy || a->kind == FY_KIND_host_write ? a->dst.storage : -1;
    return out[0] >= 0;
}

bool act_wrote(const history *h, const act *a, int i)
{
    int list[ACT_STORAGES];
    return is_among(i, list, act_writes(h, a, list));
}

bool act_touches(const history *h, const act *a, int i)
{
    int list[ACT_STORAGES];
    return act_wrote(h, a, i) || is_among(i, list, act_reads(h, a, list));
}

bool act_reads_too(const history *h, const act *a, int i)
{
    int list[ACT_STORAGES];
    return act_wrote(h, a, i) && is_among(i, list, act_reads(h, a, list));
}

int act_index(const history *h, const act *a) { return (int)(a - h->acts); }

bool is_open(const history *h, int i, int now) { return h->storages[i].opened >= 0 && h->storages[i].opened < now; }

int act_of_seq(const history *h, int64_t seq)
{
    int low = 0, high = h->act_count;
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (h->acts[middle].seq < seq) low = middle + 1;
        else high = middle;
    }
    return low < h->act_count && h->acts[low].seq == seq ? low : -1;
}

bool act_on_card(const act *a) { return a->device > 0 && (a->kind == FY_KIND_op || a->kind == FY_KIND_copy); }

int64_t act_ns(const history *h, const act *a)
{
    if (!a->completed) return a->held;
    const card_seen *card = a->device >= 0 ? &h->device[a->device] : NULL;
    int64_t call = !card ? 0 : a->kind == FY_KIND_op ? card->launch_overhead : card->call_overhead;
    return a->end - a->start + call;
}

bool is_op(const history *h, const act *a, const char *name)
{
    return a->kind == FY_KIND_op && a->name >= 0 && !strcmp(h->names[a->name], name);
}

bool had_room(const history *h, int device, int64_t bytes)
{
    if (device < 0 || !h->device[device].capacity) return true;
    return h->device[device].peak + bytes <= h->device[device].capacity;
}

const char *name_of(const history *h, int i)
{
    for (int steps = 0; i >= 0 && steps < 8; steps++, i = h->tensors[i].view_of)
        if (h->tensors[i].name >= 0) return h->names[h->tensors[i].name];
    return "a tensor";
}

const char *label_of(const history *h, int x, int s, char out[64])
{
    const act *made = s >= 0 && h->storages[s].first_touch >= 0 ? &h->acts[h->storages[s].first_touch] : NULL;
    bool computed = made && made->kind == FY_KIND_op && made->name >= 0;
    const char *name = name_of(h, x);
    if (!computed || strcmp(name, "a tensor") != 0) snprintf(out, 64, "%.60s", name);
    else if (is_op(h, made, "fill")) snprintf(out, 64, "a tensor filled with one value");
    else snprintf(out, 64, "the result of %.40s", h->names[made->name]);
    return out;
}

const char *device_name(const history *h, int device, char out[16])
{
    if (device > 0 && *h->device[device].name) snprintf(out, 16, "%s", h->device[device].name);
    else if (device > 0) snprintf(out, 16, "cuda:%d", (device - 1) % 100);
    else snprintf(out, 16, "%s", device ? "a device" : "the CPU");
    return out;
}

const char *amount_of(int64_t bytes, char out[32])
{
    static const char *const units[] = {"KiB", "MiB", "GiB"};
    double n = (double)bytes / 1024;
    int unit = 0;
    while (n >= 1024 && unit < 2) n /= 1024, unit++;
    if (bytes < 4096) snprintf(out, 32, "%lld bytes", (long long)bytes);
    else
        snprintf(out, 32, "%.*f %s",
                 n < 10 && n != (double)(int64_t)n    ? 2
                 : n < 100 && n != (double)(int64_t)n ? 1
                                                      : 0,
                 n, units[unit]);
    return out;
}

const char *time_text(int64_t ns, char out[32])
{
    if (ns < 10000) snprintf(out, 32, "%lld ns", (long long)ns);
    else if (ns < 10000000) snprintf(out, 32, "%.1f us", (double)ns / 1e3);
    else if (ns < 10000000000) snprintf(out, 32, "%.1f ms", (double)ns / 1e6);
    else snprintf(out, 32, "%.1f s", (double)ns / 1e9);
    return out;
}

const char *line_of(const history *h, int at, int from, char out[96])
{
    if (at < 0) snprintf(out, 96, "another place");
    else if (at == from) snprintf(out, 96, "this line");
    else if (from >= 0 && h->sites[at].file == h->sites[from].file) snprintf(out, 96, "line %d", h->sites[at].line);
    else snprintf(out, 96, "%.70s:%d", h->names[h->sites[at].file], h->sites[at].line);
    return out;
}

int *by_storage(const history *h)
{
    size_t bytes = ((size_t)h->storage_count + 1) * sizeof(int);
    return memset(memory_realloc(NULL, bytes, 1, "the findings"), 0xff, bytes);
}

void written_now(const history *h, int a, int *written_by)
{
    int list[ACT_STORAGES];
    for (int n = act_writes(h, &h->acts[a], list); n-- > 0;) written_by[list[n]] = a;
}

/* ---- copied once, before a loop ---- */

typedef struct reading { /* by storage: reads by ops */
    int first;           /* the act; -1 */
    bool again;          /* one line read it more than once: a loop */
} reading;

static void note_readings(const history *h, reading *all)
{
    id_map seen = {0};
    int list[ACT_STORAGES];
    for (int i = 0; i < h->storage_count; i++) all[i].first = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        for (int n = a->kind == FY_KIND_op && a->site >= 0 ? act_reads(h, a, list) : 0; n-- > 0;) {
            reading *r = &all[list[n]];
            uint64_t key = id_map_mix(((uint64_t)a->site << 32) + (uint64_t)(a->name + 2)) + (uint64_t)list[n];
            int *at = id_map_at(&seen, id_map_mix(key) | 1);
            if (*at >= 0) r->again = true;
            *at = i;
            if (r->first < 0) r->first = i;
        }
    }
    id_map_free(&seen);
}

/* By site: does it copy again after what it copied was first read? Then the copy itself is in the loop. */
static bool *sites_in_loop(const history *h, const reading *all)
{
    bool *in_loop = memory_zeroed((size_t)h->site_count + 1, sizeof *in_loop, "the findings");
    int *first_read = memory_realloc(NULL, (size_t)h->site_count + 1, sizeof *first_read, "the findings");
    for (int i = 0; i < h->site_count; i++) first_read[i] = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        if (c->kind != FY_KIND_copy || c->site < 0 || c->dst.storage < 0) continue;
        int *read = &first_read[c->site], mine = all[c->dst.storage].first;
        if (*read >= 0 && *read < i) in_loop[c->site] = true;
        if (mine >= 0 && (*read < 0 || mine < *read)) *read = mine;
    }
    free(first_read);
    return in_loop;
}

bool *set_up_copies(const history *h)
{
    reading *all = memory_zeroed((size_t)h->storage_count + 1, sizeof *all, "the findings");
    bool *set_up = memory_zeroed((size_t)h->act_count + 1, sizeof *set_up, "the findings");
    note_readings(h, all);
    bool *in_loop = sites_in_loop(h, all);
    for (int i = 0; i < h->act_count; i++) {
        const act *c = &h->acts[i];
        bool up = c->kind == FY_KIND_copy && c->dir == FY_WORD_h2d && c->why == FY_WORD_user && c->dst.storage >= 0;
        set_up[i] = up && c->site >= 0 && all[c->dst.storage].again && !in_loop[c->site];
    }
    free(in_loop);
    free(all);
    return set_up;
}
