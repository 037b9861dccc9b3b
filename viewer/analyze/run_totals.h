/* run_totals.h: what a whole run cost, and each line of its program, to compare two runs. */
#ifndef FERRY_RUN_TOTALS_H
#define FERRY_RUN_TOTALS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TOTALS_H2D, TOTALS_D2H, TOTALS_DIRECTIONS }; /* over the bus: to a card, to the host */

typedef struct run_flow {
    int64_t copies, bytes, wire; /* wire: ns on the bus */
} run_flow;

typedef struct line_total {
    const char *file, *text; /* text: of the line, without indentation; "": not in the log */
    int line;
    int64_t copies, bytes, held; /* held: ns for which its calls blocked the program */
    int other;                   /* totals_align: the line of the other run; -1: none */
} line_total;

typedef struct run_totals {
    bool measured;
    int64_t total, held; /* ns: until the program and its cards were done; blocked in calls */
    int64_t ops_host, ops_card;
    run_flow way[TOTALS_DIRECTIONS];
    line_total *lines; /* those that cost something, by file and line */
    int line_count;
    char note[300]; /* what is missing in the log; "": nothing */
    struct history *history;
} run_totals;

/* false, with the reason in err. The caller frees r after a success. */
bool run_totals_of_file(run_totals *r, const char *path, char *err, size_t room);
/* Finds each line of a run in the other one: lines of the same text, in the same order; as many as possible. */
void run_totals_align(run_totals *a, run_totals *b);
void run_totals_free(run_totals *r);

#endif
