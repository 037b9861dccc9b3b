/* hazard.c: accesses that nothing orders: found before a work is done, told when its event is there. The only
 * emitter of hazard. */
#include "hazard.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "out_of_memory.h"
#include "seen.h"
#include "site.h"
#include "stream.h"

void fy_deed_add(fy_deed *w, int agent, const fy_tensor *x, bool write, uint8_t bit)
{
    for (int d = 0; d < x->ndim; d++)
        if (x->shape[d] == 0) return;
    w->access[w->n++] = (fy_access){.tensor = x, .agent = agent, .write = write, .bit = bit, .bytes = fy_reach_of(x)};
}

/* ---- finding ---- */

static fy_word type_of(const fy_access *a, const fy_past *p)
{
    if (p->dead) return FY_WORD_reuse;
    if (a->agent != FY_HOST) return FY_WORD_race;
    return a->write ? FY_WORD_write_early : FY_WORD_read_early;
}

/* Who reads finds the old or the new; where both write, what is left is either's. */
static void spoil(fy_races *races, const fy_access *a, const fy_past *p)
{
    uint8_t own = p->write ? a->bit : 0, its = a->write ? p->bit : 0;
    int i = 0;
    races->own |= own;
    while (i < races->n && races->earlier[i].id != p->id) i++;
    if (!its || i == FY_MOST_RACES) return;
    if (i == races->n) {
        races->earlier[i].id = p->id;
        races->earlier[i].bits = 0;
        races->n++;
    }
    races->earlier[i].bits |= its;
}

/* The place for a pair of works: told once, by a write where there is one. */
static fy_found *place_for(fy_deed *w, const fy_past *p)
{
    for (int i = 0; i < w->nfound; i++)
        if (w->found[i].id == p->id && p->id) return p->write && !w->found[i].written ? &w->found[i] : NULL;
    fy_found *found = realloc(w->found, (size_t)(w->nfound + 1) * sizeof *found);
    if (!found) fy_out_of_memory("the hazards of a work");
    w->found = found;
    return &w->found[w->nfound++];
}

static void note(fy_deed *w, int i, const fy_past *p, int64_t first, int64_t bytes)
{
    fy_found *f = place_for(w, p);
    if (!f) return;
    *f = (fy_found){.id = p->id,
                    .later = i,
                    .type = type_of(&w->access[i], p),
                    .written = p->write,
                    .home = p->home,
                    .agent = p->agent,
                    .seq = p->seq,
                    .first = first,
                    .bytes = bytes,
                    .name = p->name,
                    .tensor = p->tensor};
}

static void look_at(fy_deed *w, int i, fy_races *races)
{
    const fy_access *a = &w->access[i];
    const fy_seen *seen = a->tensor->storage->seen;
    int64_t first, bytes;
    for (uint32_t k = 0; seen && k < seen->n; k++) {
        const fy_past *p = &seen->list[k];
        if (p->agent == a->agent || (!p->write && !a->write)) continue;
        if (fy_order_reaches_locked(a->agent, p->agent, p->epoch)) continue;
        if (!fy_reach_meet(&a->bytes, &p->bytes, &first, &bytes)) continue;
        note(w, i, p, first, bytes);
        if (races && a->agent != FY_HOST) spoil(races, a, p);
    }
}

static void remember(const fy_deed *w, const fy_access *a)
{
    if (a->agent == FY_HOST) return;
    fy_seen_add(a->tensor->storage, &(fy_past){.bytes = a->bytes,
                                               .name = a->tensor->name,
                                               .id = w->id,
                                               .epoch = a->epoch,
                                               .tensor = a->tensor->id,
                                               .agent = (uint16_t)a->agent,
                                               .write = a->write,
                                               .bit = a->bit});
}

/* One tick for each agent; a copy between two cards is in the order of both. */
static void issue(fy_deed *w)
{
    int first = FY_HOST, second = FY_HOST;
    uint32_t epochs[2] = {0};
    for (int i = 0; i < w->n; i++) {
        int agent = w->access[i].agent;
        if (agent == FY_HOST || agent == first || agent == second) continue;
        *(first == FY_HOST ? &first : &second) = agent;
    }
    if (first != FY_HOST) epochs[0] = fy_order_issue_locked(first);
    if (second != FY_HOST) epochs[1] = fy_order_issue_locked(second);
    if (second != FY_HOST) fy_order_meet_locked(first, second);
    for (int i = 0; i < w->n; i++) w->access[i].epoch = epochs[w->access[i].agent != first];
}

void fy_deed_check(fy_deed *w, fy_races *races)
{
    if (!w->n) return;
    fy_order_lock();
    issue(w);
    for (int i = 0; i < w->n; i++) look_at(w, i, races);
    for (int i = 0; i < w->n; i++) remember(w, &w->access[i]);
    fy_order_unlock();
}

/* ---- telling ---- */

/* Without a log the values alone would tell, and a NaN says little. Once is enough. */
static void warn(const fy_deed *w, fy_site *at)
{
    static atomic_flag said = ATOMIC_FLAG_INIT;
    const fy_found *f = &w->found[0];
    char fix[600];
    if (!at || fy_narrates() || atomic_flag_test_and_set(&said)) return;
    fprintf(stderr,
            "ferry: %s:%d: %s(%s): a hazard: nothing orders this and an earlier access to the same bytes\n"
            "  fix: %s. FERRY_NARRATE=1 tells of every hazard, with both lines.\n",
            fy_site_file(at->file), at->line, at->call, at->args, fy_remedy(f, &w->access[f->later], fix, sizeof fix));
}

static void tell(const fy_deed *w, fy_site *at, uint64_t seq)
{
    char fix[600];
    if (w->nfound) warn(w, at);
    for (int i = 0; i < w->nfound && fy_log_is_on(); i++) {
        const fy_found *f = &w->found[i];
        const fy_access *later = &w->access[f->later];
        FY_EMIT(at, hazard, .type = (uint8_t)f->type, .storage = later->tensor->storage->id, .first = f->first,
                .bytes = f->bytes, .a = f->seq, .b = seq + 1, .fix = fy_ref_str(fy_remedy(f, later, fix, sizeof fix)));
    }
}

static void end(fy_deed *w, void (*f)(fy_seen *, const fy_access *, uint64_t), uint64_t seq)
{
    fy_order_lock();
    for (int i = 0; i < w->n; i++)
        if (w->access[i].agent != FY_HOST && w->access[i].tensor->storage->seen)
            f(w->access[i].tensor->storage->seen, &w->access[i], seq);
    fy_order_unlock();
    free(w->found);
    w->found = NULL;
}

static void told(fy_seen *s, const fy_access *a, uint64_t seq) { fy_seen_tell(s, a->agent, a->epoch, seq + 1); }

static void undone(fy_seen *s, const fy_access *a, uint64_t seq)
{
    (void)seq;
    fy_seen_undo(s, a->agent, a->epoch);
}

void fy_deed_done(fy_deed *w, fy_site *at, uint64_t seq)
{
    if (!w->n) return;
    if (w->nfound) tell(w, at, seq);
    end(w, told, seq);
}

void fy_deed_failed(fy_deed *w)
{
    if (w->n) end(w, undone, 0);
}

void fy_host_access(fy_site *at, const fy_tensor *x, bool write, uint64_t seq)
{
    fy_deed w;
    if (!fy_is_seen(x)) return;
    fy_deed_begin(&w, 0);
    fy_deed_add(&w, fy_agent_of(x->storage->dev, fy_stream_current(x->storage->dev)), x, write, 0);
    fy_order_lock();
    for (int i = 0; i < w.n; i++) look_at(&w, i, NULL);
    fy_order_unlock();
    tell(&w, at, seq);
    free(w.found);
}
