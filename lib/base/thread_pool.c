/* thread_pool.c: a few threads that share the work on large tensors. They start with the first work that is large
 * enough, sleep between works and end with the process; a forked child starts its own. The caller works
 * along. Parts are taken from a counter, so that a thread that is held up holds up nobody. */
#define _GNU_SOURCE 1 /* sched_getaffinity */
#include "thread_pool.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_THREADS = 64, PARTS_A_THREAD = 4, STACK_BYTES = 1 << 20 };

typedef struct work {
    fy_team_body body;
    void *context;
    int64_t n, part;
    _Atomic int64_t next; /* where the next part begins */
} work;

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER; /* held by the caller whose work is done */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t begun = PTHREAD_COND_INITIALIZER, ended = PTHREAD_COND_INITIALIZER;
static work *current;   /* NULL: nothing more to begin */
static uint64_t round_; /* works so far */
static int workers, active;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int size = 1;

static int cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static int asked(void)
{
    const char *text = getenv("FERRY_THREADS");
    char *end;
    if (!text || !*text) return cores();
    errno = 0;
    long n = strtol(text, &end, 10);
    if (!errno && !*end && n >= 1 && n <= MOST_THREADS) return (int)n;
    fprintf(stderr, "ferry: FERRY_THREADS=%.40s is not a number from 1 to %d; going on with %d\n", text, MOST_THREADS,
            cores());
    return cores();
}

/* In a forked child no worker is left, and nobody holds a lock. */
static void in_child(void)
{
    pthread_mutex_init(&busy, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&begun, NULL);
    pthread_cond_init(&ended, NULL);
    current = NULL;
    workers = active = 0;
}

static void start(void)
{
    size = asked();
    if (size > MOST_THREADS) size = MOST_THREADS;
    pthread_atfork(NULL, NULL, in_child);
}

int fy_thread_pool_size(void)
{
    pthread_once(&once, start);
    return size;
}

static void take_parts(work *w)
{
    for (;;) {
        int64_t from = atomic_fetch_add_explicit(&w->next, w->part, memory_order_relaxed);
        if (from >= w->n) return;
        w->body(from, w->n - from < w->part ? w->n : from + w->part, w->context);
    }
}

static void *worker(void *unused)
{
    uint64_t seen = 0;
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!current || seen == round_) pthread_cond_wait(&begun, &lock);
        work *w = current;
        seen = round_;
        active++;
        pthread_mutex_unlock(&lock);
        take_parts(w);
        pthread_mutex_lock(&lock);
        if (--active == 0) pthread_cond_signal(&ended);
    }
    return NULL;
}

/* Signals are for the program's own threads. Fewer workers than wished are no trouble. */
static void hire(int wanted)
{
    pthread_attr_t attr;
    sigset_t all, before;
    pthread_attr_init(&attr);
    pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attr, STACK_BYTES);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (pthread_t t; workers < wanted && pthread_create(&t, &attr, worker, NULL) == 0;) workers++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

/* A few parts a thread, of whole grains. */
static int64_t part_of(int64_t n, int64_t grain)
{
    int64_t parts = (int64_t)size * PARTS_A_THREAD, grains = (n + grain - 1) / grain;
    return (grains + parts - 1) / parts * grain;
}

static void share(work *w)
{
    pthread_mutex_lock(&lock);
    hire(size - 1);
    current = w;
    round_++;
    pthread_cond_broadcast(&begun);
    pthread_mutex_unlock(&lock);
    take_parts(w);
    pthread_mutex_lock(&lock);
    current = NULL;
    while (active > 0) pthread_cond_wait(&ended, &lock);
    pthread_mutex_unlock(&lock);
}

void fy_thread_pool_run(int64_t n, int64_t grain, fy_team_body body, void *context)
{
    if (n < 2 * grain || fy_thread_pool_size() == 1 || pthread_mutex_trylock(&busy) != 0) {
        body(0, n, context);
        return;
    }
    work w = {.body = body, .context = context, .n = n, .part = part_of(n, grain)};
    share(&w);
    pthread_mutex_unlock(&busy);
}
