/* byte_range.h: which bytes of its storage a view touches, and whether two views' bytes meet. */
#ifndef FERRY_BYTE_RANGE_H
#define FERRY_BYTE_RANGE_H

#include "run_work.h"

/* Bytes of a storage: from the first to the last element of a view, holes included, except where holes repeat at an
 * even distance: then `run` bytes at every `step`-th from first on (columns of a matrix). Two reaches that are
 * said to meet may still miss each other, if views of three or more dimensions interleave. */
typedef struct fy_byte_range {
    int64_t first, end;
    int64_t step, run; /* step 0: no holes are known of */
    bool exact;        /* are all these bytes touched? */
} fy_byte_range;

/* Of a view with elements: its shape and strides, where it begins, and the bytes of one element. */
fy_byte_range fy_byte_range_of(const fy_layout *x, int64_t offset, int64_t size);
bool fy_byte_ranges_meet(const fy_byte_range *a, const fy_byte_range *b, int64_t *first, int64_t *bytes);
bool fy_byte_range_covers(const fy_byte_range *a, const fy_byte_range *b); /* is all of b for certain in a? */

#endif
