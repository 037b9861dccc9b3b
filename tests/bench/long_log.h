/* long_log.h: emits from so many threads, and prints the cost of an event: for long_log.c and its peer. */
#ifndef FERRY_BENCH_LONG_LOG_H
#define FERRY_BENCH_LONG_LOG_H

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { MOST_THREADS = 16 };
static long each_emits;
static void (*emits)(int thread, long count);

static double seconds_of(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void *run_thread(void *number)
{
    emits((int)(intptr_t)number, each_emits);
    return NULL;
}

/* Arguments: THREADS EVENTS. Prints `wall cpu`, in ns an event. Returns the exit status. */
static int emit_in_threads(int argc, char **argv, void (*emit)(int thread, long count))
{
    pthread_t all[MOST_THREADS];
    int threads = argc > 2 ? atoi(argv[1]) : 0;
    long events = argc > 2 ? atol(argv[2]) : 0;
    if (threads < 1 || threads > MOST_THREADS || events < threads) return 2;
    each_emits = events / threads;
    emits = emit;
    double wall = seconds_of(CLOCK_MONOTONIC), cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
    for (intptr_t i = 0; i < threads; i++)
        if (pthread_create(&all[i], NULL, run_thread, (void *)i)) return 1;
    for (int i = 0; i < threads; i++) pthread_join(all[i], NULL);
    wall = seconds_of(CLOCK_MONOTONIC) - wall;
    cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
    printf("%.2f %.2f\n", wall * 1e9 / (double)events, cpu * 1e9 / (double)events);
    return 0;
}

#endif
