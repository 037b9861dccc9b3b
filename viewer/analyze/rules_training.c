/* rules_training.c: rules about what a training program keeps and moves needlessly: graphs that outlive their step, or
 * that no backward pass uses; leaves that stay behind on the CPU; 16-bit products that cost more than they save. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "memory.h"

enum { STEPS = 3 }; /* iterations, from which on a line counts as a loop's */

static int *list_of(int count, int value)
{
    int *list = memory_realloc(NULL, (size_t)count + 1, sizeof *list, "the findings");
    for (int i = 0; i < count; i++) list[i] = value;
    return list;
}

/* Will a handle live on, as far as the log shows? One that the end of a program frees does not. */
static bool lives_on(const history *h, int x) { return h->tensors[x].dropped < 0 && !(h->ended && h->status == 0); }

/* ---- graphs that grow from step to step ---- */

/* The node that an accumulation continues, by way of operand i: made by the same line and op. Numbers may be multiplied
 * in between: such a node has no other operand in the graph, not even a leaf. */
static int earlier_turn(const history *h, int n, int i)
{
    const node *turn = &h->nodes[n];
    int at = node_edge(h, n, i);
    for (int steps = 0; at >= 0 && steps < 4; steps++) {
        const node *a = &h->nodes[at];
        int in_graph = 0, next = -1;
        if (a->site == turn->site && a->op == turn->op) return at;
        for (int k = 0; k < a->nedges; k++) {
            if (h->edges[a->first_edge + k].node >= 0) in_graph++;
            if (node_edge(h, at, k) >= 0) next = node_edge(h, at, k);
        }
        at = in_graph == 1 ? next : -1;
    }
    return -1;
}

typedef struct walk { /* through the graph behind a node */
    int *list, count; /* the nodes, each once */
    int *seen, turn;  /* by node: the last walk that found it */
} walk;

/* Nodes from `oldest` on: operands are older than results. */
static void walk_from(const history *h, walk *w, int from, int oldest)
{
    w->turn++;
    w->count = 0;
    if (from < oldest) return;
    w->seen[from] = w->turn;
    w->list[w->count++] = from;
    for (int k = 0; k < w->count; k++)
        for (int i = 0; i < h->nodes[w->list[k]].nedges; i++) {
            int to = node_edge(h, w->list[k], i);
            if (to < oldest || w->seen[to] == w->turn) continue;
            w->seen[to] = w->turn;
            w->list[w->count++] = to;
        }
}

/* Has operand `other` of a node been computed from its earlier turn? Then the line is a layer, as in x + f(x), and not
 * a sum over the steps. */
static bool is_layer(const history *h, walk *w, int other, int earlier)
{
    walk_from(h, w, other, earlier);
    return w->seen[earlier] == w->turn;
}

/* The node whose elements a view has. */
static int behind_views(const history *h, int n)
{
    static const char *const views[] = {"narrow", "select", "slice", "split"};
    for (size_t i = 0; n >= 0 && i < sizeof views / sizeof *views;) {
        const bool is_view = h->nodes[n].op >= 0 && !strcmp(h->names[h->nodes[n].op], views[i]);
        if (is_view) n = node_edge(h, n, 0);
        i = is_view ? 0 : i + 1;
    }
    return n;
}

/* Are operand `other` and one of the earlier turn's parts of one tensor? Then its parts are joined one by one. */
static bool is_of_one_tensor(const history *h, int other, int earlier)
{
    const int of = behind_views(h, other);
    bool yes = false;
    for (int k = 0; k < h->nodes[earlier].nedges; k++)
        if (node_edge(h, earlier, k) >= 0) yes |= of >= 0 && behind_views(h, node_edge(h, earlier, k)) == of;
    return yes && of != other;
}

/* The turn before node n, if n adds another result to a sum. */
static int turn_before(const history *h, walk *w, int n)
{
    if (h->nodes[n].nedges != 2 || h->nodes[n].site < 0) return -1;
    for (int i = 0; i < 2; i++) {
        int earlier = earlier_turn(h, n, i), other = node_edge(h, n, 1 - i);
        if (earlier < 0 || other < 0 || is_of_one_tensor(h, other, earlier)) continue;
        if (!is_layer(h, w, other, earlier)) return earlier;
    }
    return -1;
}

/* Bytes of the storages that the walk's nodes still keep when act `now` is done, each once, without those of leaves. */
static int64_t saved_bytes(const history *h, const walk *w, int now, const bool *leaf)
{
    bool *counted = memory_zeroed((size_t)h->storage_count + 1, sizeof *counted, "the findings");
    int64_t bytes = 0;
    for (int x = 0; x < h->tensor_count; x++) {
        const tensor *t = &h->tensors[x];
        bool kept = t->saver >= 0 && w->seen[t->saver] == w->turn && t->made <= now &&
                    (t->dropped < 0 || t->dropped > now) && t->storage >= 0;
        if (!kept || leaf[t->storage] || counted[t->storage]) continue;
        counted[t->storage] = true;
        bytes += h->storages[t->storage].bytes;
    }
    free(counted);
    return bytes;
}

/* head: the last turn of so many; first: the second one, which shows it. */
static void graph_kept(findings *f, const history *h, walk *w, int head, int turns, int first, const bool *leaf)
{
    const node *n = &h->nodes[head];
    walk_from(h, w, head, 0);
    int64_t bytes = saved_bytes(h, w, n->made, leaf);
    int nodes = w->count;
    finding *x = found(f, h, n->site, h->nodes[first].made, 0, bytes);
    if (!x) return;
    x->times += turns - 1;
    if (x->what[0]) return;
    char label[64], each[32], words[80] = "";
    if (bytes) snprintf(words, sizeof words, ", and keeps %s for gradients", amount_of(bytes / turns, each));
    say_what(
        x,
        "%s is no number: it keeps the graph of each of its %d terms. Every iteration adds %d nodes%s; no backward "
        "pass uses them.",
        label_of(h, n->tensor, n->tensor >= 0 ? h->tensors[n->tensor].storage : -1, label), turns, nodes / turns,
        words);
    say_fix(x,
            "add values without a graph: fy_add_(total, fy_detach(loss)); or fy_item(loss), which waits for the card");
}

void rule_graph_kept(findings *f, const history *h)
{
    walk w = {.list = list_of(h->node_count, -1), .seen = list_of(h->node_count, 0)};
    int *turns = list_of(h->node_count, 1), *first = list_of(h->node_count, -1);
    bool *continued = memory_zeroed((size_t)h->node_count + 1, sizeof *continued, "the findings");
    bool *leaf = leaf_storages(h);
    for (int i = 0; i < h->node_count; i++) {
        int earlier = turn_before(h, &w, i);
        if (earlier < 0) continue;
        turns[i] = turns[earlier] + 1;
        first[i] = first[earlier] >= 0 ? first[earlier] : i;
        continued[earlier] = true;
    }
    for (int i = 0; i < h->node_count; i++) {
        int x = h->nodes[i].tensor;
        bool over = x >= 0 && !lives_on(h, x);
        if (turns[i] >= STEPS && !continued[i] && h->nodes[i].last_run < 0 && over)
            graph_kept(f, h, &w, i, turns[i], first[i], leaf);
    }
    free(w.list);
    free(w.seen);
    free(turns);
    free(first);
    free(continued);
    free(leaf);
}

/* ---- graphs that no backward pass uses ---- */

typedef struct graph { /* nodes that edges connect, apart from leaves; by its first node */
    bool used;         /* a backward pass ran a node, or may still */
    int saver;         /* the first node that saves something; -1 */
    int last;          /* the last act that released something */
    int64_t bytes;     /* of the storages that it saves, each once, without those of leaves */
} graph;

static int root_of(int *parent, int i)
{
    while (parent[i] != i) i = parent[i] = parent[parent[i]];
    return i;
}

static int *connect(const history *h)
{
    int *parent = list_of(h->node_count, 0);
    for (int i = 0; i < h->node_count; i++) {
        parent[i] = i;
        for (int k = 0; k < h->nodes[i].nedges; k++) {
            int to = node_edge(h, i, k);
            int one = root_of(parent, i), other = to >= 0 ? root_of(parent, to) : one;
            if (one < other) parent[other] = one;
            else parent[one] = other;
        }
    }
    return parent;
}

static graph *graphs_of(const history *h, int *parent)
{
    graph *all = memory_zeroed((size_t)h->node_count + 1, sizeof *all, "the findings");
    bool *leaf = leaf_storages(h);
    id_map counted = {0}; /* by graph and storage */
    for (int i = 0; i < h->node_count; i++) {
        all[i].saver = -1;
        if (h->nodes[i].last_run >= 0) all[root_of(parent, i)].used = true;
    }
    for (int x = 0; x < h->tensor_count; x++) {
        const tensor *t = &h->tensors[x];
        if (t->saver < 0 || t->storage < 0 || leaf[t->storage]) continue;
        int root = root_of(parent, t->saver);
        graph *g = &all[root];
        if (lives_on(h, x)) g->used = true;
        if (g->saver < 0 || t->saver < g->saver) g->saver = t->saver;
        int released = t->dropped >= 0 ? t->dropped : h->act_count - 1;
        if (released > g->last) g->last = released;
        int *at = id_map_at(&counted, id_map_mix(((uint64_t)root << 32) + (uint64_t)t->storage + 1) | 1);
        if (*at < 0) g->bytes += h->storages[t->storage].bytes;
        *at = x;
    }
    id_map_free(&counted);
    free(leaf);
    return all;
}

/* "this line 8192 bytes, line 7 4096 bytes": where a graph saved what. */
static void name_savers(const history *h, int *parent, int root, int site, char *out, size_t room)
{
    enum { LINES = 4 }; /* named */
    struct {
        int site;
        int64_t bytes;
    } lines[LINES];
    bool *counted = leaf_storages(h), more = false;
    int count = 0, at;
    for (int x = 0; x < h->tensor_count; x++) {
        const tensor *t = &h->tensors[x];
        if (t->saver < 0 || t->storage < 0 || counted[t->storage] || root_of(parent, t->saver) != root) continue;
        counted[t->storage] = true;
        for (at = 0; at < count && lines[at].site != h->nodes[t->saver].site;) at++;
        more |= at == LINES;
        if (at == LINES) continue;
        if (at == count) lines[count++].site = h->nodes[t->saver].site, lines[at].bytes = 0;
        lines[at].bytes += h->storages[t->storage].bytes;
    }
    free(counted);
    size_t n = 0;
    for (at = 0; at < count && n + 140 < room; at++) {
        char where[96], bytes[32];
        n += (size_t)snprintf(out + n, room - n, "%s%s: %s", at ? ", " : "", line_of(h, lines[at].site, site, where),
                              amount_of(lines[at].bytes, bytes));
    }
    if (more && n + 10 < room) snprintf(out + n, room - n, " ...");
}

static void graph_unused(findings *f, const history *h, int *parent, int root, const graph *g)
{
    const node *n = &h->nodes[g->saver];
    int64_t kept = h->acts[g->last].t - h->acts[n->made].t;
    finding *x = found(f, h, n->site, n->made, 0, g->bytes);
    if (!x || x->times > 1) return;
    char lines[400] = "", bytes[32], time[32];
    name_savers(h, parent, root, n->site, lines, sizeof lines);
    say_what(x, "a graph was recorded that no backward pass uses: it kept %s for gradients (%s), for %s.",
             amount_of(g->bytes, bytes), lines, time_text(kept > 0 ? kept : 0, time));
    say_fix(x, "FY_NO_GRAD { ... } around what needs no gradient, such as an evaluation: fy_eval alone records graphs");
}

void rule_graph_unused(findings *f, const history *h)
{
    int *parent = connect(h);
    graph *all = graphs_of(h, parent);
    for (int i = 0; i < h->node_count; i++)
        if (all[i].saver >= 0 && !all[i].used && all[i].bytes > 0) graph_unused(f, h, parent, i, &all[i]);
    free(all);
    free(parent);
}

/* ---- leaves that stay on the CPU ---- */

/* The leaf that node n copies from the CPU to a card; -1: it is no such node. */
static int leaf_moved(const history *h, int n)
{
    const node *to = &h->nodes[n];
    int from = to->nedges == 1 ? h->edges[to->first_edge].node : -1;
    if (from < 0 || !h->nodes[from].is_leaf || to->op < 0 || strcmp(h->names[to->op], "to") != 0) return -1;
    int leaf = h->nodes[from].tensor, x = to->tensor;
    int s = leaf >= 0 ? h->tensors[leaf].storage : -1, there = x >= 0 ? h->tensors[x].storage : -1;
    return s >= 0 && there >= 0 && h->storages[s].device == 0 && h->storages[there].device > 0 ? leaf : -1;
}

typedef struct arrivals { /* by tensor: the gradients of a leaf that came back to the CPU */
    int count;
    bool read; /* the CPU read one */
} arrivals;

static arrivals *count_arrivals(const history *h)
{
    arrivals *all = memory_zeroed((size_t)h->tensor_count + 1, sizeof *all, "the findings");
    int leaf = -1; /* of the node that a backward pass runs */
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_graph && a->type == FY_WORD_run) leaf = a->node >= 0 ? leaf_moved(h, a->node) : -1;
        if (a->kind == FY_KIND_copy && a->why == FY_WORD_grad && a->dir == FY_WORD_d2h && leaf >= 0) all[leaf].count++;
        if (a->kind == FY_KIND_grad && a->src.tensor >= 0 && a->dst.storage >= 0)
            all[a->src.tensor].read |= h->storages[a->dst.storage].last_read > i;
    }
    return all;
}

/* back: a gradient's copy; up: the leaf's, NULL if it is counted. */
static void trained_elsewhere(findings *f, const history *h, int n, int leaf, const act *back, const act *up)
{
    const node *to = &h->nodes[n];
    int card = h->storages[h->tensors[to->tensor].storage].device;
    finding *x = found(f, h, to->site, up ? act_index(h, up) : to->made, act_ns(h, back) + (up ? act_ns(h, up) : 0),
                       back->bytes + (up ? up->bytes : 0));
    if (!x || x->times > 1) return;
    char line[96], name[16];
    device_name(h, card, name);
    say_what(x,
             "%s is a leaf on the CPU (%s). Its copy on %s is a result of it: each gradient is copied back to the CPU, "
             "where fy_grad and an optimizer find it, and not on the card.",
             name_of(h, leaf), line_of(h, h->tensors[leaf].site, to->site, line), name);
    say_fix(x,
            "make the leaf on the card: .device = \"%s\" in the call that creates it, or fy_requires_grad_ on the copy "
            "in place of the original; and give that one to the optimizer",
            name);
}

/* One gradient that the program reads on the CPU may be what it wants; so may a leaf for which the card has no room. */
void rule_trained_elsewhere(findings *f, const history *h)
{
    arrivals *all = count_arrivals(h);
    bool *copied = memory_zeroed((size_t)h->node_count + 1, sizeof *copied, "the findings"); /* its copy is counted */
    int n = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_graph && a->type == FY_WORD_run) n = a->node;
        if (a->kind != FY_KIND_copy || a->why != FY_WORD_grad || a->dir != FY_WORD_d2h || n < 0) continue;
        int leaf = leaf_moved(h, n);
        if (leaf < 0 || !(all[leaf].count > 1 || (!all[leaf].read && h->ended && h->status == 0))) continue;
        const storage *there = &h->storages[h->tensors[h->nodes[n].tensor].storage];
        const act *up = !copied[n] && there->first_touch >= 0 ? &h->acts[there->first_touch] : NULL;
        copied[n] = true;
        if (!had_room(h, there->device, there->bytes)) continue;
        trained_elsewhere(f, h, n, leaf, a, up && up->kind == FY_KIND_copy ? up : NULL);
    }
    free(copied);
    free(all);
}

/* ---- autocast ---- */

enum { THREADS = 64, KINDS = 2 /* the CPU, cards */ };

typedef struct region { /* by site: the FY_AUTOCAST blocks of one line */
    int blocks, first;  /* the act that began the first */
    int64_t casts, cast_ns, saved_ns;
} region;

typedef struct open_block { /* of one thread, for one kind of device */
    int site;               /* -1: none */
    bool paused;            /* by FY_NO_AUTOCAST */
} open_block;

/* A block inside another changes only the dtype: its work counts for the outer one. */
static void note_mode(const history *h, int i, open_block *blocks, region *all)
{
    const act *a = &h->acts[i];
    const char *name = a->name >= 0 ? h->names[a->name] : "";
    if (strncmp(name, "autocast ", 9) != 0 || a->thread >= THREADS || a->site < 0) return;
    open_block *b = &blocks[KINDS * a->thread + !strncmp(name + 9, "cuda", 4)];
    if (a->type == FY_WORD_begin && b->site < 0) {
        *b = (open_block){.site = a->site};
        if (!all[a->site].blocks++) all[a->site].first = i;
    } else if (a->type == FY_WORD_begin) {
        b->paused = false;
    } else if (a->site == b->site) {
        b->site = -1;
    } else {
        b->paused = true;
    }
}

static bool is_half(uint8_t dtype) { return dtype == FY_WORD_float16 || dtype == FY_WORD_bfloat16; }

/* A conversion between float32 and a 16-bit dtype. */
static bool is_half_cast(const history *h, const act *a)
{
    if (!is_op(h, a, "cast") || a->nin != 1 || a->nout != 1) return false;
    int in = h->uses[a->first_use].tensor, out = h->uses[a->first_use + 1].tensor;
    if (in < 0 || out < 0) return false;
    uint8_t from = h->tensors[in].dtype, to = h->tensors[out].dtype;
    return (is_half(from) && to == FY_WORD_float32) || (from == FY_WORD_float32 && is_half(to));
}

/* ns that a 16-bit operation saved: the same one of float32 moves twice the bytes, and computes at that rate. */
static int64_t saved_by_half(const history *h, const act *a)
{
    const figures *model = &h->device[a->device].model;
    double compute = (double)a->flops / model->flops, memory = 2 * (double)a->bytes / model->bandwidth; /* s */
    double wide = 1e9 * (compute > memory ? compute : memory);
    int64_t took = a->end - a->start - model->latency;
    return wide < 1e15 ? (int64_t)wide - (took > 0 ? took : 0) : 0;
}

static void count_work(const history *h, const act *a, region *to)
{
    const figures *model = a->device >= 0 ? &h->device[a->device].model : NULL;
    if (!model || model->flops <= 0 || model->bandwidth <= 0 || !a->completed) return;
    bool cast = is_half_cast(h, a);
    to->casts += cast;
    if (cast) to->cast_ns += act_ns(h, a);
    else if (is_half(a->type) && !is_op(h, a, "cast")) to->saved_ns += saved_by_half(h, a);
}

/* By site: what the blocks there cost and save. The work of a backward pass counts where its nodes were recorded. */
static region *regions_of(const history *h)
{
    open_block blocks[KINDS * THREADS];
    region *all = memory_zeroed((size_t)h->site_count + 1, sizeof *all, "the findings");
    int *recorded_in = list_of(h->node_count, -1), running[THREADS];
    for (int i = 0; i < KINDS * THREADS; i++) blocks[i] = (open_block){.site = -1};
    for (int i = 0; i < THREADS; i++) running[i] = -1;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->thread >= THREADS) continue;
        if (a->kind == FY_KIND_mode) note_mode(h, i, blocks, all);
        int *run = &running[a->thread];
        const open_block *b = &blocks[KINDS * a->thread];
        if (a->kind == FY_KIND_graph && a->node >= 0) {
            int x = h->nodes[a->node].tensor, s = x >= 0 ? h->tensors[x].storage : -1;
            bool card = s >= 0 && h->storages[s].device > 0;
            if (a->type == FY_WORD_make) recorded_in[a->node] = b[card].paused ? -1 : b[card].site;
            else *run = recorded_in[a->node];
        }
        if (a->kind == FY_KIND_backward) *run = -1;
        if (a->kind != FY_KIND_op) continue;
        int site = *run >= 0 ? *run : b[a->device > 0].paused ? -1 : b[a->device > 0].site;
        if (site >= 0) count_work(h, a, &all[site]);
    }
    free(recorded_in);
    return all;
}

void rule_autocast_without_gain(findings *f, const history *h)
{
    if (h->measured) return; /* how long float32 would have taken is a model's answer */
    region *all = regions_of(h);
    for (int site = 0; site < h->site_count; site++) {
        const region *r = &all[site];
        if (r->casts == 0 || r->cast_ns <= r->saved_ns) continue;
        finding *x = found(f, h, site, r->first, r->cast_ns - r->saved_ns, 0);
        if (!x) continue;
        char casts[32], saved[32];
        x->times = r->blocks;
        say_what(x, "%lld casts of this block took %s with their calls, and its 16-bit operations %s %s.",
                 (long long)r->casts, time_text(r->cast_ns, casts), r->saved_ns < 0 ? "lost" : "saved",
                 time_text(r->saved_ns < 0 ? -r->saved_ns : r->saved_ns, saved));
        say_fix(x, "leave small operations in float32, or give each more rows at once; parameters that are 16-bit "
                   "themselves (fy_module_to(net, FY_BFLOAT16)) need no cast");
    }
    free(all);
}
