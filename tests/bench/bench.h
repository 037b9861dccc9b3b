/* bench.h: time something, print a row for tests/bench/run.
 *
 * A row: what, unit, measured, peer, the peer's figure from the same run, and the goal: measured is to
 * be at most goal times the peer. `run` lays the rows out and judges them. */
#ifndef FERRY_BENCH_H
#define FERRY_BENCH_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BENCH_ROUNDS = 15 };

static inline double bench_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int bench_compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Nanoseconds that one of `count` turns of `work` takes: the median of 15 rounds. */
static inline double bench_ns(void (*work)(int count), int count)
{
    double round[BENCH_ROUNDS];
    work(count);
    for (int i = 0; i < BENCH_ROUNDS; i++) {
        double start = bench_now();
        work(count);
        round[i] = (bench_now() - start) / count;
    }
    qsort(round, BENCH_ROUNDS, sizeof *round, bench_compare);
    return round[BENCH_ROUNDS / 2];
}

static inline void bench_row(const char *what, const char *unit, double measured, const char *peer, double figure,
                             double goal)
{
    printf("%s\t%s\t%.3f\t%s\t%.3f\t%.2f\n", what, unit, measured, peer, figure, goal);
}

#endif
