/* tensor_access.h: a tensor's bytes, read or written by a launch or by the host, for the race detector. */
#ifndef FERRY_TENSOR_ACCESS_H
#define FERRY_TENSOR_ACCESS_H

#include "race_detector.h"
#include "run_work.h"
#include "tensor.h"
#include "vector_clock.h"

/* An access of a launch, by an agent (vector_clock.h); bit: of fy_races. What the host does with a storage that no
 * stream has touched is no race. */
void fy_launch_tensor(fy_launch *l, int agent, const fy_tensor *x, bool write, uint8_t bit);
/* A host_read or host_write with that seq. */
void fy_host_touch(fy_site *at, const fy_tensor *x, bool write, uint64_t seq);

#endif
