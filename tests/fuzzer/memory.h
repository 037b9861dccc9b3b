/* memory.h: the content of storages in both worlds. After every step each storage except the written one must be
 * unchanged, and the written one must be equal in both worlds. Where rounding may differ, the card's bytes are then
 * overwritten with the CPU's, so that differences do not accumulate. */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include "storage.h"
#include "tensor.h"

/* Corresponding storages of the two worlds. */
typedef struct storage_pair {
    fy_storage *s[2];
    unsigned char *previous;
} storage_pair;

extern int pair_count;
extern unsigned char *read_buffer[2]; /* the storages' content, from read_pair */

/* Allowed difference of two results. */
typedef struct tolerance {
    double relative, absolute;
    const char *skip; /* why the values are not compared, or NULL */
} tolerance;

extern const double epsilons[];
extern const double max_finite[];

void read_pair(const storage_pair *c);
/* The pair of a's and b's storages; *fresh: it was added. */
storage_pair *find_or_add_pair(const fy_tensor *a, const fy_tensor *b, bool *fresh);
/* A pinned copy of a view with gaps has undefined bytes between its elements: copies the CPU's. */
void fill_holes(storage_pair *c, const fy_tensor *x);
/* Compares what a step wrote, then makes the card's bytes equal to the CPU's. */
void compare_and_align(storage_pair *c, fy_dtype d, const tolerance *allowed);
bool is_close(double x, double y, fy_dtype d, const tolerance *allowed);
/* Around x's elements the storage is as before, in both worlds. For values that are not compared. */
void check_around(const storage_pair *c, const fy_tensor *x);
/* Removes pairs that no slot refers to. */
void drop_unused_pairs(void);
void check_unwritten(const fy_storage *written, const fy_storage *also);

#endif
