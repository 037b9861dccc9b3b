/* stopwatch.h: the host's clock, and the middle one of several times. */
#ifndef FERRY_GPU_STOPWATCH_H
#define FERRY_GPU_STOPWATCH_H

#include <stdlib.h>
#include <time.h>

/* ns */
static inline double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts them. */
static inline double median(double *times, int n)
{
    qsort(times, (size_t)n, sizeof *times, by_size);
    return times[n / 2];
}

#endif
