/* run_cost.c: findings and what-if for the page, with the code of `ferry explain` and `ferry whatif`. In
 * libferry-view.a this file and all that it needs are one object that exports the two functions alone: a user's program
 * may have a `found`. */
#include "run_cost.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "findings.h"
#include "memory.h"
#include "replay.h"
#include "rewrite.h"

enum { MOST_FINDINGS = 100, MOST_EVENTS = 50000 /* of a run that is changed: the page draws both */ };

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

int fy_run_findings(feed *run, fy_text *out)
{
    findings f;
    pthread_mutex_lock(&one_at_a_time);
    findings_of_feed(&f, run);
    findings_json(&f, MOST_FINDINGS, out);
    findings_free(&f);
    pthread_mutex_unlock(&one_at_a_time);
    return 200;
}

/* ---- what if ---- */

static int by_seq(const void *pa, const void *pb)
{
    const replay_edit *a = pa, *b = pb;
    return a->seq < b->seq ? -1 : a->seq > b->seq;
}

static void read_all(feed *run, fy_text *lines)
{
    for (uint64_t cursor = 0; feed_read(run, &cursor, lines, 1 << 20);) continue;
    if (lines->lost) memory_fail("the lines of a run");
}

/* Sorted, and each event once: one copy may occur twice. */
static void sort_edits(finding *x)
{
    int n = 0;
    qsort(x->edits, (size_t)x->edit_count, sizeof *x->edits, by_seq);
    for (int i = 0; i < x->edit_count; i++)
        if (!n || x->edits[n - 1].seq != x->edits[i].seq) x->edits[n++] = x->edits[i];
    x->edit_count = n;
}

static void note(fy_text *head, int *count, const char *text)
{
    fy_text_str(head, (*count)++ ? "," : "");
    fy_text_json(head, text, strlen(text));
}

/* The first line: what was changed, and what the model leaves as it was. */
static void add_head(const finding *x, const ledger *logged, fy_text *out)
{
    int notes = 0;
    bool pins = false, moves = false, stays = false, overlaps = false;
    for (int i = 0; i < x->edit_count; i++) {
        overlaps |= x->edits[i].how == REPLAY_OVERLAP;
        pins |= x->edits[i].how == REPLAY_PIN || overlaps;
        stays |= x->edits[i].how == REPLAY_ON_HOST;
        moves |= x->edits[i].how == REPLAY_ON_CARD;
    }
    fy_text_printf(out, "{\"rule\":\"%s\",\"try\":", x->rule->name);
    fy_text_json(out, x->change, strlen(x->change));
    fy_text_str(out, ",\"notes\":[");
    if (pins) note(out, &notes, "The time that it takes to page-lock the memory is not included.");
    if (moves)
        note(out, &notes, "The card is assumed to do the same arithmetic and to move the same bytes as the CPU did.");
    if (stays)
        note(out, &notes,
             "The CPU is assumed to do the same arithmetic and to move the same bytes as the card did; memory is "
             "allocated on the card as before.");
    if (overlaps)
        note(out, &notes,
             "What needs a copied tensor waits for its copy: for that, each copy's event and each wait take the time "
             "of a call.");
    if (logged->untold) note(out, &notes, "Time between Ferry's calls is the same in both runs.");
    if (logged->queries) note(out, &notes, "Calls of fy_stream_query and fy_event_query keep their logged results.");
    fy_text_str(out, "]}\n");
}

static int change_run(const fy_text *lines, trace *t, finding *x, fy_text *out, char *err, size_t room)
{
    ledger logged, changed;
    sort_edits(x);
    replay_plan plan = {.edits = x->edits, .edit_count = x->edit_count};
    plan.moments = memory_zeroed((size_t)t->count + 1, sizeof *plan.moments, "a replay");
    bool ok = replay(t, &plan, &logged, &changed, err, room);
    if (ok) {
        add_head(x, &logged, out);
        rewrite_lines(lines->data, lines->size, t, plan.moments, out);
    }
    free(plan.moments);
    if (out->lost) memory_fail("a changed run");
    return ok ? 200 : 422;
}

static finding *find_finding(findings *f, const char *rule, int64_t seq)
{
    for (int i = 0; i < f->count; i++)
        if (f->list[i].seq == seq && !strcmp(f->list[i].rule->name, rule)) return &f->list[i];
    return NULL;
}

static int try_finding(feed *run, const char *rule, int64_t seq, fy_text *out, char *err, size_t room)
{
    findings f;
    trace t = {0};
    fy_text lines = {0};
    findings_of_feed(&f, run);
    finding *x = find_finding(&f, rule, seq);
    int status = 404;
    if (!x) snprintf(err, room, "this run has no finding %.40s at event %lld; reload the page", rule, (long long)seq);
    else if (!x->change) {
        status = 422;
        snprintf(err, room, "what-if knows no change for a finding of %s; the finding says what to do", x->rule->name);
    } else {
        status = 422;
        read_all(run, &lines);
        if (trace_of_lines(&t, lines.data, lines.size, err, room)) status = change_run(&lines, &t, x, out, err, room);
        trace_free(&t);
    }
    free(lines.data);
    findings_free(&f);
    return status;
}

int fy_run_whatif(feed *run, const char *rule, int64_t seq, fy_text *out, char *err, size_t room)
{
    unsigned long long count = (unsigned long long)feed_count(run);
    if (count > MOST_EVENTS) {
        snprintf(err, room,
                 "this run has %llu events, and at most %d can be tried in the page; make the run shorter, or use "
                 "ferry whatif",
                 count, MOST_EVENTS);
        return 413;
    }
    pthread_mutex_lock(&one_at_a_time);
    int status = try_finding(run, rule, seq, out, err, room);
    pthread_mutex_unlock(&one_at_a_time);
    return status;
}
