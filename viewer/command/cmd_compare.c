/* cmd_compare.c: `ferry compare A B`: what two saved runs cost, and the lines that differ, on the terminal. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "findings_history.h"
#include "report.h"
#include "run_totals.h"

enum { LINES_SHOWN = 20 };

/* ---- differences in words ---- */

/* "4076 us sooner", "the same" */
static const char *time_difference(int64_t a, int64_t b, const char *less, const char *more, char out[64])
{
    char ns[32];
    if (a == b) return "the same";
    snprintf(out, 64, "%s %s", time_text(b > a ? b - a : a - b, ns), b > a ? more : less);
    return out;
}

static const char *bytes_difference(int64_t a, int64_t b, char out[64])
{
    char bytes[32];
    if (a == b) return "the same";
    snprintf(out, 64, "%s %s", amount_of(b > a ? b - a : a - b, bytes), b > a ? "more" : "less");
    return out;
}

static const char *count_difference(int64_t a, int64_t b, char out[64])
{
    if (a == b) return "the same";
    snprintf(out, 64, "%" PRId64 " %s", b > a ? b - a : a - b, b > a ? "more" : "fewer");
    return out;
}

/* ---- the whole run ---- */

static void print_row(const char *what, const char *a, const char *b, const char *difference)
{
    printf("  %-30s %12s %12s   %s\n", what, a, b, difference);
}

static void print_time(const char *what, int64_t a, int64_t b, const char *less, const char *more)
{
    char in_a[32], in_b[32], words[64];
    if (a || b) print_row(what, time_text(a, in_a), time_text(b, in_b), time_difference(a, b, less, more, words));
}

static void print_count(const char *what, int64_t a, int64_t b)
{
    char in_a[32], in_b[32], words[64];
    if (!a && !b) return;
    snprintf(in_a, sizeof in_a, "%" PRId64, a);
    snprintf(in_b, sizeof in_b, "%" PRId64, b);
    print_row(what, in_a, in_b, count_difference(a, b, words));
}

static void print_bytes(const char *what, int64_t a, int64_t b)
{
    char in_a[32], in_b[32], words[64];
    if (a || b) print_row(what, amount_of(a, in_a), amount_of(b, in_b), bytes_difference(a, b, words));
}

static void print_totals(const run_totals *a, const run_totals *b)
{
    static const char *const copies[] = {"copies to a card", "copies back to the host"};
    static const char *const bytes[] = {"bytes to a card", "bytes back to the host"};
    static const char *const wire[] = {"on the bus, to a card", "on the bus, to the host"};
    print_row("", "A", "B", "B against A");
    print_time("total time", a->total, b->total, "less", "more");
    print_time("the program was in calls", a->held, b->held, "less", "more");
    for (int i = 0; i < TOTALS_DIRECTIONS; i++) {
        print_count(copies[i], a->way[i].copies, b->way[i].copies);
        print_bytes(bytes[i], a->way[i].bytes, b->way[i].bytes);
        print_time(wire[i], a->way[i].wire, b->way[i].wire, "less", "more");
    }
    print_count("operations on the host", a->ops_host, b->ops_host);
    print_count("operations on a card", a->ops_card, b->ops_card);
}

/* ---- line by line ---- */

/* A line of A with its twin in B; either may be missing. */
typedef struct pair {
    const line_total *a, *b;
    int64_t weight;
} pair;

static int64_t apart(int64_t a, int64_t b) { return a > b ? a - b : b - a; }

static pair pair_of(const line_total *a, const line_total *b)
{
    static const line_total nothing = {0};
    const line_total *x = a ? a : &nothing, *y = b ? b : &nothing;
    return (pair){a, b, apart(x->held, y->held) + apart(x->copies, y->copies)};
}

static int by_weight(const void *pa, const void *pb)
{
    const pair *a = pa, *b = pb;
    return a->weight > b->weight ? -1 : a->weight < b->weight;
}

static void print_pair(const pair *p)
{
    static const line_total nothing = {.text = ""};
    const line_total *a = p->a ? p->a : &nothing, *b = p->b ? p->b : &nothing, *shown = p->b ? p->b : p->a;
    char in_a[16] = "-", in_b[16] = "-", copies[64], bytes[64], held[64], head[400];
    if (p->a) snprintf(in_a, sizeof in_a, "%d", a->line);
    if (p->b) snprintf(in_b, sizeof in_b, "%d", b->line);
    int n =
        snprintf(head, sizeof head, "%5s %5s  %s", in_a, in_b, time_difference(a->held, b->held, "less", "more", held));
    if (a->copies != b->copies)
        n +=
            snprintf(head + n, sizeof head - (size_t)n, ", copies: %s", count_difference(a->copies, b->copies, copies));
    if (a->bytes != b->bytes)
        snprintf(head + n, sizeof head - (size_t)n, ", %s over the bus", bytes_difference(a->bytes, b->bytes, bytes));
    print_escaped(stdout, head, strlen(head), "");
    if (*shown->text) print_escaped(stdout, shown->text, strlen(shown->text), "             | ");
}

static void print_lines(const run_totals *a, const run_totals *b)
{
    int n = 0;
    pair *all = calloc((size_t)(a->line_count + b->line_count) + 1, sizeof *all);
    if (!all) return command_error("no memory left to compare the lines; close other programs");
    for (int i = 0; i < a->line_count; i++) {
        const line_total *l = &a->lines[i];
        all[n++] = pair_of(l, l->other >= 0 ? &b->lines[l->other] : NULL);
    }
    for (int i = 0; i < b->line_count; i++)
        if (b->lines[i].other < 0) all[n++] = pair_of(NULL, &b->lines[i]);
    qsort(all, (size_t)n, sizeof *all, by_weight);
    int differ = 0;
    while (differ < n && all[differ].weight) differ++;
    if (!differ) printf("\nNo line differs in its copies or in the time that its calls blocked the program.\n");
    else printf("\n    A     B  the time that a line's calls block the program, and what it copies\n");
    for (int i = 0; i < differ && i < LINES_SHOWN; i++) print_pair(&all[i]);
    if (differ > LINES_SHOWN) printf("and %d more lines that differ less\n", differ - LINES_SHOWN);
    free(all);
}

static void print_all(const options *o, const run_totals *a, const run_totals *b)
{
    const char *words = a->measured && b->measured ? "Times are measured."
                        : a->measured              ? "Times of A are measured, of B modelled: not comparable."
                        : b->measured              ? "Times of A are modelled, of B measured: not comparable."
                                                   : "Times are modelled.";
    printf("A: %s\nB: %s\n%s\n\n", o->word[0], o->word[1], words);
    print_totals(a, b);
    print_lines(a, b);
}

static void say_lacks(const char *path, const run_totals *r)
{
    char words[700];
    snprintf(words, sizeof words, "%.300s: %s", path, r->note);
    if (*r->note) command_error(words);
}

int command_compare(const command *c, int argc, char **argv)
{
    options o;
    run_totals a, b;
    char err[600];
    if (!options_read(&o, c, argc, argv, "", 2)) return USAGE_ERROR;
    if (!o.word[1]) return fprintf(stderr, "usage: ferry %s %s\n", c->name, c->arguments), USAGE_ERROR;
    if (!run_totals_of_file(&a, o.word[0], err, sizeof err)) return command_error(err), NOT_PASSED;
    say_lacks(o.word[0], &a);
    bool ok = run_totals_of_file(&b, o.word[1], err, sizeof err);
    if (!ok) command_error(err);
    else {
        say_lacks(o.word[1], &b);
        run_totals_align(&a, &b);
        print_all(&o, &a, &b);
        run_totals_free(&b);
    }
    run_totals_free(&a);
    return ok && fflush(stdout) == 0 && !ferror(stdout) ? FINE : NOT_PASSED;
}
