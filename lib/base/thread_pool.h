/* thread_pool.h: worker threads for operations on large tensors. */
#ifndef FERRY_THREAD_POOL_H
#define FERRY_THREAD_POOL_H

#include <stdint.h>

/* Calls body for chunks [from, to) of 0 .. n, concurrently from several threads; returns when all are done. Chunks
 * start at multiples of `grain`. A job of less than two grains, or one that comes while the pool is busy, is a single
 * chunk in the caller's thread. The chunk size depends on the number of threads, so results must not depend on it. */
typedef void (*fy_thread_pool_body)(int64_t from, int64_t to, void *context);
void fy_thread_pool_run(int64_t n, int64_t grain, fy_thread_pool_body body, void *context);

/* FERRY_THREADS, or the number of cores available to the process. */
int fy_thread_pool_size(void);

#endif
