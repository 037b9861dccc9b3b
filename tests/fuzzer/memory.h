/* memory.h: what lies in the tensors' storages, in both worlds. After every step each storage must hold
 * what it held before, but for the one that the step wrote to; and that one must hold the same in both worlds.
 * Where rounding may differ the card's bytes are then replaced by the CPU's, so that both go on alike. */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include "storage.h"
#include "tensor.h"

/* A storage and its counterpart. */
typedef struct storage_pair {
    fy_storage *s[2];
    unsigned char *previous;
} storage_pair;

extern int pair_count;
extern unsigned char *read_buffer[2]; /* for reading */

/* How far two results may lie apart. */
typedef struct tolerance {
    double relative, absolute;
    const char *skip; /* why the values are not compared; NULL: they are */
} tolerance;

extern const double epsilons[];
extern const double max_finite[];

void read_pair(const storage_pair *c);
/* The cell of two counterparts; a new one when neither is known. */
storage_pair *find_or_add_pair(const fy_tensor *a, const fy_tensor *b, bool *fresh);
/* Between the elements of a pinned copy of a view with holes lies anything: made alike. */
void fill_holes(storage_pair *c, const fy_tensor *x);
/* What a step made or wrote: the same in both worlds, and from here on to the bit. */
void compare_and_align(storage_pair *c, fy_dtype d, const tolerance *allowed);
/* Forget the storages that no slot looks at any more. */
void drop_unused_pairs(void);
void check_unwritten(const fy_storage *written, const fy_storage *also);

#endif
