/* check.h: one step in both worlds, and the laws after it. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include "memory.h"
#include "run.h"

typedef struct tally {
    int64_t programs, completed, steps, failed, compared, skipped;
    char why_skipped[64];
} tally;

extern tally *worker_tally;

/* How far the step's results may lie apart. */
tolerance tolerance_of(const step *s, const fy_tensor *out);

void check_handles(const fy_tensor *a, const fy_tensor *b);
/* Bytes from the first element to the last lie inside the storage. */
void check_inside(const fy_tensor *x);
void check_random(const step *s, const fy_tensor *x);
/* References of each handle, and of each storage, are those of the slots: nobody else holds any. */
void check_counts(const world *w);
/* All that lives are the slots' tensors and storages. */
void check_ledger(void);

#endif
