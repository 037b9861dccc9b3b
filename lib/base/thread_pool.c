/* thread_pool.c: worker threads for operations on large tensors. They are started by the first job that is large
 * enough, sleep between jobs and end with the process; a forked child starts its own. The caller takes part. Chunks
 * are claimed from an atomic counter, so that a slow thread does not delay the others. */
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

enum { MOST_THREADS = 64, CHUNKS_PER_THREAD = 4, STACK_BYTES = 1 << 20 };

typedef struct job {
    fy_thread_pool_body body;
    void *context;
    int64_t n, chunk;
    _Atomic int64_t next; /* start of the next chunk */
} job;

static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER; /* held by the caller whose job is running */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards all below */
static pthread_cond_t started = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static job *current;    /* NULL: none to join */
static uint64_t round_; /* number of jobs so far */
static int workers, active;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int size = 1;

static int available_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0) return CPU_COUNT(&set);
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}

static int requested_size(void)
{
    const char *text = getenv("FERRY_THREADS");
    char *end;
    if (!text || !*text) return available_cores();
    errno = 0;
    long n = strtol(text, &end, 10);
    if (!errno && !*end && n >= 1 && n <= MOST_THREADS) return (int)n;
    fprintf(stderr, "ferry: FERRY_THREADS=%.40s is not a number from 1 to %d; using %d\n", text, MOST_THREADS,
            available_cores());
    return available_cores();
}

/* A forked child has no workers, and no thread that could release a lock. */
static void in_child(void)
{
    pthread_mutex_init(&busy, NULL);
    pthread_mutex_init(&lock, NULL);
    pthread_cond_init(&started, NULL);
    pthread_cond_init(&idle, NULL);
    current = NULL;
    workers = active = 0;
}

static void start(void)
{
    size = requested_size();
    if (size > MOST_THREADS) size = MOST_THREADS;
    pthread_atfork(NULL, NULL, in_child);
}

int fy_thread_pool_size(void)
{
    pthread_once(&once, start);
    return size;
}

static void run_chunks(job *w)
{
    for (;;) {
        int64_t from = atomic_fetch_add_explicit(&w->next, w->chunk, memory_order_relaxed);
        if (from >= w->n) return;
        w->body(from, w->n - from < w->chunk ? w->n : from + w->chunk, w->context);
    }
}

static void *worker(void *unused)
{
    uint64_t seen = 0;
    (void)unused;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (!current || seen == round_) pthread_cond_wait(&started, &lock);
        job *w = current;
        seen = round_;
        active++;
        pthread_mutex_unlock(&lock);
        run_chunks(w);
        pthread_mutex_lock(&lock);
        if (--active == 0) pthread_cond_signal(&idle);
    }
    return NULL;
}

/* Signals are blocked: the program's own threads handle them. Having fewer workers is not an error. */
static void start_workers(int wanted)
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

void fy_thread_pool_run(int64_t n, int64_t grain, fy_thread_pool_body body, void *context)
{
    if (n < 2 * grain || fy_thread_pool_size() == 1 || pthread_mutex_trylock(&busy) != 0) {
        body(0, n, context);
        return;
    }
    int64_t chunks = (int64_t)size * CHUNKS_PER_THREAD, grains = (n + grain - 1) / grain;
    job w = {.body = body, .context = context, .n = n, .chunk = (grains + chunks - 1) / chunks * grain};
    pthread_mutex_lock(&lock);
    start_workers(size - 1);
    current = &w;
    round_++;
    pthread_cond_broadcast(&started);
    pthread_mutex_unlock(&lock);

    run_chunks(&w);
    pthread_mutex_lock(&lock);
    current = NULL;
    while (active > 0) pthread_cond_wait(&idle, &lock);
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&busy);
}
