/* findings.c: the table of rules; merges the findings of one rule on one line. */
#include "event.h"
#include "findings_history.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "feed.h"
#include "memory.h"

static const struct {
    finding_rule rule;
    rule *find;
    unsigned needs; /* of what the log must tell, else the rule would take silence for a fact */
} rules[] = {
    /* in order: a rule skips what an earlier one has explained */
    {{"stopped", "what ended the program: a call that failed, or a crash", FINDING_WRONG}, rule_stopped, 0},
    {{"data-race", "a data race: two accesses that nothing orders", FINDING_WRONG}, rule_data_race, 0},
    {{"stale-read", "a read of an outdated copy", FINDING_WRONG}, rule_stale_read, KNOWS_READS},
    {{"fragmentation", "out of memory though enough is free, in pieces", FINDING_WRONG},
     rule_fragmentation,
     KNOWS_FREES | KNOWS_ADDRESSES},
    {{"device-copy-not-freed", "copied back, and kept on the card that ran out of memory", FINDING_WRONG},
     rule_kept_after_home,
     KNOWS_FREES},
    {{"out-of-memory", "out of memory, and what fills the card", FINDING_WRONG},
     rule_out_of_memory,
     KNOWS_FREES | KNOWS_ADDRESSES},
    {{"sent-again", "unchanged data sent again", FINDING_WASTE}, rule_sent_again, KNOWS_FREES},
    {{"round-trip", "to the host and back unchanged", FINDING_WASTE}, rule_round_trip, KNOWS_READS | KNOWS_FREES},
    {{"there-and-back", "to the card and back unchanged", FINDING_WASTE},
     rule_there_and_back,
     KNOWS_READS | KNOWS_FREES},
    {{"through-host", "from card to card through the host", FINDING_WASTE}, rule_through_host, 0},
    {{"bounced", "a copy between cards that cannot reach each other", FINDING_HINT}, rule_bounced, 0},
    {{"unused-copy", "a copy that is never read", FINDING_WASTE}, rule_unused_copy, KNOWS_READS},
    {{"converts-late", "more bytes copied than needed: converted on the wrong side", FINDING_WASTE},
     rule_converts_late,
     KNOWS_READS},
    {{"created-then-moved", "created on the host, used only on the card", FINDING_WASTE},
     rule_created_then_moved,
     KNOWS_READS},
    {{"pinned-for-one-copy", "pinned just before a single use", FINDING_WASTE},
     rule_pin_once,
     KNOWS_READS | KNOWS_FREES},
    {{"pinned-each-time", "page-locked memory allocated again and again", FINDING_WASTE},
     rule_pinned_each_time,
     KNOWS_READS | KNOWS_FREES},
    {{"blocking-pageable", "a non_blocking copy that blocked", FINDING_WASTE}, rule_blocking_pageable, 0},
    {{"many-small-copies", "consecutive small copies that one could replace", FINDING_WASTE},
     rule_many_small,
     KNOWS_READS},
    {{"copies-cost-more-than-op", "copies that cost more than the card saved", FINDING_WASTE},
     rule_copies_cost_more,
     KNOWS_READS | KNOWS_CALLS},
    {{"hidden-sync", "a value read back in every step", FINDING_WASTE}, rule_hidden_sync, KNOWS_CALLS},
    {{"device-sync-in-loop", "a wait for the whole card in every step", FINDING_WASTE}, rule_device_sync, KNOWS_CALLS},
    {{"missed-overlap", "a copy and independent work ran one after the other", FINDING_WASTE},
     rule_missed_overlap,
     KNOWS_READS | KNOWS_CALLS},
    {{"leak", "memory that grows with every iteration", FINDING_WASTE}, rule_leak, KNOWS_READS | KNOWS_FREES},
    {{"graph-kept", "a result kept in every iteration with its graph", FINDING_WASTE}, rule_graph_kept, KNOWS_FREES},
    {{"graph-unused", "a graph that no backward pass uses", FINDING_WASTE}, rule_graph_unused, 0},
    {{"trained-elsewhere", "a leaf on the CPU whose copy on the card is used", FINDING_WASTE},
     rule_trained_elsewhere,
     KNOWS_READS},
    {{"small-view-keeps-all", "a small view that keeps a large storage allocated", FINDING_WASTE},
     rule_small_view,
     KNOWS_FREES},
    {{"autocast-without-gain", "casts that cost more than 16-bit operations saved", FINDING_HINT},
     rule_autocast_without_gain,
     0},
    {{"not-the-current-card", "created on a card that is not the current one", FINDING_HINT}, rule_other_card, 0},
    {{"current-device-not-restored", "the current card is left changed", FINDING_HINT}, rule_device_not_restored, 0},
};
enum { RULES = sizeof rules / sizeof *rules };

struct findings_work {
    int rule, room;
    int *first;                     /* by site: its first finding, linked by next; -1 */
    bool *explained, *demonstrated; /* by act */
};

const finding_rule *findings_rule(int i) { return i >= 0 && i < RULES ? &rules[i].rule : NULL; }

const char *finding_weight_name(finding_weight w)
{
    return w == FINDING_WRONG ? "wrong" : w == FINDING_WASTE ? "waste" : "hint";
}

bool is_explained(const findings *f, int i) { return f->work->explained[i]; }
void explained(findings *f, int i) { f->work->explained[i] = true; }

/* ---- one finding ---- */

finding *found(findings *f, const history *h, int site, int i, int64_t ns, int64_t bytes)
{
    struct findings_work *w = f->work;
    const finding_rule *now = &rules[w->rule].rule;
    if (w->demonstrated[i] && now->weight != FINDING_WRONG) return f->shown++, NULL;

    int *first = &w->first[site >= 0 ? site : h->site_count];
    int at = *first;
    while (at >= 0 && f->list[at].rule != now) at = f->list[at].next;
    if (at < 0) {
        if (f->count == w->room) {
            w->room = w->room ? 2 * w->room : 32;
            f->list = memory_realloc(f->list, (size_t)w->room, sizeof *f->list, "the findings");
        }
        at = f->count++;
        f->list[at] = (finding){.rule = now, .file = "", .source = "", .seq = h->acts[i].seq, .next = *first};
        *first = at;
        if (site >= 0) f->list[at].file = h->names[h->sites[site].file], f->list[at].line = h->sites[site].line;
    }

    finding *x = &f->list[at];
    x->times++;
    x->ns += ns > 0 && x->ns < (int64_t)1 << 60 ? ns : 0;
    x->bytes += bytes > 0 && x->bytes < (int64_t)1 << 60 ? bytes : 0;
    return x;
}

void say_what(finding *x, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(x->what, sizeof x->what, format, args);
    va_end(args);
}

void say_fix(finding *x, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(x->fix, sizeof x->fix, format, args);
    va_end(args);
}

/* An occurrence that cannot be tried ends what could be tried of the others. */
void say_no_try(finding *x, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(x->no_try, sizeof x->no_try, format, args);
    va_end(args);
    x->change = NULL;
}

void could_try(finding *x, const char *change, const act *a, replay_how how, int64_t value)
{
    if (!x || *x->no_try) return;
    if (x->edit_count == x->edit_room) {
        x->edit_room = x->edit_room ? 2 * x->edit_room : 4;
        x->edits = memory_realloc(x->edits, (size_t)x->edit_room, sizeof *x->edits, "the findings");
    }
    x->change = change;
    x->edits[x->edit_count++] = (replay_edit){a->seq, how, value};
}

/* ---- all of them ---- */

static int compare(const void *pa, const void *pb)
{
    const finding *a = pa, *b = pb;
    if (a->rule->weight != b->rule->weight) return a->rule->weight < b->rule->weight ? -1 : 1;
    if (a->ns != b->ns) return a->ns > b->ns ? -1 : 1;
    if (a->bytes != b->bytes) return a->bytes > b->bytes ? -1 : 1;
    if (a->seq != b->seq) return a->seq < b->seq ? -1 : 1;
    return a->rule < b->rule ? -1 : a->rule > b->rule;
}

/* Points each finding at its source line, without indentation. The sources, owned by the history, are split into lines
 * in place, which is why this runs once. */
static void quote_lines(findings *f, history *h)
{
    for (int file = 0; file < h->source_room; file++) {
        char *p = h->sources[file];
        for (int line = 1; p; line++) {
            char *end = strchr(p, '\n'), *text = p + strspn(p, " \t");
            if (end) *end = 0;
            int *at = id_map_at(&h->site_ids, ((uint64_t)file << 32 | (uint64_t)line) + 1);
            for (int i = *at >= 0 ? f->work->first[*at] : -1; i >= 0; i = f->list[i].next) f->list[i].source = text;
            p = end ? end + 1 : NULL;
        }
    }
}

/* From a mark that begins with "demo:" to the next mark. */
static void note_demonstrations(const history *h, bool *demonstrated)
{
    bool on = false;
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->kind == FY_KIND_mark && a->name >= 0) on = !strncmp(h->names[a->name], "demo:", 5);
        demonstrated[i] = on;
    }
}

static void find_all(findings *f, history *h)
{
    struct findings_work w = {.first = memory_realloc(NULL, (size_t)h->site_count + 1, sizeof(int), "the findings"),
                              .explained = memory_zeroed((size_t)h->act_count + 1, 1, "the findings"),
                              .demonstrated = memory_zeroed((size_t)h->act_count + 1, 1, "the findings")};
    f->measured = h->measured;
    f->work = &w;
    for (int i = 0; i <= h->site_count; i++) w.first[i] = -1;
    if (!f->strict) note_demonstrations(h, w.demonstrated);
    for (w.rule = 0; w.rule < RULES; w.rule++)
        if (!(rules[w.rule].needs & h->lacks)) rules[w.rule].find(f, h);
    quote_lines(f, h);
    if (f->count) qsort(f->list, (size_t)f->count, sizeof *f->list, compare);

    history_note(h, "this list", f->note, sizeof f->note);

    f->work = NULL;
    free(w.first);
    free(w.explained);
    free(w.demonstrated);
}

/* f takes ownership of the history: the findings point to its strings. */
static bool finish(findings *f, history *h, bool ok)
{
    if (ok) find_all(f, h);
    f->history = h;
    if (!ok) findings_free(f);
    return ok;
}

static void add_event(void *h, const fy_event *e) { history_add(h, e); }

static history *begin(findings *f)
{
    *f = (findings){0};
    return memory_zeroed(1, sizeof(history), "a log");
}

bool findings_of_file(findings *f, const char *path, char *err, size_t room)
{
    history *h = begin(f);
    return finish(f, h, feed_each(path, add_event, h, f->note, sizeof f->note, err, room));
}

bool findings_of_lines(findings *f, const char *lines, size_t size, char *err, size_t room)
{
    history *h = begin(f);
    return finish(f, h, trace_each(lines, size, add_event, h, err, room));
}

enum { LINES_AT_ONCE = 1 << 20 };

void findings_of_feed(findings *f, feed *run)
{
    history *h = begin(f);
    char err[200];
    fy_text text = {0};
    bool ok = true;
    for (uint64_t cursor = 0; ok && feed_read(run, &cursor, &text, LINES_AT_ONCE); text.size = 0) {
        if (text.lost) memory_fail("the lines of a run");
        ok = trace_each(text.data, text.size, add_event, h, err, sizeof err); /* false: no line that a feed gives */
    }
    free(text.data);
    if (feed_warning(run)) snprintf(f->note, sizeof f->note, "%s", feed_warning(run));
    finish(f, h, true);
}

void findings_of_run(findings *f, const trace *run)
{
    history *h = begin(f);
    f->strict = true;
    for (int i = 0; i < run->count; i++) history_add(h, &run->events[i]);
    finish(f, h, true);
}

void findings_free(findings *f)
{
    if (f->history) history_free(f->history);
    free(f->history);
    for (int i = 0; i < f->count; i++) free(f->list[i].edits);
    free(f->list);
    *f = (findings){0};
}
