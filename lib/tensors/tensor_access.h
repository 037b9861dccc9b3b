/* tensor_access.h: tensor accesses by launches and by the host, for the race detector. */
#ifndef FERRY_TENSOR_ACCESS_H
#define FERRY_TENSOR_ACCESS_H

#include "race_detector.h"
#include "run_work.h"
#include "tensor.h"
#include "vector_clock.h"

/* Adds an access by an agent (vector_clock.h) to a launch; bit: of fy_races; item: of the work's list, or 0. */
void fy_launch_tensor(fy_launch *l, int agent, const fy_tensor *x, bool write, uint8_t bit, int item);
/* An access logged as host_read or host_write `seq`. */
void fy_host_access_tensor(fy_site *at, const fy_tensor *x, bool write, uint64_t seq);

#endif
