/* blas.c: a lock around OpenBLAS calls. At exit and before a fork OpenBLAS ends its own threads without checking for
 * callers: a product that another thread is computing then never returns, and neither does the exit or the fork. So
 * every product holds this lock shared; an exit or a fork takes it exclusively and waits for running products. After an
 * exit it stays locked; after a fork it is released, and the child reinitializes its own. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu.h"

/* Writers first: an exit or a fork would otherwise starve. */
#define OPEN PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
static pthread_rwlock_t gate = OPEN;
static _Thread_local int inside; /* nesting depth of this thread: it must not wait for itself */

void fy_blas_begin(void)
{
    if (inside++ == 0) pthread_rwlock_rdlock(&gate);
}

void fy_blas_end(void)
{
    if (--inside == 0) pthread_rwlock_unlock(&gate);
}

/* Called inside a product (from a signal handler) it does not lock. */
static void shut(void)
{
    if (inside++ == 0) pthread_rwlock_wrlock(&gate);
}

/* A write lock records its owner's thread id, which the child's thread no longer has, so the child reinitializes it.
 * TSan tracks the address and must be told that it was released. */
#ifdef __SANITIZE_THREAD__
void AnnotateRWLockReleased(const char *file, int line, const volatile void *lock, long is_write);
#else
#define AnnotateRWLockReleased(...) ((void)0)
#endif

static void opened_in_child(void)
{
    if (--inside > 0) return;
    AnnotateRWLockReleased(__FILE__, __LINE__, &gate, 1);
    gate = (pthread_rwlock_t)OPEN;
}

/* Registered before main: exit handlers of the program then run first and may wait for its threads. And before the
 * locks of lock.h, so that a fork takes this one last: a program that runs out of memory exits with one of those in its
 * hands. */
__attribute__((constructor(101))) static void watch(void)
{
    atexit(shut);
    pthread_atfork(shut, fy_blas_end, opened_in_child);
}
