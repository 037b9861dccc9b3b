/* grad_mode.h: is the thread recording a graph? FY_NO_GRAD switches it off. */
#ifndef FERRY_GRAD_MODE_H
#define FERRY_GRAD_MODE_H

#include "ferry.h"

bool fy_grad_set_enabled(bool on); /* for this thread; returns what it was before */

#endif
