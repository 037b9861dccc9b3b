/* dataset.h: datasets: a number of items, and how one of them is made. */
#ifndef FERRY_DATASET_H
#define FERRY_DATASET_H

#include "ferry.h"

struct fy_dataset {
    fy_site *at; /* where it was made */
    int64_t len;
    void (*get)(void *self, int64_t index, fy_tensor **item); /* NULL: rows of x */
    void *self;
    fy_tensor *x[FY_MAX_ITEM];
    int n;
    int refs; /* the program's, and one of each loader */
};

/* The tensors of item `index`, made in the thread's innermost scope; at: of the loop. Returns how many; 0 after an
 * error. */
int fy_dataset_item(fy_site *at, const fy_dataset *ds, int64_t index, fy_tensor **item);

#endif
