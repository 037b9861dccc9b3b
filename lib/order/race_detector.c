/* race_detector.c: finds data races before work is launched; emits data_race, and nothing else does, once the work's
 * event has a seq. */
#include "race_detector.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "access_history.h"
#include "byte_range.h"
#include "error.h"
#include "event.h"
#include "launch_record.h"
#include "run_work.h"
#include "session_hooks.h"
#include "out_of_memory.h"
#include "site.h"
#include "vector_clock.h"

/* ---- detection ---- */

/* A reader may see the old or the new bytes; of two writers either may win. */
static void mark_racing(fy_races *races, const fy_access *a, const fy_prior_access *p)
{
    uint8_t own = p->write ? a->bit : 0, its = a->write ? p->bit : 0;
    int i = 0;
    races->own |= own;
    while (i < races->n && (races->earlier[i].id != p->id || races->earlier[i].item != p->item)) i++;
    if (!its || i == FY_MOST_RACES) return;
    if (i == races->n) {
        races->earlier[i].id = p->id;
        races->earlier[i].item = p->item;
        races->earlier[i].bits = 0;
        races->n++;
    }
    races->earlier[i].bits |= its;
}

/* One entry per pair of works; a write replaces a read. NULL: the pair has its entry. */
static fy_data_race *entry_for(fy_launch *w, const fy_prior_access *p)
{
    for (int i = 0; i < w->nfound; i++)
        if (w->found[i].id == p->id && p->id) return p->write && !w->found[i].written ? &w->found[i] : NULL;
    fy_data_race *found = realloc(w->found, (size_t)(w->nfound + 1) * sizeof *found);
    if (!found) fy_out_of_memory("data races");
    w->found = found;
    return &w->found[w->nfound++];
}

static void add_race(fy_launch *w, int i, const fy_prior_access *p, int64_t first, int64_t bytes)
{
    fy_data_race *f = entry_for(w, p);
    const fy_access *a = &w->access[i];
    fy_word by_host = a->write ? FY_WORD_write_early : FY_WORD_read_early;
    if (!f) return;
    *f = (fy_data_race){.id = p->id,
                        .later = i,
                        .type = p->freed              ? FY_WORD_reuse
                                : a->agent == FY_HOST ? by_host
                                                      : FY_WORD_race,
                        .written = p->write,
                        .same_stream = p->same_stream,
                        .agent = p->agent,
                        .seq = p->seq,
                        .first = first,
                        .bytes = bytes,
                        .name = p->name,
                        .tensor = p->tensor};
}

static void check_access(fy_launch *w, int i, fy_races *races)
{
    const fy_access *a = &w->access[i];
    const fy_access_history *history = *a->history;
    int64_t first, bytes;
    for (uint32_t k = 0; history && k < history->n; k++) {
        const fy_prior_access *p = &history->list[k];
        if (p->agent == a->agent || (!p->write && !a->write)) continue;
        if (fy_order_reaches_locked(a->agent, p->agent, p->epoch)) continue;
        if (!fy_byte_ranges_meet(&a->bytes, &p->bytes, &first, &bytes)) continue;
        add_race(w, i, p, first, bytes);
        if (races && a->agent != FY_HOST) mark_racing(&races[a->item], a, p);
    }
}

/* Each agent's clock ticks once; a copy between two cards is ordered in a stream of each. */
static void issue(fy_launch *w)
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
    if (second != FY_HOST) fy_order_join_both_locked(first, second);
    for (int i = 0; i < w->n; i++) w->access[i].epoch = epochs[w->access[i].agent != first];
}

void fy_launch_check(fy_launch *w, fy_races *races)
{
    if (!w->n) return;
    fy_order_lock();
    issue(w);
    for (int i = 0; i < w->n; i++) check_access(w, i, races);
    for (int i = 0; i < w->n; i++) {
        const fy_access *a = &w->access[i];
        if (a->agent == FY_HOST) continue;
        fy_history_add(a->history, &(fy_prior_access){.bytes = a->bytes,
                                                      .name = a->name,
                                                      .id = w->id,
                                                      .epoch = a->epoch,
                                                      .tensor = a->tensor,
                                                      .agent = (uint16_t)a->agent,
                                                      .write = a->write,
                                                      .bit = a->bit,
                                                      .item = a->item});
    }
    fy_order_unlock();
}

/* ---- reporting ---- */

/* On stderr, once: without a log the only symptom would be a wrong value. */
static void warn(const fy_launch *w, fy_site *at)
{
    static atomic_flag warned = ATOMIC_FLAG_INIT;
    const fy_data_race *f = &w->found[0];
    char fix[600], line[100], earlier[160] = "an earlier access to the same bytes";
    fy_site *before = NULL;
    uint64_t seq;
    if (!at || fy_narration_is_on() || atomic_flag_test_and_set(&warned)) return;
    if (fy_launch_record_find(f->id, &seq, &before) && before)
        snprintf(earlier, sizeof earlier, "%.50s%s", before->call, fy_line_text(before, at, line, sizeof line));
    fprintf(stderr,
            "ferry: %s:%d: %s(%s): data race: nothing makes this wait for %s\n"
            "  fix: %s. FERRY_NARRATE=1 reports every data race, with both lines.\n",
            fy_site_file(at->file), at->line, at->call, at->args, earlier,
            fy_race_advice(f, &w->access[f->later], at, fix, sizeof fix));
}

static void report(const fy_launch *w, fy_site *at, uint64_t seq)
{
    char fix[600];
    if (w->nfound) warn(w, at);
    for (int i = 0; i < w->nfound && fy_log_is_on(); i++) {
        const fy_data_race *f = &w->found[i];
        const fy_access *later = &w->access[f->later];
        FY_EMIT(at, data_race, .type = (uint8_t)f->type, .storage = later->storage, .first = f->first,
                .bytes = f->bytes, .a = f->seq, .b = seq + 1,
                .fix = fy_ref_str(fy_race_advice(f, later, at, fix, sizeof fix)));
    }
}

/* seq: of the event, plus 1; 0: the work failed. */
static void settle(fy_launch *w, uint64_t seq)
{
    fy_order_lock();
    for (int i = 0; i < w->n; i++) {
        const fy_access *a = &w->access[i];
        if (a->agent != FY_HOST && *a->history) fy_history_settle(*a->history, a->agent, a->epoch, seq);
    }
    fy_order_unlock();
    free(w->found);
    w->found = NULL;
}

void fy_launch_done(fy_launch *w, fy_site *at, uint64_t seq)
{
    if (!w->n) return;
    if (w->nfound) report(w, at, seq);
    settle(w, seq + 1);
}

void fy_launch_failed(fy_launch *w)
{
    if (w->n) settle(w, 0);
}

void fy_host_access(fy_site *at, const fy_access *a, uint64_t seq)
{
    fy_launch w;
    fy_launch_begin(&w, 0);
    w.access[w.n++] = *a;
    fy_order_lock();
    check_access(&w, 0, NULL);
    fy_order_unlock();
    report(&w, at, seq);
    free(w.found);
}
