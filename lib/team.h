/* team.h: a few threads that share the work on large tensors. */
#ifndef FERRY_TEAM_H
#define FERRY_TEAM_H

#include <stdint.h>

/* Call body for parts [from, to) of 0 .. n, each of `grain` or more, from several threads at once; back when
 * all are done. Small work, and work while the team is busy, is one part in the caller's thread. Part
 * borders are multiples of `grain`, so that results cannot hang on the number of threads unless body
 * sums up across its part. OMP_NUM_THREADS says how many threads, else the machine. */
typedef void (*fy_team_body)(int64_t from, int64_t to, void *context);
void fy_team_run(int64_t n, int64_t grain, fy_team_body body, void *context);
int fy_team_size(void);

#endif
