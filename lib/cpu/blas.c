/* blas.c: the gate before OpenBLAS. At exit and before a fork OpenBLAS ends its own threads, without a look at who
 * still waits for them: a product that another thread is in the midst of then never ends, nor does the exit or the
 * fork. So products go through this gate, and an exit or a fork shuts it and waits for those inside to end. After
 * an exit it stays shut; after a fork it opens again, and the child has one of its own. */
#define _GNU_SOURCE 1
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

#include "cpu.h"

/* Those who come wait for an exit or a fork that waits: it would else wait for ever. */
#define OPEN PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP
static pthread_rwlock_t gate = OPEN;
static _Thread_local int inside; /* a product of this thread, or its exit or fork: it does not wait for itself */

void fy_blas_begin(void)
{
    if (inside++ == 0) pthread_rwlock_rdlock(&gate);
}

void fy_blas_end(void)
{
    if (--inside == 0) pthread_rwlock_unlock(&gate);
}

/* From within a product, that is from a signal handler, it comes as it comes. */
static void shut(void)
{
    if (inside++ == 0) pthread_rwlock_wrlock(&gate);
}

/* A write lock is its thread's, by a number that the child's thread no longer has: it is made anew. TSan, which goes by
 * the address, is told that it was given back. */
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

/* Before main: what the program itself registers for its exit then runs first, and may wait for its threads. */
__attribute__((constructor(102))) static void watch(void)
{
    atexit(shut);
    pthread_atfork(shut, fy_blas_end, opened_in_child);
}
