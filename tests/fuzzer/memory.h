/* memory.h: what lies in the tensors' storages, in both worlds. After every step each storage must hold
 * what it held before, but for the one that the step wrote to; and that one must hold the same in both worlds.
 * Where rounding may differ the card's bytes are then replaced by the CPU's, so that both go on alike. */
#ifndef FUZZ_MEMORY_H
#define FUZZ_MEMORY_H

#include "storage.h"
#include "tensor.h"

/* A storage and its counterpart. */
typedef struct cell {
    fy_storage *s[2];
    unsigned char *was;
} cell;

extern int cell_count;
extern unsigned char *read_into[2]; /* for reading */

/* How far two results may lie apart. */
typedef struct slack {
    double relative, absolute;
    const char *skip; /* why the values are not compared; NULL: they are */
} slack;

extern const double epsilons[];
extern const double largest[];

void read_cell(const cell *c);
/* The cell of two counterparts; a new one when neither is known. */
cell *pair_cells(const fy_tensor *a, const fy_tensor *b, bool *fresh);
/* Between the elements of a pinned copy of a view with holes lies anything: made alike. */
void fill_holes(cell *c, const fy_tensor *x);
/* What a step made or wrote: the same in both worlds, and from here on to the bit. */
void settle(cell *c, fy_dtype d, const slack *free);
/* Forget the storages that no slot looks at any more. */
void sweep_cells(void);
void check_others(const fy_storage *written, const fy_storage *also);

#endif
