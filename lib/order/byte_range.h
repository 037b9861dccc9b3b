/* byte_range.h: which bytes of its storage a view touches, and whether two views overlap. */
#ifndef FERRY_BYTE_RANGE_H
#define FERRY_BYTE_RANGE_H

#include "run_work.h"

/* Bytes of a storage, [first, end), from a view's first to its last element. Regular gaps (a column of a matrix) are
 * represented: `run` bytes at first, first + step, ... Other gaps are not, so that two ranges may be reported as
 * overlapping where views of three or more dimensions interleave: conservative. */
typedef struct fy_byte_range {
    int64_t first, end;
    int64_t step, run; /* step 0: no gaps represented */
    bool exact;        /* does the view touch every byte represented here? */
} fy_byte_range;

/* Of a view that is not empty; offset in elements, size in bytes of one element. */
fy_byte_range fy_byte_range_of(const fy_layout *x, int64_t offset, int64_t size);
/* May they overlap? Then *first and *bytes are the range in which they may. */
bool fy_byte_ranges_meet(const fy_byte_range *a, const fy_byte_range *b, int64_t *first, int64_t *bytes);
bool fy_byte_range_covers(const fy_byte_range *a, const fy_byte_range *b); /* does a certainly contain b? */

#endif
