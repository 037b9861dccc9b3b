/* value_reduction.h: the elements of a sum, a mean, a largest or a least one, computed again. */
#ifndef FERRY_VALUE_REDUCTION_H
#define FERRY_VALUE_REDUCTION_H

#include "element.h"

/* Is the input's shape without these dimensions (a bit each) the result's, or with sizes of 1 in their place? */
bool value_reduces_to(const array *in, unsigned dims, const array *out);
/* The dimensions whose size is not 1: the others make no difference. */
unsigned value_larger_dims(const array *in);
/* out, whose shape and dtype are set, gets the elements. op: FY_OP_sum, mean, max or min. */
void value_reduce(int op, const array *in, unsigned dims, array *out);

#endif
