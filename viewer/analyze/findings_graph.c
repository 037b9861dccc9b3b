/* findings_graph.c: the autograd graph in a history: its nodes, which of them backward passes ran, the handles that
 * they keep, the gradients that arrived. */
#include "event.h"
#include "findings_history.h"

#include <stdlib.h>
#include <string.h>

#include "memory.h"

static int tensor_of(const history *h, uint32_t id) { return id_map_find(&h->tensor_ids, id); }

static void make_node(history *h, const fy_event *e, act *a)
{
    const fy_ev_graph *is = &e->is.graph;
    int *at = is->node ? id_map_at(&h->node_ids, is->node) : NULL, i = h->node_count;
    node *made = at && *at < 0 ? HISTORY_ADD(h, node) : NULL;
    uint32_t id;
    if (!made) return;
    *at = a->node = i;
    *made = (node){.made = h->act_count - 1, .last_run = -1, .site = a->site, .op = a->name, .tensor = a->dst.tensor};
    made->first_edge = h->edge_count;
    made->is_leaf = a->name >= 0 && !strcmp(h->names[a->name], "leaf");
    for (size_t n = 0; fy_event_id(e, is->next, n, &id); n++) {
        edge *to = HISTORY_ADD(h, edge);
        if (!to) return;
        to->node = id_map_find(&h->node_ids, id);
        if (to->node >= i) to->node = -1; /* the graph has no cycles: a damaged log must not make one */
        made->nedges++;
    }
    for (size_t n = 0; fy_event_id(e, is->saves, n, &id); n++) {
        int x = tensor_of(h, id);
        if (x >= 0) h->tensors[x].saver = i;
    }
}

void history_add_graph(history *h, const fy_event *e)
{
    const fy_ev_graph *is = &e->is.graph;
    act *a = is->what == FY_WORD_release ? NULL : history_act(h, e);
    if (!a) return;
    a->type = is->what;
    a->name = name_index(h, fy_event_bytes(e, is->op));
    a->dst.tensor = tensor_of(h, is->tensor);
    if (is->what == FY_WORD_make) make_node(h, e, a);
    else a->node = id_map_find(&h->node_ids, is->node);
    if (is->what == FY_WORD_run && a->node >= 0) h->nodes[a->node].last_run = h->act_count - 1;
}

void history_add_backward(history *h, const fy_event *e)
{
    act *a = history_act(h, e);
    if (a) a->type = e->is.backward.what;
}

void history_add_grad(history *h, const fy_event *e)
{
    const fy_ev_grad *is = &e->is.grad;
    act *a = history_act(h, e);
    if (!a) return;
    a->src.tensor = tensor_of(h, is->leaf);
    a->dst.tensor = tensor_of(h, is->tensor);
    a->dst.storage = id_map_find(&h->storage_ids, is->storage);
}

void history_add_mode(history *h, const fy_event *e)
{
    act *a = history_act(h, e);
    if (!a) return;
    a->name = name_index(h, fy_event_bytes(e, e->is.mode.mode));
    a->type = e->is.mode.on ? FY_WORD_begin : FY_WORD_end;
}

/* ---- queries ---- */

int node_edge(const history *h, int n, int i)
{
    int to = i < h->nodes[n].nedges ? h->edges[h->nodes[n].first_edge + i].node : -1;
    return to >= 0 && !h->nodes[to].is_leaf ? to : -1;
}

/* The tensors that a copy, or an op with one operand, reads and writes. */
static bool converts(const history *h, const act *a, int *from, int *to)
{
    bool copy = a->kind == FY_KIND_copy, op = a->kind == FY_KIND_op && a->nin == 1 && a->nout == 1;
    *from = copy ? a->src.tensor : op ? h->uses[a->first_use].tensor : -1;
    *to = copy ? a->dst.tensor : op ? h->uses[a->first_use + 1].tensor : -1;
    return *from >= 0 && *to >= 0;
}

int *module_moves(const history *h)
{
    size_t bytes = ((size_t)h->tensor_count + 1) * sizeof(int);
    int *moved = memset(memory_realloc(NULL, bytes, 1, "the findings"), 0xff, bytes);
    int last = -1, from, to;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_copy || a->kind == FY_KIND_op) last = i;
        bool replaced = a->kind == FY_KIND_drop && a->why == FY_WORD_data && a->dst.tensor >= 0 && last >= 0;
        if (replaced && converts(h, &h->acts[last], &from, &to) && from == a->dst.tensor) moved[from] = last;
    }
    return moved;
}

bool is_step(const history *h, const act *error)
{
    const char *call = error->kind == FY_KIND_error && error->call >= 0 ? h->names[error->call] : "";
    return !strncmp(call, "fy_step(", 8) || !strncmp(call, "fy_scaler_step(", 15);
}

static int device_of(const history *h, int x)
{
    int s = x >= 0 ? h->tensors[x].storage : -1;
    return s >= 0 ? h->storages[s].device : -1;
}

int left_behind(const history *h, int i, int *move)
{
    const act *error = &h->acts[i];
    int left = -1, card = -1;
    if (error->kind != FY_KIND_error || error->name < 0 || strcmp(h->names[error->name], "device_mismatch")) return -1;
    for (int k = 0; k < error->nin; k++) {
        int x = h->uses[error->first_use + k].tensor, device = device_of(h, x);
        if (device == 0 && left < 0) left = x;
        if (device > 0) card = device;
    }
    if (left < 0 || card < 0) return -1;
    int *moved = module_moves(h);
    *move = -1;
    for (int x = 0; x < h->tensor_count; x++) {
        int k = moved[x];
        bool after = k > h->tensors[left].made && k < i && k > *move;
        if (after && h->acts[k].kind == FY_KIND_copy && h->acts[k].dst.device == card) *move = k;
    }
    free(moved);
    return *move >= 0 ? left : -1;
}

bool *leaf_storages(const history *h)
{
    bool *leaf = memory_zeroed((size_t)h->storage_count + 1, sizeof *leaf, "the findings");
    int *moved = module_moves(h);
    for (int i = 0; i < h->node_count; i++) {
        int x = h->nodes[i].is_leaf ? h->nodes[i].tensor : -1, from, to;
        while (x >= 0) {
            if (h->tensors[x].storage >= 0) leaf[h->tensors[x].storage] = true;
            bool on = moved[x] >= 0 && converts(h, &h->acts[moved[x]], &from, &to) && to > x;
            x = on ? to : -1;
        }
    }
    free(moved);
    return leaf;
}
