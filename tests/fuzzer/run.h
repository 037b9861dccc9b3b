/* run.h: executes a step in one world. In the host world every device is the CPU; the card world runs the program as
 * written. Where the card world copies between devices the host world copies as well, so that tensors share memory in
 * both worlds or in none. */
#ifndef FUZZ_RUN_H
#define FUZZ_RUN_H

#include "program.h"

enum { HOST_WORLD, CARD_WORLD };

typedef struct world {
    int which;
    fy_tensor *slot[MAX_SLOTS];
    fy_tensor *dead[MAX_SLOTS]; /* freed by the program: using one must fail */
} world;

extern world worlds[2];
extern bool predicate_results[2];    /* result of the last PREDICATE step, in each world */
extern fy_site sites[MAX_API_CALLS]; /* call sites of the functions, filled by set_sites */

void set_sites(void);
bool is_live(int slot);
/* Is the slot's tensor on the card in the card world? */
bool is_on_card(int slot);
fy_tensor *operand(const world *w, const step *s, int i);
fy_arg argument(const world *w, const step *s, int i);
/* The step's result in this world: a new reference (borrowed if in place), or NULL. */
fy_tensor *execute_step(world *w, const step *s, fy_tensor **second);

#endif
