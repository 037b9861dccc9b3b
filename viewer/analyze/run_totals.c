/* run_totals.c: sums over a history. */
#include "run_totals.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "event.h"
#include "feed.h"
#include "findings_history.h"
#include "memory.h"

enum { MOST_ALIGNED = 2000 /* lines of a program that cost something; the rest is aligned with nothing */ };

typedef struct reading {
    history *h;
    int64_t total;
} reading;

static void add_event(void *user, const fy_event *e)
{
    reading *r = user;
    int64_t end = e->kind == FY_KIND_complete ? amount(e->is.complete.end) : 0;
    if (amount(e->t) > r->total) r->total = amount(e->t);
    if (end > r->total) r->total = end;
    history_add(r->h, e);
}

/* ---- lines ---- */

/* The text of a line within its file, copied, without indentation. */
static const char *text_of_line(const history *h, const place *at)
{
    const char *p = at->file < h->source_room ? h->sources[at->file] : NULL;
    for (int line = 1; p && line < at->line; line++) p = (p = strchr(p, '\n')) ? p + 1 : NULL;
    if (!p) return "";
    p += strspn(p, " \t");
    size_t n = strcspn(p, "\n");
    char *copy = memory_realloc(NULL, n + 1, 1, "a line");
    memcpy(copy, p, n);
    copy[n] = 0;
    return copy;
}

static int by_place(const void *pa, const void *pb)
{
    const line_total *a = pa, *b = pb;
    int file = strcmp(a->file, b->file);
    return file ? file : a->line - b->line;
}

static bool costs(const line_total *l) { return l->copies || l->held; }

/* Does it cross the bus of a card in that direction? By way of the host it goes down and up. */
static bool crosses(const act *a, int way)
{
    if (a->kind != FY_KIND_copy) return false;
    if (a->dir == FY_WORD_p2p) return a->route == FY_WORD_host;
    return a->dir == (way == TOTALS_H2D ? FY_WORD_h2d : FY_WORD_d2h);
}

static void sum_lines(run_totals *r, const history *h)
{
    r->lines = memory_zeroed((size_t)h->site_count + 1, sizeof *r->lines, "the lines of a run");
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        if (a->site < 0) continue;
        line_total *l = &r->lines[a->site];
        int crossings = crosses(a, TOTALS_H2D) + crosses(a, TOTALS_D2H);
        l->held += a->held;
        l->copies += crossings > 0;
        l->bytes += crossings * a->bytes;
    }
    for (int i = 0; i < h->site_count; i++) {
        line_total l = r->lines[i];
        if (!costs(&l)) continue;
        l.file = h->names[h->sites[i].file];
        l.line = h->sites[i].line;
        l.text = text_of_line(h, &h->sites[i]);
        l.other = -1;
        r->lines[r->line_count++] = l;
    }
    qsort(r->lines, (size_t)r->line_count, sizeof *r->lines, by_place);
}

static bool is_same(const line_total *a, const line_total *b)
{
    if (*a->text || *b->text) return !strcmp(a->text, b->text);
    return a->line == b->line;
}

/* The longest common subsequence: best[i][j] of the lines from i and j on. */
void run_totals_align(run_totals *a, run_totals *b)
{
    int n = a->line_count < MOST_ALIGNED ? a->line_count : MOST_ALIGNED;
    int m = b->line_count < MOST_ALIGNED ? b->line_count : MOST_ALIGNED;
    size_t width = (size_t)m + 1;
    int *best = memory_zeroed(((size_t)n + 1) * width, sizeof *best, "the lines of two runs");
    for (int i = n; i-- > 0;)
        for (int j = m; j-- > 0;) {
            int *at = &best[(size_t)i * width + (size_t)j], down = at[width], right = at[1];
            *at = is_same(&a->lines[i], &b->lines[j]) ? at[width + 1] + 1 : down > right ? down : right;
        }
    for (int i = 0, j = 0; i < n && j < m;) {
        const int *at = &best[(size_t)i * width + (size_t)j];
        if (is_same(&a->lines[i], &b->lines[j])) {
            a->lines[i].other = j;
            b->lines[j++].other = i++;
        } else if (at[width] >= at[1]) i++;
        else j++;
    }
    free(best);
}

/* ---- the whole run ---- */

/* By way of the host the times of the crossings are known where the log tells them. */
static int64_t wire_of(const act *a, int way)
{
    if (a->dir != FY_WORD_p2p) return a->wire;
    if (way == TOTALS_H2D) return a->wire_up;
    return a->wire_up > 0 && a->wire > a->wire_up ? a->wire - a->wire_up : 0;
}

static void sum_run(run_totals *r, const history *h)
{
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        r->held += a->held;
        if (a->kind == FY_KIND_op && a->device > 0) r->ops_card++;
        if (a->kind == FY_KIND_op && a->device == 0) r->ops_host++;
        for (int k = TOTALS_H2D; k <= TOTALS_D2H; k++) {
            if (!crosses(a, k)) continue;
            r->way[k].copies++;
            r->way[k].bytes += a->bytes;
            r->way[k].wire += wire_of(a, k);
        }
    }
}

bool run_totals_of_file(run_totals *r, const char *path, char *err, size_t room)
{
    *r = (run_totals){.history = memory_zeroed(1, sizeof(history), "a log")};
    reading reads = {.h = r->history};
    if (!feed_each(path, add_event, &reads, r->note, sizeof r->note, err, room)) return run_totals_free(r), false;
    r->total = reads.total;
    r->measured = r->history->measured;
    sum_run(r, r->history);
    sum_lines(r, r->history);
    history_note(r->history, "what it cost", r->note, sizeof r->note);
    return true;
}

void run_totals_free(run_totals *r)
{
    for (int i = 0; i < r->line_count; i++)
        if (*r->lines[i].text) free((char *)r->lines[i].text);
    free(r->lines);
    if (r->history) history_free(r->history);
    free(r->history);
    *r = (run_totals){0};
}
