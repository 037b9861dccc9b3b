/* grad_mode.h: is the thread recording a graph? FY_NO_GRAD switches it off. */
#ifndef FERRY_GRAD_MODE_H
#define FERRY_GRAD_MODE_H

#include "ferry.h"

bool fy_grad_set_enabled(bool on); /* for this thread; returns what it was before */

/* FY_NO_GRAD for the library's own calls, until the block that it is in ends: no region of the program. */
#define FY_WITHOUT_GRAD \
    const bool fy_was_enabled_ __attribute__((cleanup(fy_grad_restore))) = fy_grad_set_enabled(false)
void fy_grad_restore(const bool *was);

#endif
