/* rules_stop.c: what ended a program that did not end by itself: a call that failed, or a crash. */
#include "event.h"
#include "findings_history.h"

#include <stdio.h>
#include <string.h>

static const char *text_at(const history *h, int i, const char *otherwise) { return i >= 0 ? h->names[i] : otherwise; }

/* The line of the last call before act i that has one; -1. */
static int site_before(const history *h, int i)
{
    while (i >= 0 && h->acts[i].site < 0) i--;
    return i >= 0 ? h->acts[i].site : -1;
}

/* A full card has rules of its own, which say what filled it. */
static bool is_told_elsewhere(const history *h, int i)
{
    const act *a = &h->acts[i];
    if (strcmp(text_at(h, a->name, ""), "oom") != 0) return false;
    while (i >= 0 && h->acts[i].kind != FY_KIND_oom) i--;
    return i >= 0;
}

static void failed(findings *f, const history *h, int i, bool ended_it)
{
    const act *a = &h->acts[i];
    bool line_known = a->site >= 0; /* a fault is no call of Ferry's: the last one before it is the nearest line */
    char line[96] = "", late[160] = "";
    finding *x = found(f, h, line_known ? a->site : site_before(h, i), i, 0, 0);
    if (!x || x->times > 1) return;
    int cause = act_of_seq(h, a->src.version);
    if (cause >= 0 && h->acts[cause].site >= 0)
        snprintf(late, sizeof late, " The work that failed was queued at %s.",
                 line_of(h, h->acts[cause].site, a->site, line));
    say_what(x, "%s: %.330s%s%s",
             !ended_it    ? "this call failed, and the program went on"
             : line_known ? "the program stopped here"
                          : "the program crashed after this line",
             text_at(h, a->said, "no reason was recorded"), *late ? "." : "", late);
    say_fix(x, "%s", text_at(h, a->advice, "look at what this call was given"));
}

/* No error, and no end either. Whether it was killed, and by what, is not in a log. */
static void ended_unheard(findings *f, const history *h)
{
    int last = h->act_count - 1, site = site_before(h, last);
    finding *x = site >= 0 ? found(f, h, site, last, 0, 0) : NULL;
    if (!x) return;
    say_what(x, "the log stops after this line without an end: the program crashed, was killed, or left by _exit, "
                "unless it still runs. The last Ferry call that finished is on this line.");
    say_fix(x, "look at what comes next: a NULL pointer, an index past the end, memory that ran out; gdb, or "
               "-fsanitize=address when you compile, names the line");
}

/* What comes of work that was in hand when the program exits is not the program going on. */
static bool goes_on(const act *a)
{
    return a->kind == FY_KIND_op || a->kind == FY_KIND_copy || a->kind == FY_KIND_alloc || a->kind == FY_KIND_tensor ||
           a->kind == FY_KIND_host_read || a->kind == FY_KIND_host_write || a->kind == FY_KIND_answer;
}

void rule_stopped(findings *f, const history *h)
{
    int fatal = -1;
    for (int i = 0; i < h->act_count; i++) {
        if (h->acts[i].kind == FY_KIND_error) fatal = i;
        else if (goes_on(&h->acts[i])) fatal = -1;
    }
    if (h->ended && h->status == 0) fatal = -1;
    for (int i = 0; i < h->act_count; i++)
        if (h->acts[i].kind == FY_KIND_error && !is_told_elsewhere(h, i)) failed(f, h, i, i == fatal);
    if (fatal < 0 && !h->ended && !h->full) ended_unheard(f, h);
}
