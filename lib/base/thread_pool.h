/* thread_pool.h: a few threads that share the work on large tensors. */
#ifndef FERRY_TEAM_H
#define FERRY_TEAM_H

#include <stdint.h>

/* Call body for parts [from, to) of 0 .. n, from several threads at once; back when all are done. A part
 * begins at a multiple of `grain` and ends at one, or at n. Work of less than two grains, and work that
 * comes while the team is busy, is one part in the caller's thread: where parts are cut hangs on the
 * number of threads, so no result may hang on that. */
typedef void (*fy_team_body)(int64_t from, int64_t to, void *context);
void fy_thread_pool_run(int64_t n, int64_t grain, fy_team_body body, void *context);

/* FERRY_THREADS, or as many as the process may use cores. */
int fy_thread_pool_size(void);

#endif
