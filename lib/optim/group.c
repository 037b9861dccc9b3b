/* group.c: a step: the parameters in groups, which are updated as one. Without .foreach each is a group of its own. */
#include <stdio.h>
#include <stdlib.h>

#include "byte_range.h"
#include "composed.h"
#include "device.h"
#include "dispatch.h"
#include "event.h"
#include "optimizer.h"
#include "out_of_memory.h"
#include "shape.h"

/* ---- state --------------------------------------------------------------------------------------------------------- */

/* "0.weight.exp_avg" */
static fy_tensor *make_state(fy_site *at, const fy_group *g, const fy_trained_parameter *p, const char *name,
                             fy_tensor *first)
{
    char label[80], full[120];
    snprintf(full, sizeof full, "%s.%s", fy_tensor_label(p->x, label, sizeof label), name);
    fy_composed before = fy_compose((fy_composed){.on = true, .result = fy_name_intern(full)});
    fy_tensor *state = first ? fy_clone_at(at, first) : fy_zeros_like_at(at, p->x);
    fy_compose(before);
    if (!state) return NULL;
    if (fy_log_is_on())
        FY_EMIT(at, state, .parameter = p->x->id, .tensor = state->id, .storage = state->storage->id,
                .what = fy_ref_str(name), .optimizer = fy_ref_str(g->optimizer));
    return fy_scope_take(state);
}

/* The op that reads it would say so, but not how to avoid it. */
static bool is_with_gradient(fy_site *at, fy_tensor *state, fy_tensor *g)
{
    const fy_dev *a = g->storage->dev, *b = state->storage->dev;
    return a == b || fy_dev_copies_implicitly() ||
           fy_fail_about(at, "device_mismatch",
                         "move the module before the first fy_step: the state is made there, and stays", 2,
                         (fy_tensor *[]){state, g},
                         "Expected all tensors to be on the same device, but found at least two devices, %s and %s!",
                         a->name, b->name);
}

fy_tensor **fy_group_state(fy_site *at, fy_group *g, int i, const char *name, fy_tensor **first)
{
    fy_tensor **list = fy_group_list(g);
    for (size_t k = 0; k < g->n; k++) {
        fy_trained_parameter *p = g->p[k];
        if (!p->state[i]) p->state[i] = make_state(at, g, p, name, first ? first[k] : NULL);
        if (!(list[k] = p->state[i]) || !is_with_gradient(at, p->state[i], g->g[k])) return NULL;
    }
    return list;
}

/* ---- which parameters are updated together ------------------------------------------------------------------------- */

/* What a step knows of a parameter. */
typedef struct turn {
    fy_tensor *gradient;
    bool done;  /* or has no gradient */
    bool alone; /* does not fit into a launch with others */
} turn;

static bool do_overlap(const fy_tensor *a, const fy_tensor *b)
{
    int64_t first, bytes;
    if (a->storage != b->storage) return false;
    fy_geometry of_a = fy_geometry_of(a), of_b = fy_geometry_of(b);
    fy_layout la = fy_layout_of(&of_a), lb = fy_layout_of(&of_b);
    if (la.numel == 0 || lb.numel == 0) return false;
    fy_byte_range ra = fy_byte_range_of(&la, a->offset, a->element_size);
    fy_byte_range rb = fy_byte_range_of(&lb, b->offset, b->element_size);
    return fy_byte_ranges_meet(&ra, &rb, &first, &bytes);
}

/* A gradient or state of another device, dtype or layout, as PyTorch's fast path has it; or bytes that the update of
 * another parameter changes or reads, since then their order counts. */
static bool is_alone(const fy_optimizer *o, const turn *t, size_t i)
{
    const fy_trained_parameter *p = &o->p[i];
    if (!fy_foreach_takes(p->x, p->x) || !fy_foreach_takes(t[i].gradient, p->x)) return true;
    for (int s = 0; s < FY_MOST_STATES; s++)
        if (p->state[s] && !fy_foreach_takes(p->state[s], p->x)) return true;
    for (size_t k = 0; k < o->n; k++) {
        const fy_tensor *other = o->p[k].x, *its = t[k].gradient;
        if (k == i || !its) continue;
        if (do_overlap(p->x, other) || do_overlap(p->x, its) || do_overlap(t[i].gradient, other)) return true;
    }
    return false;
}

/* PyTorch groups by device and dtype. The number of steps is here the same for all, too, as Adam's scalars are
 * computed from it. */
static bool go_together(const fy_trained_parameter *a, const fy_trained_parameter *b)
{
    return a->x->storage->dev == b->x->storage->dev && a->x->dtype == b->x->dtype && a->steps == b->steps &&
           !a->state[0] == !b->state[0];
}

/* Parameter i, and all that are updated with it. */
static void gather(fy_optimizer *o, turn *t, size_t i, fy_group *g)
{
    g->n = 0;
    g->used = 2;
    g->foreach = o->foreach && !t[i].alone;
    for (size_t k = i; k < (g->foreach ? o->n : i + 1); k++) {
        if (t[k].done || (k > i && (t[k].alone || !go_together(&o->p[i], &o->p[k])))) continue;
        t[k].done = true;
        g->p[g->n++] = &o->p[k];
    }
    g->x = g->lists;
    g->g = g->lists + g->n;
    for (size_t k = 0; k < g->n; k++) {
        g->x[k] = g->p[k]->x;
        g->g[k] = t[g->p[k] - o->p].gradient;
    }
    for (size_t k = 0; k < g->n; k++) g->p[k]->steps++;
}

bool fy_step_groups(fy_site *at, fy_optimizer *o)
{
    bool ok = true;
    turn *t = calloc(o->n, sizeof *t);
    fy_group g = {
        .optimizer = o->name, .p = calloc(o->n, sizeof *g.p), .lists = calloc(o->n * FY_MOST_LISTS, sizeof *g.lists)};
    if (!t || !g.p || !g.lists) fy_out_of_memory("a step of an optimizer");
    for (size_t i = 0; i < o->n; i++) {
        t[i].gradient = fy_gradient_of(o->p[i].x);
        t[i].done = !t[i].gradient;
    }
    for (size_t i = 0; o->foreach && i < o->n; i++) t[i].alone = !t[i].done && is_alone(o, t, i);
    for (size_t i = 0; ok && i < o->n; i++) {
        if (t[i].done) continue;
        fy_scope scope = fy_scope_begin(at);
        gather(o, t, i, &g);
        ok = o->update(at, o, &g);
        fy_scope_end(&scope);
    }
    free(t);
    free(g.p);
    free(g.lists);
    return ok;
}
