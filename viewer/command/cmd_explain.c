/* cmd_explain.c: `ferry explain FILE`: the findings of a saved run, on the terminal or as JSON. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "event.h"
#include "findings_history.h"
#include "report.h"

static const char *clock_word(const findings *f) { return f->measured ? "measured" : "modelled"; }

static void print_finding(const findings *f, const finding *x, int number)
{
    char head[400], ns[32], bytes[32];
    int n = snprintf(head, sizeof head, "%d. %s: %s", number, finding_weight_name(x->rule->weight), x->rule->name);
    if (x->line && n > 0) n += snprintf(head + n, sizeof head - (size_t)n, ", %.200s:%d", x->file, x->line);
    if (x->times > 1 && n > 0 && n < (int)sizeof head)
        snprintf(head + n, sizeof head - (size_t)n, " (%d times)", x->times);
    printf("\n");
    print_escaped(stdout, head, strlen(head), "");
    if (*x->source) print_escaped(stdout, x->source, strlen(x->source), "   | ");
    print_escaped(stdout, x->what, strlen(x->what), "   ");

    if ((x->ns || x->bytes) && x->rule->weight != FINDING_WRONG) { /* the cost of an error does not matter */
        printf("   cost: ");
        if (x->ns) printf("%s %s%s", time_text(x->ns, ns), clock_word(f), x->bytes ? ", " : "");
        if (x->bytes) printf("%s", amount_of(x->bytes, bytes));
        printf("%s\n", x->times > 1 ? ", all together" : "");
    }
    print_escaped(stdout, x->fix, strlen(x->fix), "   fix:  ");
}

/* No finding includes this time, and in a short run it dominates. */
static void print_first_use(const history *h)
{
    bool seen[MOST_CARDS + 1] = {false};
    for (int i = 0; i < h->act_count; i++) {
        const act *a = &h->acts[i];
        char card[16], bytes[32], ns[32];
        if (a->kind != FY_KIND_segment || a->type == FY_WORD_pinned || a->device < 1 || seen[a->device]) continue;
        seen[a->device] = true;
        printf("\nFirst use of %s: Ferry reserved %s to share among tensors (once, %s).\n",
               a->device == 1 ? "the GPU" : device_name(h, a->device, card), amount_of(a->bytes, bytes),
               time_text(a->held, ns));
    }
}

static void print_text(const findings *f, const char *path)
{
    if (!f->count) printf("Nothing wasteful or wrong was found in %s.\n", path);
    else
        printf("%d finding%s in %s, sorted by kind (wrong, waste, hint), then by cost. Times are %s.\n", f->count,
               f->count == 1 ? "" : "s", path, clock_word(f));
    for (int i = 0; i < f->count; i++) print_finding(f, &f->list[i], i + 1);
    print_first_use(f->history);
    if (f->shown)
        printf("%sCosts that the program shows on purpose, after fy_mark(\"demo: ...\"), are left out.\n",
               f->count ? "\n" : "");
}

static void print_json(const findings *f)
{
    fy_text compact = {0};
    findings_json(f, f->count, &compact);
    cJSON *o = cJSON_ParseWithLength(compact.data, compact.size);
    char *text = cJSON_Print(o);
    puts(text);
    free(text);
    free(compact.data);
    cJSON_Delete(o);
}

int command_explain(const command *c, int argc, char **argv)
{
    options o;
    findings f;
    char err[512];
    if (!options_read(&o, c, argc, argv, "--json", 1)) return USAGE_ERROR;
    if (!o.word[0]) {
        fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments);
        return USAGE_ERROR;
    }
    if (!findings_of_file(&f, o.word[0], err, sizeof err)) {
        command_error(err);
        return NOT_PASSED;
    }
    if (*f.note) command_error(f.note);
    if (o.json) print_json(&f);
    else print_text(&f, o.word[0]);
    findings_free(&f);
    return fflush(stdout) == 0 && !ferror(stdout) ? FINE : NOT_PASSED;
}
