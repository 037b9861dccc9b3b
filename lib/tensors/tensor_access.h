/* tensor_access.h: a tensor's bytes, read or written by a launch or by the host, for the race detector. */
#ifndef FERRY_TENSOR_ACCESS_H
#define FERRY_TENSOR_ACCESS_H

#include "race_detector.h"
#include "run_work.h"
#include "tensor.h"
#include "vector_clock.h"

/* Has a stream touched its storage? What the host does with others is no race, and costs this test. */
static inline bool fy_has_history(const fy_tensor *x)
{
    return __atomic_load_n(&x->storage->history, __ATOMIC_RELAXED);
}
void fy_launch_tensor(fy_launch *l, int agent, const fy_tensor *x, bool write, uint8_t bit);
static inline void fy_launch_read(fy_launch *l, int agent, const fy_tensor *x, uint8_t bit)
{
    if (agent != FY_HOST || fy_has_history(x)) fy_launch_tensor(l, agent, x, false, bit);
}
static inline void fy_launch_write(fy_launch *l, int agent, const fy_tensor *x)
{
    if (agent != FY_HOST || fy_has_history(x)) fy_launch_tensor(l, agent, x, true, FY_RACE_OUT);
}
/* A host_read or host_write with that seq. */
void fy_host_touch(fy_site *at, const fy_tensor *x, bool write, uint64_t seq);

#endif
