/* check.h: the comparison of a step in both worlds, and the invariants after it. */
#ifndef FUZZ_CHECK_H
#define FUZZ_CHECK_H

#include "memory.h"
#include "run.h"

typedef struct tally {
    int64_t programs, completed, steps, failed, compared, skipped;
    char why_skipped[64];
} tally;

extern tally *worker_tally;

/* How far the step's two results may differ. */
tolerance tolerance_of(const step *s, const fy_tensor *out);

void check_handles(const fy_tensor *a, const fy_tensor *b);
/* All of x's elements lie inside its storage. */
void check_inside(const fy_tensor *x);
void check_random(const step *s, const fy_tensor *x);
/* Each handle's and storage's reference count equals the number of slots that refer to it. */
void check_counts(const world *w);
/* The log and the library agree that exactly the slots' tensors and storages are alive. */
void check_ledger(void);

#endif
