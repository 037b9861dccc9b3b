/* cmd_whatif.c: `ferry whatif`: a saved run's times next to those modelled with another card, another bus,
 * page-locked memory, or non-blocking copies. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "card_params.h"
#include "command.h"
#include "replay.h"
#include "feed.h"

/* ---- input ---- */

static bool read_plan(const options *o, replay_plan *plan)
{
    char err[300];
    *plan = (replay_plan){.pinned = o->pinned, .async = o->async};
    if (o->card && !(plan->card = fy_card_find(o->card))) {
        snprintf(err, sizeof err, "there is no card '%.60s'; known: %s", o->card, fy_card_keys());
        return command_error(err), false;
    }
    if (o->bus && (!fy_card_param_read(o->bus, strlen(o->bus), FY_UNIT_RATE, &plan->bus) || plan->bus < 1000000)) {
        snprintf(err, sizeof err, "--bus %.60s is not a rate; write a number and its unit, as in --bus 8GB/s", o->bus);
        return command_error(err), false;
    }
    plan->peer_on = o->peer && !strcmp(o->peer, "on");
    plan->peer_off = o->peer && !strcmp(o->peer, "off");
    if (o->peer && !plan->peer_on && !plan->peer_off) {
        snprintf(err, sizeof err, "--peer %.60s is not a choice; write --peer on or --peer off", o->peer);
        return command_error(err), false;
    }
    return true;
}

static void add(void *t, const fy_event *e) { trace_add(t, e); }

static bool read_log(const char *path, trace *t)
{
    char err[512], note[200], whole[800];
    trace_begin(t);
    bool ok = feed_each(path, add, t, note, sizeof note, err, sizeof err);
    if (!ok) command_error(err);
    else if (*note) command_error(note);
    if (ok && t->over) {
        snprintf(whole, sizeof whole, "%.200s: it has more than %d events; make the run shorter", path, TRACE_MOST);
        command_error(whole);
        ok = false;
    }
    if (!ok) trace_free(t);
    return ok;
}

/* ---- output ---- */

static void print_line(const char *what, int64_t a, int64_t b)
{
    if (a == 0 && b == 0) return;
    printf("  %-34s %14.3f %14.3f", what, (double)a / 1000, (double)b / 1000);
    if (a > 0) printf("  %5.0f %%", 100.0 * (double)b / (double)a);
    putchar('\n');
}

/* The assumptions behind the second column. */
static void print_notes(const options *o, const ledger *l)
{
    if (l->untold)
        printf("  %.3f us of host time lie outside Ferry's calls; both columns include them unchanged.\n",
               (double)l->untold / 1000);
    if (l->queries)
        printf("  %d calls of fy_stream_query or fy_event_query: each keeps its logged answer.\n", l->queries);
    if (o->pinned)
        printf(
            "  --pinned: all host tensors count as page-locked already; the cost of page-locking is not included.\n");
    if (o->async)
        printf("  --async: copies from page-locked memory (--pinned) to a card do not block; copies to the host do.\n");
}

static void print_question(const options *o)
{
    bool any = o->card || o->bus || o->peer || o->pinned || o->async;
    printf("What if:%s", any ? "" : " no change; give --card, --bus, --peer, --pinned or --async.");
    if (o->card) printf(" --card %s", o->card);
    if (o->bus) printf(" --bus %s", o->bus);
    if (o->peer) printf(" --peer %s", o->peer);
    printf("%s%s\n", o->pinned ? " --pinned" : "", o->async ? " --async" : "");
}

static void print_ledgers(const options *o, const ledger *a, const ledger *b)
{
    static const char *const times[] = {"on the bus, to a card", "on the bus, to the host", "copies within a card",
                                        "between cards"};
    static const char *const ways[] = {"to a card", "to the host", "within a card", "between cards"};
    print_question(o);
    printf("modelled times in us %29s %14s\n", "as logged", "what if");
    print_line("total", a->total, b->total);
    print_line("host blocked in calls to a card", a->held, b->held);
    print_line("host computation and copies in RAM", a->own, b->own);
    for (int i = 0; i < REPLAY_WAYS; i++) print_line(times[i], a->wire[i], b->wire[i]);
    print_line("staging of pageable memory", a->staging, b->staging);
    print_line("computing on a card", a->compute, b->compute);
    print_line("overheads of calls and transfers", a->overhead, b->overhead);
    printf("Parts overlap: they do not add up to the total.\n");
    for (int i = 0; i < REPLAY_WAYS; i++)
        if (a->copies[i])
            printf("  %" PRId64 " bytes %s in %d cop%s\n", a->bytes[i], ways[i], a->copies[i],
                   a->copies[i] == 1 ? "y" : "ies");
    print_notes(o, a);
}

int command_whatif(const command *c, int argc, char **argv)
{
    options o;
    replay_plan plan;
    trace t;
    ledger logged, other;
    char err[600], message[900];
    if (!options_read(&o, c, argc, argv, "--card --bus --peer --pinned --async", 1)) return USAGE_ERROR;
    if (!o.word[0]) return fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments), USAGE_ERROR;
    if (!read_plan(&o, &plan)) return USAGE_ERROR;
    if (!read_log(o.word[0], &t)) return NOT_PASSED;
    bool ok = replay(&t, &plan, &logged, &other, err, sizeof err);
    trace_free(&t);
    if (ok) return print_ledgers(&o, &logged, &other), fflush(stdout) == 0 ? FINE : NOT_PASSED;
    snprintf(message, sizeof message, "%.200s: %s", o.word[0], err);
    return command_error(message), NOT_PASSED;
}
