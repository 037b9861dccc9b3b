/* report.c: an outcome on the terminal. */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *command_name = "ferry";

typedef struct paint {
    const char *good, *bad, *dim, *plain;
} paint;

void print_escaped(FILE *to, const char *text, size_t size, const char *margin)
{
    bool line_start = true;
    for (size_t i = 0; i < size; i++) {
        unsigned char c = (unsigned char)text[i];
        if (line_start) fputs(margin, to);
        line_start = c == '\n';
        if ((c < ' ' && c != '\n' && c != '\t') || c == 127) fprintf(to, "\\x%02x", c);
        else fputc(c, to);
    }
    if (!line_start) fputc('\n', to);
}

void print_output(FILE *to, const outcome *out, size_t most)
{
    size_t size = out->kept;
    if (out->stopped && out->line > 0) {
        /* The report shows the library's own error, "my/01.c:18: fy_matmul: ...", which ends the output. */
        char prefix[300];
        snprintf(prefix, sizeof prefix, "%s:%d: fy_", out->file, out->line);
        const char *error = strstr(out->output, prefix);
        if (error) size = (size_t)(error - out->output);
    }
    if (!size) return;
    size_t shown = size < most ? size : most;
    fprintf(to, "  it printed:\n");
    print_escaped(to, out->output, shown, "  | ");
    if (size > shown) fprintf(to, "  | ... and %zu more bytes\n", out->printed - shown);
}

/* A row for a check with a limit; exact to the unit. */
static bool print_count(FILE *to, const struct verdict_check *c, bool first)
{
    if (!*c->limits) return false;
    if (first) fprintf(to, "\n  %-26s %10s %10s\n", "count", "your run", "limit");
    fprintf(to, "  %-26s %10.15g %10.15g\n", c->limits, c->used, c->most);
    return true;
}

/* Each check with its mark, then a table of those that count something; of a run that came to none, the limit. */
static void print_checks(FILE *to, paint p, const lesson *l, const outcome *out)
{
    const verdict *v = &out->verdict;
    int n = v->checks < VERDICT_CHECKS ? v->checks : VERDICT_CHECKS;
    for (int i = 0; i < n; i++) {
        const struct verdict_check *c = &v->check[i];
        /* A program that an error stopped also fails "answered": name the cause instead. */
        bool stopped = !c->pass && out->stopped && !strcmp(c->name, "answered");
        fprintf(to, "  %s%s%s %s\n", c->pass ? p.good : p.bad, c->pass ? "ok  " : "FAIL", p.plain,
                stopped ? "stopped by an error" : c->name);
    }
    bool first = true;
    for (int i = 0; i < n; i++)
        if (print_count(to, &v->check[i], first)) first = false;
    if (first && out->end != RUN_PASSED && *l->budget) fprintf(to, "\n  limit: %s\n", l->budget);
}

/* The file as it is called from the current folder. */
static const char *shown_file(const outcome *out) { return *out->path ? path_from_here(out->path) : out->file; }

/* How to see the events: the verdict gives one by its number. */
static void print_where_events_are(FILE *to, paint p, const lesson *l)
{
    int n = lesson_number_length(l);
    fprintf(to, "            %sall events, with their seq: %s run %.*s --trace run.jsonl; %s log run.jsonl%s\n", p.dim,
            command_name, n, l->id, command_name, p.plain);
}

/* my/01-where-am-i.c:14: message, the source line, expected and actual values, the line of the log that shows it. */
static void print_message(FILE *to, paint p, const lesson *l, const outcome *out)
{
    fputs("\n  ", to);
    if (out->line > 0) fprintf(to, "%s:%d: ", shown_file(out), out->line);
    fprintf(to, "%s%s%s\n", out->end == RUN_PASSED ? p.good : p.bad, out->message, p.plain);
    if (*out->source) fprintf(to, "      %s%s%s\n", p.dim, out->source, p.plain);
    if (*out->expected) fprintf(to, "  expected  %s\n", out->expected);
    if (*out->got) fprintf(to, "  got       %s\n", out->got);
    if (!*out->expected || out->seq < 0) return;
    fprintf(to, "  event %-3" PRId64 " %s\n", out->seq, out->event);
    if (!out->second) print_where_events_are(to, p, l); /* of the second run, the inputs are others */
}

/* The learner's own best runs; the mark says which of them this run is. */
static void print_board(FILE *to, paint p, const outcome *out)
{
    const board *b = &out->board;
    if (b->count) fprintf(to, "\n  your best: %s\n", out->board_of);
    for (int i = 0; i < b->count; i++) {
        fprintf(to, "  %s%3d. %10.15g   attempt %d%s%s\n", i == b->latest ? p.good : "", i + 1, b->best[i].used,
                b->best[i].attempt, i == b->latest ? "  <- this run" : "", i == b->latest ? p.plain : "");
    }
}

void report(FILE *to, const lesson *l, const outcome *out)
{
    const char *term = getenv("TERM"), *no = getenv("NO_COLOR");
    bool colours = isatty(fileno(to)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
    paint p = {"", "", "", ""};
    if (colours) p = (paint){"\033[32m", "\033[1;31m", "\033[2m", "\033[0m"};

    fprintf(to, "\n%s%s%s  %s%s, seed %" PRIu64 "%s\n", p.dim, l->id, p.plain, p.dim, shown_file(out), out->seed,
            p.plain);
    if (out->graded) print_checks(to, p, l, out);
    print_message(to, p, l, out);
    const diagnosis *d = &out->diagnosis; /* a warning; an error is the message itself */
    if (out->end != RUN_NOT_COMPILED && out->end != RUN_ENVIRONMENT_ERROR && *d->message)
        fprintf(to, "  note: %s:%d: %s\n", shown_file(out), d->line, d->message);
    if (*out->hint) fprintf(to, "  %s: %s\n", out->stopped ? "fix" : "hint", out->hint);
    if (out->end == RUN_FAILED || out->end == RUN_ENVIRONMENT_ERROR) print_output(to, out, 2048);
    print_board(to, p, out);
    if (out->end == RUN_PASSED && out->graded)
        fprintf(to, "\n  %sPassed.%s It also passed with another seed and other sizes.\n  what comes next: %s next\n",
                p.good, p.plain, command_name);
    if (out->end == RUN_FAILED && l->hint_count)
        fprintf(to, "\n  for a hint: %s hint %.*s\n", command_name, lesson_number_length(l), l->id);
    fflush(to);
}
